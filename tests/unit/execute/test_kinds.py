"""A new executor is an entry in two tables: everything above takes it in, and matches, explains, prices and keeps its queries."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine, QuerySet, Stream, reference
from eddyline.config import FIXED_ORDER, IndexSettings, OrderSettings
from eddyline.execute.executor import Counted, Trial
from eddyline.execute.kinds.table import EXECUTORS
from eddyline.execute.parts import PairPart
from eddyline.execute.pricing.cost_items import Bill, Label, Sheet
from eddyline.execute.rescue.plain import PlainPredicates
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.steering.protocol import Steering
from eddyline.functions.evaluate import Evaluation
from eddyline.index.kinds.table import KINDS
from eddyline.model.expression import Expression
from eddyline.model.matches import SegmentPart
from eddyline.model.predicate import Or, Predicate, conditions_of
from eddyline.model.visit_order import VisitOrder

STREAM = Stream("s", pa.schema({"a": pa.int64(), "b": pa.int64(), "t": pa.string()}))
TEXTS = {
    **{f"either {i}": f"SELECT a FROM s WHERE a < {i} OR b = {i}" for i in range(5)},
    **{f"both {i}": f"SELECT a FROM s WHERE a > {i} AND b > {i}" for i in range(5)},
    **{f"key {i}": f"SELECT b FROM s WHERE t = 't{i}'" for i in range(5)},
}


@dataclass(frozen=True)
class PlainIndex:
    """Predicates as they are, by slot."""

    predicates: dict[int, Predicate]

    @property
    def subjects(self) -> Sequence[Expression]:
        return [c.subject for predicate in self.predicates.values() for c in conditions_of(predicate)]

    @property
    def bytes(self) -> int:
        return 100 * len(self.predicates)


def build(
    predicates: Sequence[Predicate], slots: Sequence[int], settings: IndexSettings
) -> tuple[PlainIndex | None, Sequence[int]]:
    own = {slot: predicates[slot] for slot in slots if isinstance(predicates[slot], Or)}
    return PlainIndex(own) if own else None, [slot for slot in slots if slot not in own]


def pack(index: PlainIndex, put: Any) -> Any:
    return put(np.frombuffer(pickle.dumps(index), np.uint8))


def unpack(data: Any, get: Any) -> PlainIndex:
    found: PlainIndex = pickle.loads(get(data).tobytes())
    return found


class PlainExecutor:
    """One query after the other."""

    def __init__(self, index: PlainIndex, order: OrderSettings) -> None:
        self.index = index

    def match(
        self, evaluation: Evaluation, rows: int, steering: Steering | None, threads: int
    ) -> list[SegmentPart]:
        plain = PlainPredicates(evaluation, rows)
        found = {slot: np.flatnonzero(plain.holds(p)) for slot, p in self.index.predicates.items()}
        row = np.concatenate(list(found.values()))
        return [PairPart(row, np.repeat(list(found), [len(rows) for rows in found.values()]))]

    def count(
        self, evaluation: Evaluation, rows: int, steering: Steering | None, threads: int
    ) -> list[Counted]:
        return [part.counts() for part in self.match(evaluation, rows, steering, threads)]

    def prepare(self) -> None:
        pass

    def trials(self, evaluation: Evaluation, rows: int) -> Iterator[Trial]:
        for subject in self.index.subjects:
            yield (subject,), partial(evaluation.values, subject)

    def describe(self, slot: int | None) -> list[str]:
        if slot is None:
            return [f"plain: {len(self.index.predicates)} queries"]
        return ["served plainly"] if slot in self.index.predicates else []

    def price(self, bill: Bill) -> PlainItems:
        for slot in self.index.predicates:
            if slot in bill.owners:
                item = bill.sheet.item(Label("plain", bill.segment, "plain", slot), 10**9, 100)
                bill.sheet.use(bill.owners[slot], [item])
        return PlainItems(bill)

    @staticmethod
    def item_text(label: Label, index: PlainIndex | None) -> str:
        return "evaluated alone"


class PlainItems:
    """Its prices."""

    def __init__(self, bill: Bill) -> None:
        self._bill = bill

    def marginal(self, owner: object, predicate: Predicate, trial: Sheet, kept: int) -> bool:
        if isinstance(predicate, Or):
            trial.item(Label("plain", self._bill.segment, "plain", owner), 10**9, 100)
        return isinstance(predicate, Or)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = SimpleNamespace(NAME="plain", build=build, pack=pack, unpack=unpack)
    for module in ("segment", "file"):
        monkeypatch.setattr(f"eddyline.index.{module}.KINDS", (kind, *KINDS))
    monkeypatch.setitem(EXECUTORS, "plain", PlainExecutor)


def batch() -> pa.RecordBatch:
    drawn = np.random.default_rng(1)
    columns = {name: drawn.integers(0, 9, 700) for name in ("a", "b")}
    return pa.record_batch({**columns, "t": [f"t{i % 7}" for i in range(700)]}, schema=STREAM.schema)


def expected() -> list[tuple[int, str]]:
    return reference.match(TEXTS, batch(), streams=[STREAM]).pairs()


@pytest.mark.usefixtures("plain")
def test_a_kind_of_its_own(tmp_path: Path) -> None:
    """Matched, counted, kept, explained and priced as the others are."""
    queries = QuerySet.build(TEXTS, streams=[STREAM], settings=IndexSettings(executor="keyed"))
    assert {name for executor in queries.executors() for name in executor.executors} == {
        "plain",
        "keyed",
        "unkeyed",
    }
    queries.save(tmp_path / "set")
    for each in (queries, QuerySet.load(tmp_path / "set")):
        assert each.match(batch()).pairs() == expected()
        assert each.count(batch()) == each.match(batch()).counts()
    assert "  plain: 5 queries" in queries.explain() and "served plainly" in queries.explain("either 3")
    assert queries.explain("key 1").splitlines()[-1].startswith("served by key")
    costs = queries.cost({"s": [batch()]})
    assert [part.text for part in costs["either 2"].parts] == ["evaluated alone"]
    assert sum(cost.bytes for cost in costs.values()) == costs.total.bytes
    marginal = queries.marginal_cost("SELECT * FROM s WHERE a = 1 OR b = 2")
    assert (marginal.nanoseconds, marginal.bytes) == (1.0, 100)


@pytest.mark.usefixtures("plain")
def test_an_engine_has_it_too() -> None:
    engine = Engine([STREAM])
    engine.add(TEXTS)
    pushed = engine.push("s", batch())
    found = {id: pushed.of(id).num_rows for id in TEXTS}
    assert found == reference.match(TEXTS, batch(), streams=[STREAM]).counts()


@pytest.mark.usefixtures("plain")
def test_a_mistake_in_it_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> Any:
        raise RuntimeError("a mistake")

    queries = QuerySet.build(TEXTS, streams=[STREAM])
    monkeypatch.setattr(PlainExecutor, "match", fail)
    found = queries.match(batch())
    assert found.pairs() == expected() and not found.failed


def test_who_is_steered_otherwise_shares_what_is_made() -> None:
    """One copy for each batch that is replayed: nothing is compiled again, and nothing is learnt from it."""
    texts = {id: sql for id, sql in TEXTS.items() if id.startswith("both")}
    queries = QuerySet.build(texts, streams=[STREAM], settings=IndexSettings(order=FIXED_ORDER))
    (base,) = queries.executors()
    told: list[int] = []
    for sequence, way in (((1, 0), "row by row"), ((0, 1), "sliced"), ((1, 0), "filtered")):
        steering = base.recorded(VisitOrder(sequence), way, lambda *passed: told.append(passed[1]))  # type: ignore[arg-type]
        assert steering is not None
        other: SegmentExecutor = base.steered(steering)
        assert other.executors is base.executors and other.rescues is base.rescues
        found = queries.served_by([other]).match(batch())
        assert found.pairs() == reference.match(texts, batch(), streams=[STREAM]).pairs()
        by_row = steering.counters.tuples
        assert by_row == (700 if way == "row by row" else 0)
    assert told == [700] * 3 and base.live is None
