"""Imports go downwards and third parties stay behind their fences; pyproject.toml holds the contracts."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "eddyline"
FENCED = {"sqlglot", "numba", "pyspark", "sqlalchemy"}


def lint_imports(source: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter with our contracts on the package below `source`."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    return subprocess.run(
        [*command, "--no-cache", "--no-logo", "--config", str(ROOT / "pyproject.toml")],
        env={**os.environ, "PYTHONPATH": str(source), "COLUMNS": "200"},
        cwd=source,
        capture_output=True,
        text=True,
    )


def test_contracts_are_kept() -> None:
    run = lint_imports(ROOT / "src")
    assert run.returncode == 0, run.stdout + run.stderr


OFFENDERS = (
    ("model/offender.py", "import eddyline.sql", "eddyline.model is not allowed to import eddyline.sql"),
    (
        "sql/offender.py",
        "import eddyline.normalize",
        "eddyline.sql is not allowed to import eddyline.normalize",
    ),
    ("normalize/offender.py", "import sqlglot.expressions", "eddyline.normalize.offender -> sqlglot"),
    ("order/offender.py", "def f(): import numba", "eddyline.order.offender -> numba"),
    ("runtime/offender.py", "import pyspark.sql", "eddyline.runtime.offender -> pyspark"),
    ("cli/offender.py", "import sqlalchemy", "eddyline.cli.offender -> sqlalchemy"),
    ("service/offender.py", "import typer", "eddyline.service.offender -> typer"),
    (
        "reference/offender.py",
        "import eddyline.functions",
        "eddyline.reference.offender -> eddyline.functions",
    ),
    (
        "runtime/spark/sinks/offender.py",
        "import eddyline.runtime.spark.pipeline.batch.run",
        "eddyline.runtime.spark.sinks is not allowed to import eddyline.runtime.spark.pipeline",
    ),
    ("offender.py", "", "- eddyline.offender"),
)


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is said about a copy of the package in which every contract is broken."""
    folder = tmp_path_factory.mktemp("offending")
    copy = folder / "eddyline"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for file, text, _ in OFFENDERS:
        (copy / file).write_text(text)
    run = lint_imports(folder)
    assert run.returncode == 1, run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize(("file", "complaint"), [(file, complaint) for file, _, complaint in OFFENDERS])
def test_contracts_notice(complaints: str, file: str, complaint: str) -> None:
    """Each contract fails for a file that breaks it: a contract that cannot fail guards nothing."""
    assert complaint in complaints, file


def dynamic_imports(tree: ast.AST) -> set[str]:
    """Names given as plain text to `import_module`, `__import__` or `find_spec`, which import-linter does not see."""
    loaders = {"import_module", "__import__", "find_spec"}
    return {
        argument.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", ""))
        in loaders
        for argument in call.args[:1]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_no_way_around_the_fences(path: Path) -> None:
    """Nothing of ours and nothing fenced is imported by a name in a string."""
    roots = {name.partition(".")[0] for name in dynamic_imports(ast.parse(path.read_text()))}
    assert not roots & (FENCED | {"eddyline", ""})


def test_dynamic_imports_are_seen() -> None:
    code = "import importlib\nimportlib.import_module('sqlglot.tokens')\n__import__('numba')\nfind_spec(x)\n"
    assert dynamic_imports(ast.parse(code)) == {"sqlglot.tokens", "numba"}
