"""Joins of whose tuples no column is kept: for some batches, or until another join is added."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Engine, Stream

SCHEMA = pa.schema({"user": pa.string(), "v": pa.int64(), "ts": pa.int64()})
STREAMS = [Stream(name, SCHEMA, event_time="ts", lateness=100) for name in ("logins", "transfers")]
BY_USER = "SELECT t.v FROM logins l JOIN transfers t ON l.user = t.user AND t.ts BETWEEN l.ts AND l.ts + 50"


def rows(*values: tuple[str, int, int]) -> pa.RecordBatch:
    named = [dict(zip(SCHEMA.names, row, strict=True)) for row in values]
    return pa.RecordBatch.from_pylist(named, schema=SCHEMA)


@pytest.fixture
def engine() -> Engine:
    made = Engine(streams=STREAMS)
    made.add("q", BY_USER)
    return made


def test_long_keys_are_kept_and_short_ones_need_not_be(engine: Engine) -> None:
    users = ["alexandra", "bob"] * 9
    for ts, user in enumerate(users):
        engine.push("logins", rows((user, 1, ts)))
    found = engine.push("transfers", rows(("bob", 9, 20), ("alexandra", 8, 20)))
    assert found.of("q")["v"].to_pylist() == [9] * 9 + [8] * 9 and not found.errors


def test_the_first_tuples_have_no_columns(engine: Engine) -> None:
    engine.push("logins", rows(("bob", 1, 0)))
    engine.push("logins", rows(("alexandra", 1, 0)))
    found = engine.push("transfers", rows(("bob", 9, 1)))
    assert found.of("q").to_pylist() == [{"v": 9}] and not found.errors


def test_a_later_join_reads_what_the_first_did_not(engine: Engine) -> None:
    engine.push("logins", rows(("bob", 1, 0)))
    engine.add("more", BY_USER.replace("t.v", "l.v, t.ts"))
    engine.push("logins", rows(("bob", 2, 1)))
    found = engine.push("transfers", rows(("bob", 9, 2)))
    assert found.of("q")["v"].to_pylist() == [9, 9]
    assert found.of("more").to_pylist() == [{"v": 2, "ts": 2}]


def test_why_of_a_tuple_without_columns(engine: Engine) -> None:
    engine.push("logins", rows(("alexandra", 1, 0)))
    engine.push("logins", rows(("bob", 1, 0)))
    assert "is 51, 1 outside" in str(engine.why("q", "transfers", {"user": "bob", "v": 1, "ts": 51}))


@pytest.mark.parametrize("to", [-(2**63) - 1, -(10**30), 10**30])
def test_advancing_beyond_64_bits(to: int) -> None:
    engine = Engine(streams=STREAMS)
    engine.add("q", BY_USER)
    engine.advance("logins", to)
    left_out = engine.push("logins", rows(("bob", 1, 0))).ledger.left_out
    assert left_out == ({"late": 1} if to > 0 else {})
