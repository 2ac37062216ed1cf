"""The standing set against a model that is a dictionary for each version: whatever is added, removed and replaced, in the
newest version or in an older one, compiled or not, merged, saved and opened, each version keeps its own queries, and
matches what they say. Numbers are never given twice."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

from eddyline import QuerySet, Stream
from eddyline.config import IndexSettings
from eddyline.errors import QueryError

TICKS = Stream("ticks", pa.schema({"a": pa.int32(), "s": pa.string()}))
TOCKS = Stream("tocks", pa.schema({"a": pa.int32()}))
ROWS = [(a, None if a % 5 == 0 else f"t{a % 3}") for a in range(20)]
TICKS_BATCH = pa.record_batch(
    {"a": pa.array([a for a, _ in ROWS], pa.int32()), "s": pa.array([s for _, s in ROWS])}
)
TOCKS_BATCH = TICKS_BATCH.select(["a"])
Holds = Callable[[int, str | None], bool]
SHAPES: tuple[tuple[str, str, Callable[[int], Holds]], ...] = (
    ("ticks", "SELECT * FROM ticks WHERE a > {0}", lambda k: lambda a, s: a > k),
    ("ticks", "SELECT a FROM ticks WHERE s = 't{0}'", lambda k: lambda a, s: s == f"t{k}"),
    (
        "ticks",
        "SELECT a FROM ticks WHERE a = {0} OR s IS NULL",
        lambda k: lambda a, s: a == k or s is None,
    ),
    ("ticks", "SELECT s FROM ticks WHERE a < 0 AND a > {0}", lambda k: lambda a, s: False),
    ("tocks", "SELECT * FROM tocks WHERE a <> {0}", lambda k: lambda a, s: a != k),
)
Text = tuple[int, int]  # a shape and its constant
ids = st.sampled_from([f"q{i}" for i in range(9)])
texts = st.tuples(st.integers(0, len(SHAPES) - 1), st.integers(0, 6))
edits = st.dictionaries(ids, texts, min_size=1, max_size=5)


def sql(text: Text) -> str:
    return SHAPES[text[0]][1].format(text[1])


def rows(text: Text) -> list[int]:
    holds = SHAPES[text[0]][2](text[1])
    return [row for row, (a, s) in enumerate(ROWS) if holds(a, s)]


class Versioned:
    """A version, what it should have in order of entry, and the numbers that queries got on the way to it."""

    def __init__(
        self, queries: QuerySet, model: dict[str, Text], numbers: dict[tuple[str, Text], int]
    ) -> None:
        self.queries, self.model, self.numbers = queries, model, numbers

    def check(self) -> None:
        queries, model = self.queries, self.model
        assert list(queries) == list(model) and len(queries) == len(model)
        assert {id: queries[id].sql for id in model} == {id: sql(text) for id, text in model.items()}
        for stream, batch in (("ticks", TICKS_BATCH), ("tocks", TOCKS_BATCH)):
            wanted = {id: rows(text) if SHAPES[text[0]][0] == stream else [] for id, text in model.items()}
            matches = queries.match(batch, stream=stream)
            assert matches.counts() == {id: len(found) for id, found in wanted.items()}
            assert queries.count(batch, stream=stream) == matches.counts()
            assert {id: matches.rows(id).tolist() for id in model} == wanted
            pairs = [(row, id) for row in range(len(ROWS)) for id in model if row in wanted[id]]
            found = matches.pairs()
            assert list(zip(found["row"].to_pylist(), found["query"].to_pylist(), strict=True)) == pairs
            lists = matches.query_lists().to_pylist()
            assert [(row, id) for row, several in enumerate(lists) for id in several] == pairs


class Standing(RuleBasedStateMachine):
    """Versions that grow out of one another."""

    versions: Bundle[Versioned] = Bundle("versions")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.saved = 0

    @initialize(target=versions, given=edits, executor=st.sampled_from(["auto", "sliced", "rowwise"]))
    def begin(self, given: dict[str, Text], executor: Any) -> Versioned:
        queries = QuerySet.build(
            {id: sql(text) for id, text in given.items()},
            streams=[TICKS, TOCKS],
            settings=IndexSettings(executor=executor),
        )
        return self.grown(queries, dict(given), {})

    def grown(
        self, queries: QuerySet, model: dict[str, Text], before: dict[tuple[str, Text], int]
    ) -> Versioned:
        numbers = {(id, text): queries.number(id) for id, text in model.items()}
        fresh = [number for key, number in numbers.items() if key not in before]
        assert len(set(numbers.values())) == len(numbers)
        assert all(numbers[key] == number for key, number in before.items() if key in numbers)
        assert not set(fresh) & set(before.values()), "a number is given once"
        return Versioned(queries, model, {**before, **numbers})

    @rule(target=versions, base=versions, given=edits)
    def add(self, base: Versioned, given: dict[str, Text]) -> Versioned:
        fresh = {id: text for id, text in given.items() if id not in base.model}
        queries = base.queries.add({id: sql(text) for id, text in fresh.items()})
        known = {key: number for key, number in base.numbers.items() if key not in set(fresh.items())}
        return self.grown(queries, {**base.model, **fresh}, known)

    @rule(base=versions, given=edits)
    def refuse(self, base: Versioned, given: dict[str, Text]) -> None:
        taken = [id for id in given if id in base.model]
        if taken:
            with pytest.raises(QueryError, match="taken already"):
                base.queries.add({id: sql(text) for id, text in given.items()})
            collected = base.queries.add({id: sql(text) for id, text in given.items()}, on_error="collect")
            assert [problem.query for problem in collected.problems] == taken

    @rule(target=versions, base=versions, chosen=st.sets(ids, max_size=4))
    def remove(self, base: Versioned, chosen: set[str]) -> Versioned:
        gone = [id for id in chosen if id in base.model]
        model = {id: text for id, text in base.model.items() if id not in gone}
        return self.grown(base.queries.remove(gone), model, base.numbers)

    @rule(target=versions, base=versions, text=texts)
    def replace(self, base: Versioned, text: Text) -> Versioned:
        if not base.model:
            return base
        id = next(iter(base.model))
        model = {other: own for other, own in base.model.items() if other != id}
        known = {key: number for key, number in base.numbers.items() if key != (id, text)}
        return self.grown(base.queries.remove([id]).add({id: sql(text)}), {**model, id: text}, known)

    @rule(version=versions)
    def match(self, version: Versioned) -> None:
        version.check()

    @rule(target=versions, version=versions, shared=st.booleans(), verify=st.booleans())
    def save_and_open(self, version: Versioned, shared: bool, verify: bool) -> Versioned:
        self.saved += 1
        root, name = Path(self.folder.name), str(self.saved)
        if shared:
            version.queries.save_shared(root / "shared", name)
            opened = QuerySet.load(root / "shared" / "versions" / name, verify=verify)
        else:
            version.queries.save(root / name)
            opened = QuerySet.load(root / name, verify=verify)
        return self.grown(opened, version.model, version.numbers)

    def teardown(self) -> None:
        self.folder.cleanup()


Standing.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestStanding = Standing.TestCase
