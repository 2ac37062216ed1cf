"""Whole sets of queries against the reference: sets of any size, under drawn configurations, in batches of drawn sizes.

What the other judges see statement by statement is seen here together: constants of several queries share the structures
of a subject, so that one query can make another one wrong. A check that takes too long is a finding, as is a crash.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from eddyline import reference
from eddyline.testing.query_sets import DrawnSet, draw_set
from eddyline.testing.rows import EVERYTHING
from eddyline.testing.shrink import shrink
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement, walk
from tests.conformance.matrix import CONFIGURATIONS
from tests.differential.configured import judge_configured
from tests.fuzz.bounded import Bounded
from tests.fuzz.judge import Searched

SETS = 20  # per search
SIZES = (1, 64, 65, 512, 513)
SECONDS = 10  # of one check, some ten times what the slowest takes
PATIENCE = 60  # the same before a hang is believed: kernels may have to be compiled
TRIES = 120  # to make a finding smaller
FEW = 6  # statements that are worth being made smaller one by one


@dataclass(frozen=True)
class Case:
    """A set, and how it is matched."""

    drawn: DrawnSet
    zone: str
    configurations: tuple[str, ...]
    size: int


def drawn_case(seed: int, zone: str) -> Case:
    """The case of a seed: always the default configuration, and another one."""
    random_ = random.Random(seed)
    other = random_.choice([name for name in CONFIGURATIONS if name != "auto"])
    return Case(draw_set(random_), zone, ("auto", other), random_.choice(SIZES))


def judged(case: Case) -> tuple[int, str]:
    """How many queries were compared, and what is wrong with the first that differs."""
    report = judge_configured(
        case.drawn.statements,
        case.drawn.rows,
        case.zone,
        configurations=case.configurations,
        size=case.size,
    )
    return report.judged, "\n".join(str(finding) for finding in report.findings[:1])


class SetJudge:
    """Draws sets and compares them with the reference, each check in bounded time."""

    def __init__(self) -> None:
        self._bounded = Bounded(judged, partial(judged, drawn_case(0, "UTC")))

    def search(self, seed: int, zone: str, most: int) -> Searched:
        """The sets of some seeds, and the findings among them as small as they get."""
        compared, findings = 0, []
        for each in range(seed, seed + SETS):
            if len(findings) == most:
                break
            case = drawn_case(each, zone)
            count, wrong = self._outcome(case)
            compared += count
            if wrong.startswith("hang"):
                _, wrong = self._outcome(case, seconds=PATIENCE)
            if wrong:
                findings.append(f"# seed {each}\n" + self._smallest(case, _kind(wrong)))
        return Searched(compared, findings)

    def _outcome(self, case: Case, *, seconds: int = SECONDS) -> tuple[int, str]:
        try:
            compared, wrong = self._bounded.call(case, seconds=seconds)
        except TimeoutError as error:
            return len(case.drawn.statements), f"hang: {error}"
        except EOFError:
            return len(case.drawn.statements), "crash: the process has ended"
        except RuntimeError as error:
            return len(case.drawn.statements), f"crash: {error}"
        return compared, f"wrong: {wrong}" if wrong else ""

    def _smallest(self, case: Case, kind: str) -> str:
        """The finding with as few queries, rows and words as it takes to stay one of its kind."""
        budget = iter(range(TRIES if kind != "hang" else TRIES // 4))  # a hang takes its time again and again
        wrong = ""

        def fails(candidate: Case) -> bool:
            nonlocal wrong
            if next(budget, None) is None:
                return False
            outcome = self._outcome(candidate)[1]
            wrong = outcome if _kind(outcome) == kind else wrong
            return _kind(outcome) == kind

        for name in case.configurations:
            alone = replace(case, configurations=(name,))
            if fails(alone):
                case = alone
                break
        case = _with(case, _fewer(case.drawn.statements, lambda some: fails(_with(case, some))))
        for place in range(len(case.drawn.statements)) if len(case.drawn.statements) <= FEW else ():
            case = _smaller_at(case, place, fails)
        return _as_test(case, wrong)


def _kind(wrong: str) -> str:
    return wrong.split(":")[0] if not wrong.startswith("crash") else ":".join(wrong.split(":")[:2])


def _with(case: Case, statements: tuple[Statement, ...]) -> Case:
    return replace(case, drawn=DrawnSet(statements, case.drawn.rows))


def _fewer(
    statements: tuple[Statement, ...], fails: Callable[[tuple[Statement, ...]], bool]
) -> tuple[Statement, ...]:
    """Leave out halves, then quarters, then smaller parts, for as long as what remains fails."""
    part = len(statements) // 2
    while part:
        for first in range(0, len(statements), part):
            rest = statements[:first] + statements[first + part :]
            if rest and fails(rest):
                statements = rest
                break
        else:
            part //= 2
        part = min(part, len(statements) // 2)
    return statements


def _smaller_at(case: Case, place: int, fails: Callable[[Case], bool]) -> Case:
    def changed(statement: Statement, rows: pa.RecordBatch) -> Case:
        before, after = case.drawn.statements[:place], case.drawn.statements[place + 1 :]
        return replace(case, drawn=DrawnSet((*before, statement, *after), rows))

    found = shrink(case.drawn.statements[place], case.drawn.rows, lambda one, rows: fails(changed(one, rows)))
    return changed(*found)


def _as_test(case: Case, wrong: str) -> str:
    """The set and its rows as a test in tests/conformance would have them."""
    lines = [f"# {line}" for line in wrong.splitlines()]
    lines += [f"# {', '.join(case.configurations)}; batches of {case.size}; {case.zone}"]
    lines += [f"queries = {[statement_text(one) for one in case.drawn.statements]!r}"]
    lines += [f"rows = rows_of({', '.join(map(repr, _used_values(case.drawn)))})", ""]
    return "\n".join(lines)


def _used_values(drawn: DrawnSet) -> Iterator[dict[str, object]]:
    nodes = (node for one in drawn.statements for root in one.roots for node in walk(root))
    used = {node.word for node in nodes if node.form == "column"}
    for row in reference.rows(drawn.rows, EVERYTHING):
        yield {name: value for name, value in row.items() if name in used and value is not None}
