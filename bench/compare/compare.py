"""Both trees take turns on every line, in processes of their own; ratios of turns that stand side by side count.

    start 1     OLD process ──turn──       ──turn── ...      each pair of turns gives one ratio
                NEW process        ──turn──       ──turn──
    start 2     two new processes ...                        a process is quick or slow as a whole: memory falls as it falls

A line's ratio is the median over its starts of the median over its turns, above 1 where NEW is quicker. A line below the
bar is started again, as often as before, and all its starts count: chance gets no second vote of its own.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from bench.compare.lines import LINES, spark_lines

ROOT: Final = Path(__file__).parents[2]
MEAN: Final = 0.98  # the geometric mean of all lines may not be lower
LEAST: Final = 0.90  # nor any single line
STARTS: Final = 3
TURNS: Final = 9
FEWEST: Final = 3
PATIENCE: Final = 20.0  # seconds of turns in one start, beyond the fewest
AGAIN: Final = 2  # how often a line below the bar is started again


class CompareError(Exception):
    """Something that keeps two trees from being compared."""


@dataclass
class Outcome:
    """What one line gave, start by start."""

    name: str
    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    equal: bool = True
    skipped: str | None = None

    @property
    def ratio(self) -> float:
        """How many times as quick the new tree is."""
        return statistics.median(self.ratios)

    def as_json(self) -> dict[str, Any]:
        """The line as it is written."""
        if self.skipped is not None:
            return {"line": self.name, "skipped": self.skipped}
        sides = {"old": statistics.median(self.old), "new": statistics.median(self.new)}
        return {"line": self.name, **sides, "ratio": self.ratio, "starts": self.ratios, "equal": self.equal}


def names(*, embedded: bool, spark: bool) -> list[str]:
    """All lines, of one runtime or both."""
    return [*(LINES if embedded else ()), *((name for name, _ in spark_lines()) if spark else ())]


def compare(old: str, new: str, chosen: Sequence[str], console: Console, results: Path) -> int:
    """Measure, print and write; 1 if the new tree is slower than it may be or finds something else."""
    with ExitStack() as stack:
        trees = [stack.enter_context(_tree(place)) for place in (old, new)]
        outcomes = [Outcome(name) for name in chosen]
        for outcome in outcomes:
            _measure(outcome, trees)
            console.print(_told(outcome), style="dim", highlight=False)
        for _ in range(AGAIN):
            for outcome in _below(outcomes):
                _measure(outcome, trees)
                console.print(f"again: {_told(outcome)}", style="dim", highlight=False)
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text(json.dumps([outcome.as_json() for outcome in outcomes], indent=2) + "\n")
    return _show(outcomes, console)


def _below(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [o for o in outcomes if o.skipped is None and o.ratio < LEAST]


@contextmanager
def _tree(place: str) -> Iterator[Path]:
    """A folder with the project, or a revision of it, checked out for as long as it is needed."""
    folder = Path(place)
    if (folder / "src" / "eddyline").is_dir():
        yield folder.resolve()
        return
    if not _git("rev-parse", "--verify", "--quiet", f"{place}^{{commit}}"):
        raise CompareError(f'"{place}" is neither a folder with the project nor a revision of it')
    with tempfile.TemporaryDirectory(prefix="eddyline-compare-") as scratch:
        checkout = Path(scratch) / "tree"
        _git("worktree", "add", "--quiet", "--detach", str(checkout), place)
        try:
            yield checkout
        finally:
            _git("worktree", "remove", "--force", str(checkout))


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.strip()


def _measure(outcome: Outcome, trees: Sequence[Path]) -> None:
    for _ in range(STARTS):
        with ExitStack() as stack:
            sides = [stack.enter_context(_Side(tree, outcome.name)) for tree in trees]
            for side in sides:
                outcome.skipped = side.skipped or outcome.skipped
            if outcome.skipped is not None:
                return
            _take_turns(outcome, sides)


def _take_turns(outcome: Outcome, sides: Sequence[_Side]) -> None:
    ratios, values = [], ([], [])
    start = time.perf_counter()
    for turn in range(TURNS):
        if turn >= FEWEST and time.perf_counter() - start > PATIENCE:
            break
        order = [0, 1]
        random.Random(turn).shuffle(order)  # neither always comes after the other
        found = {}
        for place in order:
            found[place] = sides[place].turn()
            values[place].append(found[place]["value"])
        ratios.append(found[0]["value"] / found[1]["value"])
        outcome.equal &= found[0]["found"] == found[1]["found"]
    outcome.ratios.append(statistics.median(ratios))
    outcome.old.append(statistics.median(values[0]))
    outcome.new.append(statistics.median(values[1]))


class _Side:
    """A worker process of one tree; it waits while it is not its turn."""

    def __init__(self, tree: Path, line: str) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(ROOT)])}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.compare.worker", line],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        self._name = f'line "{line}" of {tree}'
        ready = self._answer()
        self.skipped: str | None = ready.get("skipped")
        source = ready.get("source", "")
        if self.skipped is None and not source.startswith(str(tree)):
            raise CompareError(f"{self._name} would measure {source}")

    def turn(self) -> dict[str, Any]:
        """Measure once."""
        assert self._process.stdin is not None, "its input is a pipe"
        self._process.stdin.write("turn\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None, "its output is a pipe"
        line = self._process.stdout.readline()
        if not line:
            raise CompareError(f"{self._name} broke:\n{self._process.communicate()[1][-3_000:]}")
        return dict(json.loads(line))

    def __enter__(self) -> _Side:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.communicate()  # closes its input, at which it ends


def _told(outcome: Outcome) -> str:
    if outcome.skipped is not None:
        return f"{outcome.name}: skipped, {outcome.skipped}"
    return f"{outcome.name}: {outcome.ratio:.3f} ({', '.join(f'{ratio:.2f}' for ratio in outcome.ratios)})"


def _show(outcomes: Sequence[Outcome], console: Console) -> int:
    """The table and the verdict."""
    measured = [outcome for outcome in outcomes if outcome.skipped is None]
    table = Table("line", "old", "new", "times as quick", "same results")
    for outcome in measured:
        old, new = (f"{1_000 * statistics.median(side):,.3f} ms" for side in (outcome.old, outcome.new))
        style = "red" if outcome.ratio < LEAST or not outcome.equal else None
        table.add_row(
            outcome.name, old, new, f"{outcome.ratio:.3f}", "yes" if outcome.equal else "NO", style=style
        )
    console.print(table)
    if not measured:
        return 1
    mean = statistics.geometric_mean([outcome.ratio for outcome in measured])
    slow = len(_below(measured))
    console.print(f"geometric mean {mean:.3f} (bar {MEAN}); {slow} of {len(measured)} lines below {LEAST}")
    return 0 if mean >= MEAN and not slow and all(outcome.equal for outcome in measured) else 1
