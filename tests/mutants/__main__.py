"""Applies every mutant to a copy of the tree and runs its tests: `make mutants`, or one by `--only "open end"`.

First the tests are run on the copy as it is: a test that fails anyway notices nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "bench", "tools", "docs", "pyproject.toml", "README.md")
PASSED, FAILED = 0, 1  # what pytest exits with; anything else says that tests did not run
LONGEST = 900  # seconds of one mutant's tests


def place_of(mutant: Mutant, source: Path) -> Path:
    """The one file that has the mutant's text; a `LookupError` where it stands nowhere, or more than once."""
    found = [path for path in source.rglob("*.py") for _ in range(path.read_text().count(mutant.old))]
    if len(found) != 1:
        raise LookupError(
            f'mutant "{mutant.name}" stands {len(found)} times in {source.name}: aim it anew\n  {mutant.old}'
        )
    return found[0]


def mutated(mutant: Mutant, path: Path) -> str:
    """The file's text with the mistake in it."""
    return path.read_text().replace(mutant.old, mutant.new)


def run_tests(tree: Path, tests: Sequence[str], cache: Path | None) -> int:
    """Run tests of a tree against its own package until one fails."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not fuzz and not long",
    ]
    try:
        done = subprocess.run(
            [*command, *tests],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        _say(f"the tests were stopped after {LONGEST} s")
        return -1
    if done.returncode not in (PASSED, FAILED):
        _say(done.stdout[-3000:] + done.stderr[-1000:])
    return done.returncode


def judged(mutant: Mutant, tree: Path, scratch: Path) -> str:
    """What becomes of a mutant; the tree is as before afterwards."""
    path = place_of(mutant, tree / "src")
    before = path.read_text()
    path.write_text(mutated(mutant, path))
    # compiled kernels of a mutant are of no use to anybody else
    cache = scratch / "cache" if "kernels" in path.parts else None
    try:
        code = run_tests(tree, mutant.killed_by, cache)
    finally:
        path.write_text(before)
    return {PASSED: "SURVIVED", FAILED: "killed"}.get(code, "NOT JUDGED: its tests do not run")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="one mutant by its name; may be repeated"
    )
    chosen = parser.parse_args(arguments).only
    mutants = [mutant for mutant in MUTANTS if chosen is None or mutant.name in chosen]
    if not mutants:
        parser.error("there is no such mutant; the names are " + ", ".join(mutant.name for mutant in MUTANTS))
    with tempfile.TemporaryDirectory(prefix="eddyline-mutants-") as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, tree / name)
        tests = dict.fromkeys(test for mutant in mutants for test in mutant.killed_by)
        if run_tests(tree, list(tests), None) != PASSED:
            _say("the tests do not pass on the tree as it is")
            return 1
        results = {}
        for mutant in mutants:
            begin = time.monotonic()
            results[mutant.name] = judged(mutant, tree, Path(folder))
            place = place_of(mutant, tree / "src").relative_to(tree / "src" / "eddyline")
            _say(f"{results[mutant.name]:10} {mutant.name:26} {place}  {time.monotonic() - begin:.0f} s")
    killed = sum(result == "killed" for result in results.values())
    _say(f"{killed} of {len(results)} mutants killed")
    return 0 if killed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
