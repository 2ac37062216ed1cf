"""The public API is one list: sorted, complete, and every name in it exists; pages name nothing that is not public."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import eddyline
from eddyline import errors

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "eddyline"
PUBLIC = ("eddyline", "eddyline.registry", "eddyline.spark", "eddyline.testing.market")
INSIDE = {"experiments.md", "life-of-a-query.md", "papers.md"}  # pages about how it is made
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in INSIDE),
]
IMPORT = re.compile(r"^from (eddyline[\w.]*) import ([\w, ]+)$", re.MULTILINE)
ATTRIBUTE = re.compile(r"\bed\.(\w+)")
CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
NAMED = re.compile(r"`([A-Z]\w*[a-z]\w*)(?=[`(.])")  # in code type, alone or called


@pytest.fixture(params=["eddyline", "eddyline.registry", "eddyline.spark"])
def module(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(request.param)


def imported_names(module: ModuleType) -> set[str]:
    """Public names that the module's import statements bind, apart from features of `__future__` and from typing."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text())
    return {
        alias.asname or alias.name.partition(".")[0]
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Import | ast.ImportFrom)
        and getattr(statement, "module", None) not in ("__future__", "typing")
        for alias in statement.names
        if not (alias.asname or alias.name).startswith("_")
    }


def test_sorted(module: ModuleType) -> None:
    constants_first = sorted(set(module.__all__), key=lambda name: (not name.isupper(), name))
    assert list(module.__all__) == constants_first


def test_complete(module: ModuleType) -> None:
    assert imported_names(module) <= set(module.__all__)


def test_every_name_exists(module: ModuleType) -> None:
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_every_error_is_public_and_can_be_caught() -> None:
    found = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert found <= set(eddyline.__all__)
    named = {name: getattr(eddyline, name) for name in eddyline.__all__ if name.endswith("Error")}
    assert all(issubclass(error, eddyline.EddylineError | AssertionError) for error in named.values())


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


@cache
def classes() -> set[str]:
    """The names of all classes of the package."""
    return {name for path in PACKAGE.rglob("*.py") for name in CLASS.findall(path.read_text())}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_public_things(page: Path) -> None:
    """What a page imports, what it calls `ed.X`, and every class of ours that it speaks of can be had by its reader."""
    text = page.read_text()
    public = {name for module in PUBLIC for name in getattr(importlib.import_module(module), "__all__", ())}
    assert {module for module, _ in IMPORT.findall(text)} <= set(PUBLIC)
    assert {name for name in ATTRIBUTE.findall(text) if not hasattr(eddyline, name)} == set()
    assert (set(NAMED.findall(text)) & classes()) - public == set()
