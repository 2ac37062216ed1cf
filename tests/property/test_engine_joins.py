"""Joins of an engine against the reference: random joins, steps and changes, in batches of any size."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import eddyline as ed
from eddyline import reference
from eddyline.reference.join import Change, JoinedPair, Push
from tests.comparisons import compared
from tests.conftest import blocks
from tests.join_scripts import Step, by_query, configuration, run_engine

HOUR = 3_600_000_000
SCHEMA = pa.schema(
    [
        ("n", pa.int64()),
        ("k", pa.int32()),
        ("s", pa.string()),
        ("x", pa.float64()),
        ("ts", pa.timestamp("us", "UTC")),
    ]
)
QUOTES = ed.Stream("quotes", SCHEMA, event_time="ts", lateness="10 seconds")
TRADES = ed.Stream("trades", SCHEMA, event_time="ts", lateness="3 seconds")


def _side(rng: random.Random, alias: str) -> str:
    return rng.choice(
        [
            f"{alias}.x < {rng.randint(0, 10)}",
            f"{alias}.x BETWEEN {rng.randint(0, 5)} AND {rng.randint(4, 10)}",
            f"{alias}.k = {rng.randint(0, 3)}",
            f"{alias}.s = '{rng.choice('abc')}'",
            f"({alias}.x > {rng.randint(3, 8)} OR {alias}.s IS NULL)",
            f"NOT {alias}.x < {rng.randint(2, 8)}",
        ]
    )


def _join(rng: random.Random) -> str:
    first, second = rng.choice([("quotes a", "trades b"), ("trades a", "quotes b"), ("quotes a", "quotes b")])
    key = rng.choice(
        ["a.k = b.k", "a.k = b.k", "a.s = b.s", "a.s <=> b.s", "a.k = b.k AND a.s = b.s", "a.k + 1 = b.k"]
    )
    low, high = sorted([rng.randint(-8, 8), rng.randint(-8, 8)])
    window = f"b.ts >= a.ts + INTERVAL {low} SECONDS AND b.ts <= a.ts + INTERVAL {high} SECONDS"
    if rng.random() < 0.3:
        window = (
            f"b.ts > a.ts - INTERVAL {abs(low)} SECONDS AND b.ts < a.ts + INTERVAL {abs(high) + 1} SECONDS"
        )
    parts = [key, window]
    parts += [_side(rng, "a") for _ in range(rng.randint(0, 2))]
    parts += [_side(rng, "b") for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.3:
        parts.append(
            rng.choice(
                ["b.x > a.x", f"b.x > a.x * 1.{rng.randint(0, 9)}", f"a.x + b.x < {rng.randint(3, 15)}"]
            )
        )
    if rng.random() < 0.2:
        parts.append(f"({_side(rng, 'a')} OR {_side(rng, 'b')})")
    return f"SELECT a.n AS first, b.n AS second FROM {first} JOIN {second} ON {' AND '.join(parts)}"


class _Rows:
    """Rows of both streams whose event times go up, with some disorder."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.now, self.count = rng, HOUR, Counter[str]()

    def batch(self, stream: ed.Stream, rows: int) -> pa.RecordBatch:
        found = []
        for _ in range(rows):
            self.now += self.rng.randint(0, 600_000)
            time: int | None = self.now - self.rng.choice([0, 0, 1_000_000, 5_000_000, 20_000_000])
            if self.rng.random() < 0.03:
                time = self.rng.choice([None, self.now + 48 * HOUR])
            found.append(
                {
                    "n": self.count[stream.name],
                    "k": self.rng.choice([0, 1, 2, 3, None]),
                    "s": self.rng.choice(["a", "b", "a longer text", "another long text", None]),
                    "x": self.rng.choice([0.0, 1.5, 3.0, 7.0, 9.5, float("nan"), None]),
                    "ts": time,
                }
            )
            self.count[stream.name] += 1
        columns = {name: [row[name] for row in found] for name in SCHEMA.names}
        return pa.record_batch([pa.array(columns[f.name], f.type) for f in SCHEMA], schema=SCHEMA)


