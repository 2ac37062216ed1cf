"""What `why` says of joins is what joins do: of two rows, of a row that is about to be pushed, of a row of a table."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import Compiler, Engine, Query, QuerySet, Stream
from eddyline.config import JoinSettings
from eddyline.runtime.embedded.joins.pair_verdicts import PairVerdicts
from eddyline.runtime.embedded.sources import FileRows
from eddyline.standing.one_pair import RowOfJoin

pytestmark = pytest.mark.slow
START = datetime(2026, 1, 31, 12, tzinfo=UTC)
SCHEMA = pa.schema(
    [
        ("symbol", pa.string()),
        ("venue", pa.string()),
        ("price", pa.float64()),
        ("ts", pa.timestamp("us", "UTC")),
    ]
)
STREAMS = [Stream(name, SCHEMA, "ts", "4 seconds") for name in ("quotes", "trades")]
SOON = "t.ts BETWEEN q.ts - INTERVAL 1 SECOND AND q.ts + INTERVAL 3 SECONDS"
BEFORE = "a.ts - INTERVAL 2 SECONDS <= b.ts AND b.ts <= a.ts"
TEXTS = {
    "plain": f"SELECT q.symbol FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE {SOON}",
    "sides": f"SELECT 1 AS n FROM quotes q, trades t WHERE q.symbol = t.symbol AND {SOON} AND q.price < 3 AND t.price > 1",
    "free side": f"SELECT t.* FROM trades t JOIN quotes q USING (symbol) WHERE {SOON} AND t.price >= 2",
    "residual": f"SELECT q.ts FROM quotes q, trades t WHERE q.symbol = t.symbol AND {SOON} AND t.price > q.price",
    "two keys": f"SELECT 1 AS n FROM quotes q JOIN trades t USING (symbol, venue) WHERE {SOON} AND q.price > 0",
    "safe key": f"SELECT 1 AS n FROM quotes q, trades t WHERE q.symbol <=> t.symbol AND {SOON} AND t.price < 3",
    "long key": f"SELECT 1 AS n FROM quotes q, trades t WHERE concat(q.symbol, '-as-long') = concat(t.symbol, '-as-long') AND {SOON}",
    "branches": f"""SELECT 1 AS n FROM quotes q, trades t WHERE {SOON} AND q.symbol = t.symbol
        AND (q.price < 2 OR t.price < 2 OR (q.venue = t.venue AND q.price > 3))""",
    "self": f"SELECT 1 AS n FROM quotes a, quotes b WHERE a.symbol = b.symbol AND {BEFORE} AND a.price <= b.price",
    "self, sides": f"SELECT 1 AS n FROM quotes a, quotes b WHERE a.symbol = b.symbol AND {BEFORE} AND a.price < 3",
    "never": f"SELECT 1 AS n FROM quotes q, trades t WHERE q.symbol = t.symbol AND {SOON} AND q.price < 1 AND q.price > 2",
}


def draw_row(source: random.Random, second: float) -> dict[str, Any]:
    """A row near some second; any value may be NULL."""
    row = {
        "symbol": source.choice(["A", "B", None]),
        "venue": source.choice(["X", "Y"]),
        "price": source.choice([0.0, 1.0, 2.0, 3.0, 4.0, None]),
        "ts": START + timedelta(seconds=second + source.uniform(-6, 2)),
    }
    return row if source.random() < 0.95 else {**row, "ts": None}


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32))
def test_a_row_completes_the_pairs_that_are_foretold(seed: int) -> None:
    source = random.Random(seed)
    coming = list(TEXTS.items())
    source.shuffle(coming)
    with TemporaryDirectory() as folder:
        joins = JoinSettings(max_bytes=source.choice([1, 2_000, 1_000_000]), folder=folder)
        with Engine(streams=STREAMS, clock=lambda: START + timedelta(seconds=30), joins=joins) as engine:
            for step in range(40):
                if coming and source.random() < 0.4:
                    engine.add(*coming.pop())
                elif len(engine) and source.random() < 0.1:
                    leaving = source.choice(list(engine))
                    engine.remove(leaving)
                    coming.append((leaving, TEXTS[leaving]))
                stream, row = source.choice(["quotes", "trades"]), draw_row(source, step / 2)
                asked = [id for id in engine if stream == "quotes" or not id.startswith("self")]
                foretold = {id: engine.why(id, stream, row).pairs for id in asked}
                deliveries = engine.push(stream, pa.RecordBatch.from_pylist([row], schema=SCHEMA))
                assert foretold == {id: deliveries.of(id).num_rows for id in asked}, row


@pytest.mark.parametrize("seed", range(2))
def test_two_rows_match_if_the_join_finds_them(seed: int) -> None:
    source = random.Random(seed)
    queries = QuerySet.build(TEXTS, streams=STREAMS)
    rows = {name: [draw_row(source, 3) for _ in range(12)] for name in ("quotes", "trades")}
    tables = {name: pa.Table.from_pylist(several, SCHEMA) for name, several in rows.items()}
    found = queries.join(tables)
    for id in TEXTS:
        first, second = ("a", "quotes"), ("b", "quotes")
        if not id.startswith("self"):
            first, second = ("q", "quotes"), ("t", "trades")
        pairs = set(zip(*(numbers.tolist() for numbers in found.rows(id)), strict=True))
        for i, one in enumerate(rows[first[1]]):
            for j, other in enumerate(rows[second[1]]):
                why = queries.why(id, {first[0]: one, second[0]: other})
                place = (j, i) if id == "free side" else (i, j)
                assert why.matched == (place in pairs), f"{id}\n{why}"


@pytest.mark.parametrize("seed", range(2))
def test_a_row_of_a_table_is_in_the_pairs_that_the_join_finds(seed: int) -> None:
    source = random.Random(seed)
    queries = QuerySet.build(TEXTS, streams=STREAMS)
    rows = {name: [draw_row(source, 3) for _ in range(12)] for name in ("quotes", "trades")}
    batches = {name: pa.RecordBatch.from_pylist(several, SCHEMA) for name, several in rows.items()}
    found = queries.join(batches)
    streams = {stream.name: stream for stream in STREAMS}
    for id, text in TEXTS.items():
        join = Compiler(STREAMS).compile(Query(id, text))
        numbers = [several.tolist() for several in found.rows(id)]
        pairs = list(zip(*numbers, strict=True))
        for name in dict.fromkeys(each.stream for each in join.sources):
            sides = [side for side, each in enumerate(join.sources) if each.stream == name]
            partner = join.sources[1 - sides[0]].stream
            for number in range(12):
                row = RowOfJoin.of(join, streams, streams[name], batches[name].slice(number, 1))
                expected = sum(any(pair[side] == number for side in sides) for pair in pairs)
                assert row.left_out is None or expected == 0
                if row.left_out is None:
                    verdicts = PairVerdicts(row, "the table")
                    for first in range(0, 12, 5):
                        own = number - first if name == partner and 0 <= number - first < 5 else None
                        verdicts.judge(FileRows(batches[partner].slice(first, 5), "", first), own)
                    assert verdicts.why().pairs == expected, f"{id}, row {number}\n{verdicts.why()}"
