"""Versions of a standing set against a dictionary: whatever is changed, compiled, merged and moved, and whichever version
it grows out of, each version keeps its own queries, with what goes with them, and matches what they match."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import Stream
from eddyline.compile import Compiler
from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.model.query import Query
from eddyline.standing.merging.building import Building, Culprits, members_of
from eddyline.standing.merging.gate import Gate
from eddyline.standing.rows.columns import Attributes, Columns
from eddyline.standing.rows.table import Table
from eddyline.standing.version import Newcomer, Version

TICKS = Stream("ticks", pa.schema({"a": pa.int64(), "b": pa.int64()}))
OTHER = Stream("other", pa.schema({"a": pa.int64()}))
VALUES = list(range(12))
BATCHES = {
    "ticks": pa.record_batch({"a": VALUES, "b": [0, 3] * 6}),
    "other": pa.record_batch({"a": VALUES[:5]}),
}
LEAST = range(9)
IDS = [f"q{i}" for i in range(9)]
GATED = Building(DEFAULT_INDEX, Gate())


@dataclass(frozen=True)
class Known:
    """A query as the model has it: it wants `a` to be more than `least`; some may fail, where b is 0."""

    stream: str
    least: int
    may_fail: bool
    attributes: Attributes

    @property
    def sql(self) -> str:
        divided = " AND (a * 100) % b >= 0" if self.may_fail else ""
        return f"SELECT {'b' if self.may_fail else 'a'} FROM {self.stream} WHERE a > {self.least}{divided}"

    @property
    def rows(self) -> int:
        batch = BATCHES[self.stream]
        rows = batch.to_pylist()
        return sum(row["a"] > self.least and (not self.may_fail or row["b"] != 0) for row in rows)


queries = st.builds(
    Known,
    st.just("ticks"),
    st.sampled_from(LEAST),
    st.booleans(),
    st.builds(
        Attributes,
        st.none(),
        st.integers(1, 3),
        st.booleans(),
        st.sampled_from([None, "here", "there"]),
    ),
) | st.builds(Known, st.just("other"), st.sampled_from(LEAST), st.just(False), st.just(Attributes()))
which = st.integers(0, 50)  # the version that a step is about, counted from the newest; mostly the newest
about = st.just(0) | which
steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("change"),
            about,
            st.dictionaries(st.sampled_from(IDS), queries, max_size=4),
            st.sets(st.sampled_from(IDS), max_size=4),
        ),
        st.tuples(st.sampled_from(["ready", "ready gated", "merge", "compact"]), about),
    ),
    min_size=3,
    max_size=25,
)


@dataclass(frozen=True)
class Held:
    """A version and what it should have; numbers are the model's own as long as no branch was left."""

    version: Version
    queries: dict[str, Known] = field(default_factory=dict)

    def check(self) -> None:
        version, table = self.version, self.version.table
        version.check()
        assert {query.id: query.sql for _, query in table.queries()} == {
            id: known.sql for id, known in self.queries.items()
        }
        assert len(table) == len(self.queries) and len(set(self.numbers.values())) == len(self.queries)
        for id, known in self.queries.items():
            found = table.columns.attributes(table.dense(id))
            assert replace(found, number=None) == known.attributes
            stream, outputs = table.columns.selection(table.dense(id))
            assert (stream.name, [o.name for o in outputs]) == (
                known.stream,
                ["b" if known.may_fail else "a"],
            )
        failing = any(known.may_fail for known in self.queries.values())
        assert len(version.fallible("ticks")) == failing and not version.fallible("other")
        for stream, batch in BATCHES.items():
            counts = version.ready().match(batch, stream).counts()
            expected = {id: k.rows if k.stream == stream else 0 for id, k in self.queries.items()}
            assert counts == expected

    @property
    def numbers(self) -> dict[str, int]:
        table = self.version.table
        return {query.id: int(table.columns["number"][dense]) for dense, query in table.queries()}

    def changed(self, wanted: dict[str, Known], unwanted: set[str]) -> Held:
        version = self.version.latest
        gone = [id for id in self.queries if id in wanted or id in unwanted]
        coming = [
            Newcomer(Query(id, known.sql), version.compiler.compile(Query(id, known.sql)), known.attributes)
            for id, known in wanted.items()
        ]
        after = version.change([version.table.dense(id) for id in gone], coming)
        left = {id: known for id, known in self.queries.items() if id not in gone}
        kept = Held(after, {**left, **wanted})
        assert {id: kept.numbers[id] for id in left} == {id: self.numbers[id] for id in left}
        return kept

    def merged(self) -> Held:
        """All segments of a stream in one, made of this version and put into the one after it."""
        version = self.version.ready()
        later = version.change([version.table.dense(id) for id in list(self.queries)[:1]], ()).ready()
        chosen = [placed for placed in version.segments if placed.segment.stream == "ticks"]
        members = [m for placed in chosen for m in members_of(placed, version.table, version.compiler)]
        after = later.replaced(chosen, GATED.segments("ticks", members, chosen, Culprits()), version.epoch)
        assert after is not None and version.replaced(chosen, [], version.epoch + 1) is None
        return Held(after, dict(list(self.queries.items())[1:]))

    def compacted(self) -> Held:
        before = self.version.ready()
        after, moved = before.compacted()
        assert after.table.size == sum(placed.size for placed in before.segments)
        for dense, query in before.table.queries():
            assert after.table.query(int(moved[dense])) == query
        kept = Held(after, self.queries)
        assert kept.numbers == self.numbers and after.epoch == before.epoch + 1
        return kept


@contextmanager
def small_levels() -> Iterator[None]:
    with (
        patch("eddyline.standing.merging.policy.OPEN", 2),
        patch("eddyline.standing.merging.policy.FAN", 2),
        patch("eddyline.standing.merging.building.KEEP_QUERIES", 3),
    ):
        yield


def run(script: list[tuple], chosen: IndexSettings = DEFAULT_INDEX) -> None:
    compiler = Compiler([TICKS, OTHER])
    held = [Held(Version(0, compiler, chosen, Table(columns=Columns())))]
    with small_levels():
        for step, back, *rest in script:
            base = held[-1 - back % len(held)]
            if step == "change":
                held.append(base.changed(*rest))
            elif step == "merge":
                held.append(base.merged())
            elif step == "compact":
                held.append(base.compacted())
            else:
                held.append(
                    replace(base, version=base.version.ready(GATED if step == "ready gated" else None))
                )
        for each in held:
            each.check()


@settings(max_examples=60)
@given(steps)
def test_versions_keep_their_queries(script: list[tuple]) -> None:
    run(script)


@settings(max_examples=25)
@given(steps)
def test_in_segments_of_a_few(script: list[tuple]) -> None:
    run(script, IndexSettings(segment_size=3))


def test_numbers_of_a_compacted_table_stay_apart() -> None:
    """A query that comes after the move gets a number that nobody had."""
    compiler = Compiler([TICKS, OTHER])
    version = Version(0, compiler, DEFAULT_INDEX, Table(columns=Columns()))
    held = Held(version)
    for number in range(6):
        held = held.changed({"q0": Known("ticks", number, False, Attributes())}, set())
    moved = Held(held.version.ready().compacted()[0], held.queries)
    grown = moved.changed({"q1": Known("ticks", 3, False, Attributes())}, set())
    assert grown.numbers == {"q0": 5, "q1": 6}
    assert np.array_equal(grown.version.table.alive, np.arange(2))
    grown.check()
