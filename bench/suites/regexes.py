"""`regexes`: each regular expression by itself against DuckDB, on one core; the slowest and the median beside it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator

import duckdb
import pyarrow as pa
from rich.console import Console

from bench.measure import Setting, once
from bench.record import Record
from bench.workloads.regexes import Case, common, for_duckdb, lines, sigma_cases
from eddyline import QuerySet, Stream
from eddyline.testing.literals import quoted

ROWS = 50_000
ROUNDS = 7


def run(setting: Setting) -> Iterator[Record]:
    """Two lines for the common patterns, two for those of the Sigma rules."""
    rows = setting.rows(ROWS)
    texts = lines(rows)
    yield from _lines("regexes", [Case(pattern, texts) for pattern in common()])
    yield from _lines("regexes-sigma", sigma_cases(rows))


def _lines(name: str, cases: Iterable[Case]) -> Iterator[Record]:
    found = [(case.pattern, len(case.texts), *_compared(case)) for case in cases]
    if not found:
        Console().print(f"{name} is skipped: its data is not here (set EDDYLINE_TEST_DATA)")
        return
    found.sort(key=lambda one: one[3] / one[2])
    equal = all(one[4] for one in found)
    slower = sum(theirs < mine for _, _, mine, theirs, _ in found)
    text = f"{name}: {slower} of {len(found)} slower than DuckDB; the slowest is {found[0][0]!r}"
    Console().print(text, markup=False, highlight=False)
    for metric, (_, rows, mine, theirs, _) in (("slowest", found[0]), ("median", found[len(found) // 2])):
        yield Record.rates(name, len(found), rows, metric, rows / mine, "duckdb", rows / theirs, equal)


def _compared(case: Case) -> tuple[float, float, bool]:
    """Seconds of ours and of theirs, in turns, and whether both find the same number of texts."""
    batch = pa.record_batch({"text": case.texts})
    text = f"SELECT * FROM texts WHERE text RLIKE {quoted(case.pattern)}"
    queries = QuerySet.build({"q": text}, streams=[Stream("texts", batch.schema)])
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("incoming", pa.table(batch))
        connection.execute("CREATE TABLE texts AS SELECT * FROM incoming")
        pattern = for_duckdb(case.pattern).replace("'", "''")
        statement = f"SELECT count(*) FROM texts WHERE regexp_matches(text, '{pattern}')"
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(once(lambda: queries.match(batch)))
            theirs.append(once(lambda: connection.execute(statement).fetchone()))
        count = connection.execute(statement).fetchone()[0]
    return statistics.median(ours), statistics.median(theirs), queries.match(batch).counts()["q"] == count
