"""Goes on for as long as one likes with fresh seeds; shrinks what it finds and prints it as a regression test.

    python -m tests.fuzz --seconds 600 --judge spark

Exit code 0: nothing found; 1: findings.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import pyarrow as pa

from eddyline import reference
from eddyline.testing.plain import PLAIN
from eddyline.testing.rows import EVERYTHING
from eddyline.testing.shrink import shrink
from eddyline.testing.text import statement_text
from eddyline.testing.tree import Statement, walk
from tests.differential.finding import Finding
from tests.fuzz.judges import JUDGES, Judge

BLOCK = 200
ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata")


def main() -> int:
    """Search until the time is up or enough was found."""
    options = _options()
    seed = time.time_ns() // 1_000_000 if options.seed is None else options.seed
    judges = JUDGES[options.judge]()
    end = time.monotonic() + options.seconds
    statements, found = 0, 0
    for block in range(sys.maxsize):
        if time.monotonic() >= end or found >= options.most:
            break
        for judge in judges:
            for text in _search(judge, seed + block * BLOCK, ZONES[block % len(ZONES)], options.most - found):
                found += 1
                _say(text)
        statements += BLOCK * len(judges)
    _say(f"{statements} statements from seed {seed}, judged by {options.judge}: {found} findings")
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--seed", type=int, help="first seed (else the clock); the same seed gives the same search"
    )
    parser.add_argument("--judge", choices=sorted(JUDGES), default="spark")
    parser.add_argument("--most", type=int, default=10, help="stop after so many findings")
    return parser.parse_args()


def _search(judge: Judge, seed: int, zone: str, most: int) -> Iterator[str]:
    rows = judge.rows(seed)
    findings = judge.check([judge.statement(s) for s in range(seed, seed + BLOCK)], rows, zone)
    for finding in sorted(findings, key=lambda f: f.statement.size)[:most]:
        yield _smallest(judge, finding, rows, zone)


def _smallest(judge: Judge, finding: Finding, rows: pa.RecordBatch, zone: str) -> str:
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


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
