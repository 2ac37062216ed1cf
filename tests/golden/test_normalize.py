"""Normal forms: golden files of a WHERE and its normal form, both evaluated over the same rows.

A case is the WHERE and the normal form; see `golden_cases.py`.
"""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline.model.catalog import Stream
from eddyline.model.query import BoundQuery, Query
from eddyline.normalize import RULES, explain, normalize, without
from eddyline.sql import bind
from tests.golden.golden_cases import cases, check_golden
from tests.property.normal_forms import COLUMNS, check_agreement, check_shape, telling_rows

FOLDER = Path(__file__).parent / "normalize"
FILES = sorted(path.name for path in FOLDER.glob("*.txt"))
STREAM = Stream(
    "t",
    pa.schema(
        [
            ("flag", pa.bool_()),
            ("tiny", pa.int8()),
            ("small", pa.int16()),
            ("a", pa.int32()),
            ("b", pa.int32()),
            ("big", pa.int64()),
            ("real", pa.float32()),
            ("x", pa.float64()),
            ("price", pa.decimal128(5, 2)),
            ("amount", pa.decimal128(20, 4)),
            ("huge", pa.decimal128(38, 10)),
            ("name", pa.string()),
            ("raw", pa.binary()),
            ("day", pa.date32()),
            ("at", pa.timestamp("us", "UTC")),
            ("wall", pa.timestamp("us")),
            ("span", pa.duration("us")),
        ]
    ),
)


def bound(where: str) -> BoundQuery:
    return bind(Query("q", f"SELECT * FROM t WHERE {where}"), [STREAM])


def normal_form(where: str) -> str:
    return explain(normalize(bound(where)))


CASES = [(file, where) for file in FILES for where in cases(FOLDER / file)]


@pytest.mark.parametrize("file", FILES)
def test_golden(file: str, rewrite_golden: bool) -> None:
    check_golden(FOLDER / file, normal_form, rewrite=rewrite_golden)


@pytest.mark.parametrize(("file", "where"), CASES)
def test_both_halves_agree(file: str, where: str) -> None:
    query = bound(where)
    source = random.Random(where)
    normal = normalize(query)
    check_shape(normal.predicate)
    rows = list(telling_rows(query.predicate, normal.predicate, source, 300, STREAM.types))
    check_agreement(query, normal, iter(rows))
    rule = Path(file).stem
    if rule in [rule.__name__ for rule in RULES]:
        check_agreement(query, normalize(query, rules=without(rule)), iter(rows))


def test_there_is_a_file_for_every_rule() -> None:
    assert {rule.__name__ for rule in RULES} <= {Path(file).stem for file in FILES}


def test_the_columns_are_those_of_the_property_tests() -> None:
    assert {name: STREAM.types[name] for name in COLUMNS} == COLUMNS
