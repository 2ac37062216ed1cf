"""Our side of window joins: over whole tables, delivered by an engine; and without sharing, a join stage for each query."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from bench.workloads.joins import BATCHES, SECOND, STREAMS, JoinWorkload
from eddyline import Engine, QuerySet
from eddyline.join import JoinState
from eddyline.model import types as t
from eddyline.model.expression import Column
from eddyline.model.roles import Roles, StemKey

_SYMBOL = Column("symbol", t.STRING)
_NONE = np.empty(0, np.int32), np.empty(0, np.int32)


class Tables:
    """All joins of a workload over whole tables; a call gives how many pairs satisfy each."""

    def __init__(self, workload: JoinWorkload, tables: Mapping[str, pa.Table]) -> None:
        self._set = QuerySet.build(workload.texts, streams=STREAMS)
        self._tables = tables

    def __call__(self) -> np.ndarray:
        """Join them."""
        return np.fromiter(self._set.join(self._tables).counts().values(), np.int64)


class Pushed:
    """An engine with all joins of a workload; a call pushes one batch of each stream, and gives what it delivers by query."""

    def __init__(self, workload: JoinWorkload) -> None:
        self.engine = Engine(streams=STREAMS)
        self.engine.add(workload.texts)
        self.engine.merge()

    def __call__(self, batches: tuple[pa.RecordBatch, ...]) -> list[Mapping[str, int]]:
        """Push quotes, then trades."""
        return [
            self.engine.push(stream.name, batch).ledger.queries
            for stream, batch in zip(STREAMS, batches, strict=True)
        ]


class Unshared:
    """A join stage for each query, which gets the tuples that satisfy its sides: our kernels without lineage.

    The sides themselves are matched together, which favours this one.
    """

    def __init__(self, workload: JoinWorkload, tables: Mapping[str, pa.Table]) -> None:
        self._tables = [tables[stream.name] for stream in STREAMS]
        self._sets = [_side_set(workload, side) for side in (0, 1)]
        self._roles = _free_roles()
        self._queries = workload.queries

    def __call__(self) -> np.ndarray:
        """How many pairs satisfy each query."""
        rows_of = [self._rows(side) for side in (0, 1)]
        counts = np.zeros(self._queries, np.int64)
        for query in range(self._queries):
            state = JoinState(STREAMS, complete=True)
            for side, stream in enumerate(STREAMS):
                rows = rows_of[side](query)
                table = self._tables[side]
                some = table if rows is None else table.take(pa.array(rows))
                step = state.step(stream, some, *_NONE, self._roles, now=0)
                counts[query] += sum(len(pairs.query) for pairs in step.pairs())
                step.take_over()
        return counts

    def _rows(self, side: int) -> Callable[[int], np.ndarray | None]:
        matched = self._sets[side]
        if matched is None:
            return lambda query: None
        matches = matched.match(self._tables[side])
        row, query = matches.pair_arrays()
        order = np.argsort(query, kind="stable")
        starts = np.searchsorted(query[order], np.arange(self._queries + 1))
        return lambda number: row[order[starts[number] : starts[number + 1]]]


def _free_roles() -> Roles:
    """The roles of one join whose sides ask for nothing: the row 0, its quotes' role 1, its trades' role 2."""
    window = (BATCHES - 1) * SECOND
    return Roles(
        size=3,
        epoch=0,
        partner=np.array([-1, 2, 1], np.int32),
        query=np.array([-1, 0, 0], np.int32),
        side=np.array([0, 0, 1], np.int8),
        stem=np.array([-1, 0, 1], np.int32),
        low=np.full(3, -window),
        high=np.full(3, window),
        residual=np.full(3, -1, np.int32),
        free=np.array([False, True, True]),
        alive=np.ones(3, np.bool_),
        stems=tuple(StemKey(stream.name, (_SYMBOL,), (False,)) for stream in STREAMS),
        residuals=(),
        payload={},
    )


def _side_set(workload: JoinWorkload, side: int) -> QuerySet | None:
    if not workload.has_side(side):
        return None
    stream = STREAMS[side]
    texts = {
        str(i): f"SELECT * FROM {stream.name} WHERE {sides[side]}" for i, sides in enumerate(workload.sides)
    }
    return QuerySet.build(texts, streams=[stream])
