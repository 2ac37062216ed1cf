"""SQLite's logic tests: every query gives the rows that SQLite gives."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import product

import pyarrow as pa
import pytest

from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from tests.comparisons import compared
from tests.differential import data
from tests.differential.matchers import MATCHERS

FILES = (
    "commute-100-0",
    "commute-1000-0",
    "in-100-0",
    "orderby_nosort-1000-0",
    "random-10-0",
    "random-100-0",
)
QUICK = ("random-10-0",)  # what the reference answers in make test, too
TYPES = {"INTEGER": pa.int64(), "FLOAT": pa.float64(), "TEXT": pa.string()}


def asked() -> list[object]:
    return [
        pytest.param(name, matcher, marks=() if matcher != "reference" or name in QUICK else pytest.mark.long)
        for name, matcher in product(FILES, MATCHERS)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "matcher"), asked())
def test_rows(name: str, matcher: str) -> None:
    head, *cases = data.lines(data.folder("sqlite-logic") / f"{name}.jsonl.gz")
    stream, batch = table(head["table"], head["columns"], head["rows"])
    keys = batch.column("pk").to_pylist()
    queries = [Query(str(i), case["sql"]) for i, case in enumerate(cases)]
    compared(f"SQLite: {matcher}", len(queries))
    matches = MATCHERS[matcher](queries, batch, stream)
    wrong = []
    for i, case in enumerate(cases):
        rows = matches.rows(str(i))
        if len(rows) != case["rows"]:
            wrong.append(f"{case['sql']}: {len(rows)} rows instead of {case['rows']}")
        elif case["md5"] is not None and digest([keys[row] for row in rows]) != case["md5"]:
            wrong.append(f"{case['sql']}: other rows")
    assert not wrong, f"{len(wrong)} of {len(cases)} differ, such as\n" + "\n".join(
        sorted(wrong, key=len)[:10]
    )


def table(
    name: str, columns: Sequence[Sequence[str]], rows: Sequence[Sequence[object]]
) -> tuple[Stream, pa.RecordBatch]:
    schema = pa.schema([(column, TYPES[kind]) for column, kind in columns])
    arrays = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
    return Stream(name, schema), pa.RecordBatch.from_arrays(arrays, schema=schema)


def digest(keys: Sequence[int]) -> str:
    """MD5 over the keys as text, sorted as text, each with a newline."""
    return hashlib.md5("".join(f"{key}\n" for key in sorted(map(str, keys))).encode()).hexdigest()