def _script(rng: random.Random, steps: int, rows: int) -> tuple[dict[str, str], list[Step]]:
    joins = {f"j{i}": _join(rng) for i in range(rng.randint(1, 6))}
    standing, made, source = set(joins), len(joins), _Rows(rng)
    script: list[Step] = []
    for _ in range(steps):
        if rng.random() < 0.3:
            remove = [id for id in sorted(standing) if rng.random() < 0.2]
            rest = sorted(standing - set(remove))
            replace = {id: _join(rng) for id in rest if rng.random() < 0.1}
            add = {f"j{made + i}": _join(rng) for i in range(rng.randint(0, 2))}
            made += len(add)
            standing = (standing - set(remove)) | set(add)
            script.append(Change(add, remove, replace))
        else:
            stream = rng.choice([QUOTES, TRADES])
            script.append(Push(stream.name, source.batch(stream, rng.randint(0, rows)), clock=source.now))
    return joins, script


@pytest.mark.parametrize("seed", blocks(40, quick=range(8)))
def test_engine_finds_what_the_reference_finds(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    for number in range(6):
        joins, script = _script(rng, 10, 30)
        expected = reference.join(joins, script, streams=[QUOTES, TRADES])
        options = configuration(seed + number, str(tmp_path / str(number)))
        found = run_engine(joins, script, streams=[QUOTES, TRADES], **options)
        for step, (theirs, ours) in enumerate(zip(expected.steps, found.steps, strict=True)):
            assert ours == by_query(theirs), (seed, options, step, joins)
            compared("reference: joins of engines", len(joins))


@pytest.mark.parametrize("seed", blocks(40, quick=range(4)))
def test_sets_join_whole_tables(seed: int, tmp_path: Path) -> None:
    rng = random.Random(1_000 + seed)
    joins = {f"j{i}": _join(rng) for i in range(12)}
    source = _Rows(rng)
    steps = [(s.name, source.batch(s, rng.randint(0, 60))) for s in (QUOTES, TRADES)]
    expected = Counter(reference.join(joins, steps, streams=[QUOTES, TRADES], complete=True).pairs)
    tables = {name: _shuffled(rng, batch) for name, batch in steps}
    built = ed.QuerySet.build(joins, streams=[QUOTES, TRADES])
    assert _found(built, tables) == expected
    compared("reference: joins of tables", len(joins))
    built.save(tmp_path / "set")
    loaded = ed.QuerySet.load(tmp_path / "set")
    assert list(loaded) == list(joins)
    assert _found(loaded, tables) == expected
    gone = [id for id in joins if rng.random() < 0.3]
    left = Counter({pair: count for pair, count in expected.items() if pair.query not in gone})
    for one in (built, loaded):
        fewer = one.remove(gone)
        assert _found(fewer, tables) == left
        again = fewer.add({id: joins[id] for id in gone})
        assert _found(again, tables) == expected
        again.save(tmp_path / f"again {one is built}")
        assert _found(ed.QuerySet.load(tmp_path / f"again {one is built}"), tables) == expected


def _shuffled(rng: random.Random, batch: pa.RecordBatch) -> pa.Table:
    order = list(range(batch.num_rows))
    rng.shuffle(order)
    return pa.Table.from_batches([batch]).take(pa.array(order, pa.int64()))


def _found(queries: ed.QuerySet, tables: dict[str, pa.Table]) -> Counter[JoinedPair]:
    """The pairs that a set finds, by the numbers that rows carry."""
    matches, found = queries.join(tables), Counter[JoinedPair]()
    for id in queries:
        names = re.match(r".* FROM (\w+) a JOIN (\w+) b ", queries[id].sql)
        assert names is not None, queries[id].sql
        numbers = [
            tables[name].column("n").take(pa.array(rows)).to_pylist()
            for name, rows in zip(names.groups(), matches.rows(id), strict=True)
        ]
        found.update(JoinedPair(id, *pair) for pair in zip(*numbers, strict=True))
    assert len(matches) == found.total() == sum(matches.counts().values()) == matches.pairs().num_rows
    return found
