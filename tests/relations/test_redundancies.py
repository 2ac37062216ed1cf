"""What a whole set says of redundancy is what each pair says by itself, and what every row says."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Budget, QuerySet, Stream, implies
from eddyline.relations.question import Terms, ask
from eddyline.relations.redundancies import Redundancies
from tests.conftest import some
from tests.relations.tiny import STREAMS, TinyStream

QUERIES = 40
PATIENT = Budget(seconds=10)  # else verdicts depend on how busy the machine is

Pairs = set[tuple[str, str]]


def drawn(tiny: TinyStream, seed: int, size: int) -> QuerySet:
    rng = random.Random(seed)
    texts = [f"SELECT * FROM {tiny.stream.name} WHERE {tiny.condition(rng, size)}" for _ in range(QUERIES)]
    texts += texts[:3]
    return QuerySet.build({f"q{n}": text for n, text in enumerate(texts)}, streams=[tiny.stream])


def by_pairs(tiny: TinyStream, queries: QuerySet) -> tuple[Pairs, Pairs]:
    """Who is proven to imply whom, and who is said not to by every row."""
    sides = {id: tiny.side(queries[id].sql.partition("WHERE ")[2]) for id in queries}
    proven = {
        (one, other)
        for one, other in permutations(sides, 2)
        if ask(tiny.stream, [sides[one]], [sides[other]], Terms(budget=PATIENT)).proof is not None
    }
    truths = {id: tiny.truth(side) for id, side in sides.items()}
    refuted = {(a, b) for a, b in permutations(sides, 2) if np.any(truths[a] & ~truths[b])}
    return proven, refuted


def found(listed: Redundancies, relation: str) -> Pairs:
    rows = listed.table.to_pylist()
    return {(row["query"], row["other"]) for row in rows if row["relation"] == relation}


@pytest.mark.slow
@pytest.mark.parametrize("size", some([0, 2], quick=[2]))
@pytest.mark.parametrize("name", some(["columns", "two tinyints", "texts"], quick=["columns"]))
def test_a_set_says_what_its_pairs_say(name: str, size: int) -> None:
    tiny = STREAMS[name]
    queries = drawn(tiny, 5, size)
    proven, refuted = by_pairs(tiny, queries)
    listed = queries.redundancies(budget=PATIENT)
    never = {row["query"] for row in listed.table.to_pylist() if row["relation"] == "never true"}
    same, implied = found(listed, "equivalent"), found(listed, "implied")
    assert not (same | implied) & refuted
    assert same <= proven and {(b, a) for a, b in same} <= proven
    assert implied <= proven
    leaders = set(queries) - {one for one, _ in same} - never
    expected = {(a, b) for a, b in proven if {a, b} <= leaders and (b, a) not in proven}
    counts = {one: sum(1 for a, _ in expected if a == one) for one in leaders - set(listed.uncompared)}
    for one, count in counts.items():
        kept = {b for a, b in implied if a == one}
        assert kept <= {b for a, b in expected if a == one}
        assert len(kept) == min(count, 3) and listed.more.get(one, 0) == max(count - 3, 0)


@pytest.mark.parametrize("name", some(["columns", "texts"], quick=["columns"]))
def test_one_query_among_all(name: str) -> None:
    tiny = STREAMS[name]
    queries = drawn(tiny, 6, 1)
    proven, _ = by_pairs(tiny, queries)
    for id in list(queries)[:8]:
        listed = queries.relations(id, budget=PATIENT)
        if listed.uncompared or any(row["relation"] == "never true" for row in listed.table.to_pylist()):
            continue
        for other in set(queries) - {id}:
            ways = ((id, other) in proven, (other, id) in proven)
            expected = {(True, True): "equivalent", (True, False): "implied", (False, True): "implies"}.get(
                ways
            )
            told = {row["relation"] for row in listed.table.to_pylist() if row["other"] == other}
            assert told <= {expected}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_in_any_unit(unit: str) -> None:
    """Corners that a column cannot hold exactly would tell of other rows."""
    stream = Stream("s", pa.schema([("at", pa.timestamp(unit)), ("n", pa.uint8())]))
    ends = ["00:00:00", "00:00:00.0005", "00:00:00.001", "00:00:01", "00:00:01.000001"]
    bounds = [f"TIMESTAMP_NTZ'2026-01-01 {end}'" for end in ends]
    texts = {f"{i} {j}": f"at > {bounds[i]} AND at <= {bounds[j]}" for i in range(5) for j in range(i + 1, 5)}
    texts |= {"small": "n < 3", "smaller": "n < 2", "any": "n IS NOT NULL"}
    queries = {id: f"SELECT * FROM s WHERE {text}" for id, text in texts.items()}
    listed = QuerySet.build(queries, streams=[stream]).redundancies(budget=PATIENT)
    pairs = found(listed, "implied") | found(listed, "equivalent")
    assert all(implies(queries[one], queries[other], streams=stream) for one, other in pairs)
    assert ("1 2", "0 2") in pairs or "1 2" in listed.uncompared


def test_streams_are_kept_apart() -> None:
    streams = [Stream(name, pa.schema([("a", pa.int32())])) for name in ("one", "two")]
    queries = {
        "x": "SELECT * FROM one WHERE a < 3",
        "y": "SELECT * FROM two WHERE a < 3",
        "z": "SELECT * FROM two",
    }
    listed = QuerySet.build(queries, streams=streams).redundancies()
    assert listed.table.to_pylist() == [{"query": "y", "relation": "implied", "other": "z"}]
