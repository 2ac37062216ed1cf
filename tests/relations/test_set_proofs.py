"""Proofs of what was found in a set: boxes are told as they are, all else as a pair by itself tells it."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from eddyline import Query, QuerySet, Stream, equivalent, implies, never_true
from eddyline.model.predicate import conjunction
from eddyline.model.query import NormalQuery
from eddyline.model.regions import Regions
from eddyline.normalize.domain import domain_of
from eddyline.relations.plain_boxes import plain_boxes
from eddyline.relations.set_proofs import _between
from tests.relations.test_sets_of_joins import STREAMS as JOINED
from tests.relations.test_sets_of_joins import TEXTS as JOINS

CONSTANTS = {
    "i": ("-128", "-3", "0", "5", "127"),
    "f": ("float('0.1')", "1.5", "float('3e38')", "0", "-0.0D"),
    "x": ("0.1D", "-2.7D", "1e308D", "5e-324D", "double('Infinity')", "3"),
    "b": ("true", "false"),
    "d": ("DATE'2024-01-01'", "DATE'0001-01-01'"),
    "ts": ("TIMESTAMP'2024-01-01 03:00:00'", "TIMESTAMP'1969-12-31 23:59:59.999999'"),
    "dec": ("1.25", "-0.10", "99999.99"),
    "s": ("'a'", "''"),
}
SCHEMA = pa.schema(
    {
        "i": pa.int8(),
        "f": pa.float32(),
        "x": pa.float64(),
        "b": pa.bool_(),
        "d": pa.date32(),
        "ts": pa.timestamp("us", "UTC"),
        "dec": pa.decimal128(7, 2),
        "s": pa.string(),
    }
)
STREAM = Stream("t", SCHEMA)


def drawn(rng: random.Random) -> str:
    columns = rng.sample(list(CONSTANTS), rng.choice((1, 1, 2)))
    operators = {name: "=" if name in "bs" else rng.choice(("<", "<=", ">", ">=", "=")) for name in columns}
    return " AND ".join(f"{name} {operators[name]} {rng.choice(CONSTANTS[name])}" for name in columns)


@pytest.fixture(scope="module")
def queries() -> QuerySet:
    rng = random.Random(7)
    texts = {f"q{n}": f"SELECT * FROM t WHERE {drawn(rng)}" for n in range(300)}
    texts["wide"] = "SELECT * FROM t WHERE i > 3 OR x < 2"
    texts["part"] = "SELECT * FROM t WHERE i > 5 OR x < 1 AND b"
    texts["never"] = "SELECT * FROM t WHERE i > x AND x > i"
    texts["all"] = "SELECT * FROM t"
    return QuerySet.build(texts, streams=[STREAM])


def test_ranges_are_those_of_the_text(queries: QuerySet) -> None:
    version = queries.standing().ready()
    boxes = plain_boxes(version, STREAM)
    seen = 0
    for box, dense in enumerate(boxes.dense.tolist()):
        normal = version.compiler.compile(Query("q", version.table.query(dense).sql))
        assert isinstance(normal, NormalQuery)
        wanted = {c.subject.name: c.regions for c in conjunction(normal.predicate) or ()}  # type: ignore[attr-defined]
        for at in range(boxes.ranges.firsts[box], boxes.ranges.firsts[box + 1]):
            name = boxes.names[boxes.ranges.columns[at]]
            kind = STREAM.types[name]
            if name == "s":
                continue
            found = _between(kind, int(boxes.ranges.lows[at]), int(boxes.ranges.highs[at]))
            assert same(found, wanted[name], kind), version.table.query(dense).sql
            seen += 1
    assert seen > 250


def same(one: Regions, other: Regions, kind: object) -> bool:
    domain = domain_of(kind)  # type: ignore[arg-type]
    return all(domain.canonical(rest).is_empty for rest in (one & ~other, other & ~one))


def test_every_row_has_its_proof(queries: QuerySet) -> None:
    found = queries.redundancies(proofs=True)
    assert found.table.drop_columns("proof") == queries.redundancies().table
    for row in found.table.to_pylist():
        if {row["query"], row["other"]} & {"wide", "part", "never", "all"}:
            texts = [queries[row[name]].sql for name in ("query", "other") if row[name] is not None]
            ask = {"implied": implies, "equivalent": equivalent, "never true": never_true}[row["relation"]]
            told = str(ask(*texts, streams=[STREAM])).split("\n")[1:]  # type: ignore[operator]
            if "wide" in row.values() or row["query"] == "never":
                assert row["proof"].split("\n") == [line.strip() for line in told]
        assert row["proof"]


def test_joins_have_proofs() -> None:
    found = QuerySet.build(JOINS, streams=JOINED).redundancies(proofs=True).table.to_pylist()
    proofs = {(row["query"], row["other"]): row["proof"] for row in found}
    assert "t.ts - q.ts in [0 seconds, 5 seconds]" in proofs["narrow", "wide"]
    assert proofs["cheap quotes", "all quotes"] == "price in (-inf, 10.0)   lies in   every row"
    assert all(proofs.values())
