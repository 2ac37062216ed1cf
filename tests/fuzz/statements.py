"""Random statements one by one: each is asked about for itself, and made small where somebody disagrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from eddyline import reference
from eddyline.testing.plain import PLAIN
from eddyline.testing.rows import EVERYTHING
from eddyline.testing.shrink import shrink
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement, walk
from tests.differential.finding import Finding
from tests.fuzz.judge import Searched

BLOCK = 200
Check = Callable[[Sequence[Statement], pa.RecordBatch, str], list[Finding]]


@dataclass(frozen=True)
class StatementJudge:
    """One judgement; `check` takes statements, rows and a time zone."""

    name: str
    statement: Callable[[int], Statement]
    rows: Callable[[int], pa.RecordBatch]
    check: Check

    def search(self, seed: int, zone: str, most: int) -> Searched:
        """A block of statements over the same rows."""
        return Searched(BLOCK, list(_search(self, seed, zone, most)))


def _search(judge: StatementJudge, seed: int, zone: str, most: int) -> Iterator[str]:
    rows = judge.rows(seed)
    findings = judge.check([judge.statement(s) for s in range(seed, seed + BLOCK)], rows, zone)
    for finding in sorted(findings, key=lambda f: f.statement.size)[:most]:
        yield _smallest(judge, finding, rows, zone)


def _smallest(judge: StatementJudge, finding: Finding, rows: pa.RecordBatch, zone: str) -> str:
    """The finding, made as small as it gets without becoming one of another kind."""

    def repeated(statement: Statement, batch: pa.RecordBatch) -> Finding | None:
        again = judge.check([statement], batch, zone)
        return again[0] if again and _kind(again[0]) == _kind(finding) else None

    start = rows if finding.row is None else rows.slice(finding.row, 1)
    statement, batch = shrink(finding.statement, start, lambda s, b: repeated(s, b) is not None)
    return _as_case(repeated(statement, batch) or finding, batch, zone)


def _kind(finding: Finding) -> tuple[str, object]:
    """What must stay the same while shrinking: a refusal stays a refusal of the same side, a crash that crash."""
    crash = (
        finding.actual.split(":")[0] if isinstance(finding.actual, str) and finding.row is not None else None
    )
    return finding.judgement, finding.expected if finding.row is None else crash


def _as_case(finding: Finding, batch: pa.RecordBatch, zone: str) -> str:
    """A line for tests/differential/test_regressions.py, with the difference above it."""
    statement = finding.statement
    used = {node.word for root in statement.roots for node in walk(root) if node.form == "column"}
    stream = PLAIN if statement.stream == "plain" else EVERYTHING
    row = next(iter(reference.rows(batch, stream)))
    values = {name: value for name, value in row.items() if name in used and value is not None}
    pieces = [repr(statement_text(statement)), repr(finding.expected)]
    pieces += [repr(values)] if values else []
    pieces += [f'time_zone="{zone}"'] if zone != "UTC" else []
    return f"# {finding.judgement}: here {finding.actual!r} {finding.detail}\nCase({', '.join(pieces)}),\n"
