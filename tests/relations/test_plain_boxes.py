"""Boxes that are read out of compiled segments are the queries' own, for every type, at every end, in every kind of index."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import IndexSettings, Query, QuerySet, Stream
from eddyline.index.keyed.ordinals import GREATEST, LEAST
from eddyline.model.expression import Column
from eddyline.model.predicate import conjunction
from eddyline.model.query import NormalQuery
from eddyline.model.regions import Regions
from eddyline.normalize.domain import Numbered, domain_of
from eddyline.reference.match import satisfies
from eddyline.relations.pair import side
from eddyline.relations.plain_boxes import PlainBoxes, plain_boxes
from eddyline.standing.version import Version

STREAM = Stream(
    "s",
    pa.schema(
        [
            ("tiny", pa.int8()),
            ("u", pa.uint16()),
            ("big", pa.int64()),
            ("f", pa.float32()),
            ("x", pa.float64()),
            ("money", pa.decimal128(7, 2)),
            ("huge", pa.decimal128(30, 2)),
            ("flag", pa.bool_()),
            ("day", pa.date32()),
            ("at", pa.timestamp("s")),
            ("zoned", pa.timestamp("ns", "UTC")),
            ("name", pa.string()),
            ("kind", pa.dictionary(pa.int32(), pa.string())),
            ("raw", pa.binary()),
        ]
    ),
)
CONSTANTS = {
    "tiny": ["-128", "-127", "0", "5", "6", "127"],
    "u": ["0", "1", "500", "65535", "70000"],
    "big": ["-9223372036854775807", "-1", "3", "9223372036854775806", "9223372036854775807"],
    "f": [
        "CAST(0.1 AS FLOAT)",
        "CAST('-Infinity' AS FLOAT)",
        "1.5F",
        "CAST('NaN' AS FLOAT)",
        "CAST(3.4028234E38 AS FLOAT)",
    ],
    "x": ["-0.0D", "0.1D", "1E308D", "CAST('Infinity' AS DOUBLE)", "CAST('NaN' AS DOUBLE)", "5E-324D"],
    "money": ["-99999.99", "0.00", "0.01", "12.5", "99999.99"],
    "huge": ["-1.25", "0.00", "9999999999999999999999999999.99"],
    "flag": ["TRUE", "FALSE"],
    "day": ["DATE'2026-01-01'", "DATE'2026-01-02'", "DATE'0001-01-01'"],
    "at": ["TIMESTAMP_NTZ'2026-01-01 00:00:00'", "TIMESTAMP_NTZ'2026-01-01 00:00:00.000001'"],
    "zoned": ["TIMESTAMP'2026-01-01 00:00:00'", "TIMESTAMP'9999-01-01 00:00:00'"],
    "name": ["''", "'a'", "'ab'", "'ä'"],
    "kind": ["'x'", "'y'"],
    "raw": ["X''", "X'00FF'"],
}
SETTINGS = {
    "auto": IndexSettings(),
    "keyed": IndexSettings(executor="keyed"),
    "sliced": IndexSettings(executor="sliced"),
    "direct": IndexSettings(executor="sliced", direct="always"),
    "masks": IndexSettings(executor="sliced", direct="never"),
    "rowwise": IndexSettings(executor="rowwise"),
    "segments": IndexSettings(segment_size=7),
}


def atom(rng: random.Random) -> str:
    column = rng.choice(list(CONSTANTS))
    constants = CONSTANTS[column]
    form = rng.random()
    if form < 0.1:
        return f"{column} IS NOT NULL"
    if form < 0.3 and len(constants) > 1:
        return f"{column} BETWEEN {' AND '.join(rng.sample(constants, 2))}"
    if form < 0.35:
        return f"{column} IN ({', '.join(rng.sample(constants, 2))})"
    return f"{column} {rng.choice(['<', '<=', '>', '>=', '=', '=', '<>'])} {rng.choice(constants)}"


def drawn(seed: int, count: int, settings: IndexSettings) -> QuerySet:
    rng = random.Random(seed)
    texts = [" AND ".join(atom(rng) for _ in range(rng.choice((1, 1, 2, 3)))) for _ in range(count)]
    texts[3] = "TRUE"
    queries = {f"q{n}": f"SELECT * FROM s WHERE {text}" for n, text in enumerate(texts)}
    return QuerySet.build(queries, streams=[STREAM], settings=settings)


def found_boxes(queries: QuerySet) -> tuple[Version, PlainBoxes]:
    version = queries._version.ready()
    return version, plain_boxes(version, STREAM)


def ends_with(value: int, kind: Any, regions: Regions, step: int) -> bool:
    """Whether an ordinal is the last of a set in one direction."""
    domain = domain_of(kind)
    assert isinstance(domain, Numbered)
    if value == (LEAST if step < 0 else GREATEST):
        edge = domain.low if step < 0 else domain.high
        return domain.value(edge) in regions and (step < 0 or regions.nan == domain.nan)
    if not domain.low <= value <= domain.high:  # NaN alone, or up to infinity without it
        return regions.nan if step > 0 else float("nan") in regions
    beyond = value + step
    is_last = not domain.low <= beyond <= domain.high or domain.value(beyond) not in regions
    return domain.value(value) in regions and is_last


@pytest.mark.parametrize("name", SETTINGS)
def test_boxes_are_those_of_the_queries(name: str) -> None:
    queries = drawn(1, 400, SETTINGS[name])
    version, boxes = found_boxes(queries)
    assert sorted(set(boxes.dense.tolist())) == boxes.dense.tolist()
    plain = 0
    for number, dense in enumerate(boxes.dense.tolist()):
        normal = version.compiler.compile(version.table.query(dense))
        assert isinstance(normal, NormalQuery)
        conditions = conjunction(normal.predicate)
        assert conditions is not None
        by_column = {c.subject.name: c for c in conditions if isinstance(c.subject, Column)}
        assert len(by_column) == len(conditions)
        first, last = boxes.ranges.firsts[number : number + 2]
        columns = [boxes.names[column] for column in boxes.ranges.columns[first:last]]
        assert sorted(columns) == sorted(by_column)
        for at, column in enumerate(columns, first):
            regions, kind = by_column[column].regions, by_column[column].subject.type
            low, high = int(boxes.ranges.lows[at]), int(boxes.ranges.highs[at])
            assert not regions.null
            code = boxes.ranges.columns[at]
            if code in boxes.texts:
                assert low == high and regions == Regions.points([boxes.texts[code][low]])
            elif column not in ("f", "x"):  # floats are judged by rows: theirs are ordinals of doubles
                assert ends_with(low, kind, regions, -1) and ends_with(high, kind, regions, 1)
        plain += 1
    assert plain > 100 or name == "rowwise"


@pytest.mark.parametrize("name", ["auto", "keyed", "sliced"])
def test_a_row_of_every_box_satisfies_its_query(name: str) -> None:
    queries = drawn(2, 300, SETTINGS[name])
    version, boxes = found_boxes(queries)
    starts, numbers = version.match(boxes.corners(0, len(boxes.dense)), "s").lists()
    for number, dense in enumerate(boxes.dense.tolist()):
        assert dense in numbers[starts[number] : starts[number + 1]]


def test_all_kinds_of_indexes_say_the_same() -> None:
    """Whatever is a box in one is the same box in another, or is compared as a tree."""
    listed = {name: drawn(3, 150, settings).redundancies() for name, settings in SETTINGS.items()}
    tables = {name: found.table.to_pylist() for name, found in listed.items()}
    assert len(tables["auto"]) > 20
    for name, table in tables.items():
        pairs = {(row["query"], row["relation"], row["other"]) for row in table}
        assert pairs == {(row["query"], row["relation"], row["other"]) for row in tables["auto"]}, name
        assert listed[name].more == listed["auto"].more


def test_one_more_box_is_encoded_as_those_of_the_set() -> None:
    queries = drawn(4, 300, IndexSettings())
    version, boxes = found_boxes(queries)
    for number, dense in enumerate(boxes.dense.tolist()):
        normal = version.compiler.compile(version.table.query(dense))
        assert isinstance(normal, NormalQuery)
        alone = boxes.alone(normal.predicate)
        assert alone is not None
        first, last = boxes.ranges.firsts[number : number + 2]
        assert alone.ranges.columns.tolist() == boxes.ranges.columns[first:last].tolist()
        same = [boxes.names[column] not in ("f", "x") for column in alone.ranges.columns]
        for own, others in ((alone.ranges.lows, boxes.ranges.lows), (alone.ranges.highs, boxes.ranges.highs)):
            assert own[same].tolist() == others[first:last][same].tolist()


def test_removed_queries_and_several_segments() -> None:
    queries = drawn(5, 60, IndexSettings(segment_size=8))
    rng = random.Random(5)
    gone = rng.sample(list(queries), 25)
    queries = queries.remove(gone)
    queries = queries.add(
        {f"again {id}": f"SELECT * FROM s WHERE tiny < {n}" for n, id in enumerate(gone[:9])}
    )
    listed = queries.redundancies()
    assert not set(gone) & set(listed.table["query"].to_pylist())
    fresh = QuerySet.build({id: queries[id].sql for id in queries}, streams=[STREAM]).redundancies()
    assert listed.table.to_pylist() == fresh.table.to_pylist()


def test_many_nested_boxes_are_counted() -> None:
    """More pairs than are kept in memory: boxes are compared twice, with the same outcome."""
    queries = QuerySet.build(
        {f"q{n}": f"SELECT * FROM s WHERE big < {n} AND u >= {n % 50}" for n in range(400)}, streams=[STREAM]
    )
    once = queries.redundancies()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("eddyline.relations.redundancies.KEPT_PAIRS", 100)
        patched.setattr("eddyline.relations.covers.FIRST_ROWS", 64)
        twice = queries.redundancies()
    assert once.table.equals(twice.table) and once.more == twice.more
    covers = {n: [m for m in range(400) if m > n and m % 50 <= n % 50] for n in range(400)}
    assert once.more == {f"q{n}": len(found) - 3 for n, found in covers.items() if len(found) > 3}


def test_an_interrupted_search_gives_what_it_has() -> None:
    queries = QuerySet.build(
        {f"q{n}": f"SELECT * FROM s WHERE big < {n} OR name = 'a'" for n in range(300)}, streams=[STREAM]
    )

    def interrupt(_: str, done: int, __: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    listed = queries.redundancies(progress=interrupt)
    assert not listed.complete and 0 < len(listed) < len(queries.redundancies())
    assert {row["relation"] for row in listed.table.to_pylist()} == {"implied"}


def test_a_query_that_is_not_in_the_set() -> None:
    queries = drawn(6, 200, IndexSettings())
    version = queries._version.ready()
    everything = {id: side(version.compiler, Query(id, queries[id].sql)) for id in queries}
    for id in list(queries)[:15]:
        sql = queries[id].sql
        among = queries.relations(id).table.to_pylist()
        beside = queries.relations(Query("new", sql)).table.to_pylist()
        told = {(row["relation"], row["other"]) for row in beside}
        if {relation for relation, _ in told} == {"never true"}:
            continue
        assert told == {(row["relation"], row["other"]) for row in among} | {("equivalent", id)}
        for row in boxes_rows(version, everything[id].normal):
            assert all(
                satisfies(everything[other].bound, row)
                for relation, other in told
                if relation in ("implied", "equivalent")
            )


def boxes_rows(version: Version, normal: NormalQuery) -> list[dict[str, Any]]:
    alone = plain_boxes(version, STREAM).alone(normal.predicate)
    if alone is None:
        return []
    corner = alone.corners(0, 1)
    named = {alone.names[column] for column in alone.ranges.columns}
    if named - {
        "tiny",
        "u",
        "big",
        "x",
        "name",
        "kind",
        "flag",
    }:  # the others have other values in the evaluator
        return []
    return [{name: corner[name][0].as_py() if name in named else None for name in STREAM.types}]


def test_what_only_a_class_of_floats_can_hold() -> None:
    """Ends of 32-bit floats are those of doubles, and the row still lies inside."""
    stream = Stream("s", pa.schema([("f", pa.float32())]))
    texts = {"above": "f > 0.1D", "upto": "f <= CAST(0.1 AS FLOAT)", "between": "f > 1.0D AND f < 1.0000002D"}
    queries = QuerySet.build({id: f"SELECT * FROM s WHERE {t}" for id, t in texts.items()}, streams=[stream])
    version = queries._version.ready()
    boxes = plain_boxes(version, stream)
    values = boxes.corners(0, len(boxes.dense))["f"].to_numpy()
    assert values.dtype == np.float32
    starts, numbers = version.match(boxes.corners(0, len(boxes.dense)), "s").lists()
    for number, dense in enumerate(boxes.dense.tolist()):
        assert dense in numbers[starts[number] : starts[number + 1]]
