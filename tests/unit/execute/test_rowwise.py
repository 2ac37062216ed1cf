"""The row-wise executor on hand-made sets: counters, orders, pruning, compaction, tracing."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Compiler, Query, Stream
from eddyline.execute.rowwise.rowwise import Rowwise
from eddyline.functions.evaluate import Evaluation
from eddyline.index.rowwise.asc import build_ascs
from eddyline.model.matches import Matches
from eddyline.model.visit_order import Arrow, VisitOrder

STREAM = Stream("s", pa.schema([("a", pa.int64()), ("b", pa.float64()), ("c", pa.string())]))
WHERES = ("a = 5", "a = 5 AND b > 0.5", "a = 6 AND c = 'x'", "a = 6 AND b <= 0.5 AND c >= 'w'")


def rowwise(*wheres: str) -> Rowwise:
    compiler = Compiler([STREAM])
    texts = [Query(str(i), f"SELECT * FROM s WHERE {where}") for i, where in enumerate(wheres)]
    return Rowwise(
        build_ascs([compiler.compile(text).predicate for text in texts], range(10, 10 + len(texts)))
    )


def tuples(rows: int, values: int = 1000) -> dict[str, pa.Array]:
    source = np.random.default_rng(rows)
    return {
        "a": pa.array(source.integers(0, values, rows)),
        "b": pa.array(source.random(rows)),
        "c": pa.array(source.choice(["v", "w", "x", None], rows)),
    }


def evaluation(columns: dict[str, pa.Array]) -> Evaluation:
    return Evaluation(columns, rows=len(columns["a"]), time_zone="UTC")


def expected(columns: dict[str, pa.Array]) -> list[tuple[int, int]]:
    found = []
    for row, (a, b, c) in enumerate(zip(*(columns[name].to_pylist() for name in "abc"), strict=True)):
        late = c is not None and c >= "w"
        holds = (a == 5, a == 5 and b > 0.5, a == 6 and c == "x", a == 6 and b <= 0.5 and late)
        found += [(row, 10 + i) for i, one in enumerate(holds) if one]
    return found


@pytest.mark.parametrize("rows", [0, 1, 2, 511, 512, 513, 2000, 40_000])
@pytest.mark.parametrize("values", [8, 1000])
def test_matches(rows: int, values: int) -> None:
    columns = tuples(rows, values)
    executor = rowwise(*WHERES)
    wanted = expected(columns)
    for order in itertools.permutations(range(3)):
        for immediate in (True, False):
            found = executor.match(evaluation(columns), rows, sequence=VisitOrder(order), immediate=immediate)
            assert list(zip(*(column.tolist() for column in found.pairs()), strict=True)) == wanted
            counters = found.counters
            assert counters.tuples == rows
            assert counters.dropped == rows - len({row for row, _ in wanted})
            assert counters.survivors[-1] == len(found.row) == rows - counters.dropped


def test_a_part_of_matches() -> None:
    columns = tuples(1000, 8)
    found = rowwise(*WHERES).match(evaluation(columns), 1000)
    wanted = expected(columns)
    numbers, counts = found.counts()
    assert numbers.tolist() == [10, 11, 12, 13]
    assert counts.tolist() == [sum(query == number for _, query in wanted) for number in numbers]
    for number in range(9, 15):
        assert found.rows(number).tolist() == [row for row, query in wanted if query == number]
    matches = Matches([f"q{i}" for i in range(14)], 1000, [found])
    assert len(matches) == len(wanted)


@pytest.mark.parametrize("rows", [100, 30_000])
def test_visits_are_those_of_algorithm_1(rows: int) -> None:
    columns = tuples(rows, 30)
    executor = rowwise(*WHERES)
    for order in itertools.permutations(range(3)):
        sequence = VisitOrder(order)
        found = executor.match(evaluation(columns), rows, sequence=sequence).counters
        sampled = range(0, rows, max(1, rows // 100))
        traces = [executor.trace(evaluation(columns), row, sequence=sequence) for row in sampled]
        if len(sampled) == rows:
            assert found.visited == sum(map(len, traces))
            alive = [sum(len(v) > p and "1" in v[p].grb for v in traces) for p in range(3)]
            assert found.survivors == tuple(alive)
        delayed = executor.match(evaluation(columns), rows, sequence=sequence, immediate=False).counters
        assert delayed.visited == 3 * rows and delayed.dropped == found.dropped
        assert delayed.survivors == (rows, rows, found.survivors[-1])


@pytest.mark.parametrize("rows", [100, 30_000])
def test_prefilter_keeps_what_may_match(rows: int) -> None:
    columns = tuples(rows, 30)
    executor = rowwise(*WHERES)
    a = np.asarray(columns["a"])
    assert (
        executor.prefilter(evaluation(columns), rows, (0,)).tolist()
        == np.flatnonzero((a == 5) | (a == 6)).tolist()
    )
    matched = sorted({row for row, _ in expected(columns)})
    assert executor.prefilter(evaluation(columns), rows, (0, 1, 2)).tolist() == matched
    assert executor.prefilter(evaluation(columns), rows, (2,)).tolist() == list(range(rows))
    assert executor.prefilter(evaluation(columns), rows, ()).tolist() == list(range(rows))


def test_lineages_after_some_subjects() -> None:
    columns = {"a": pa.array([5, 6, 7]), "b": pa.array([1.0, 1.0, 1.0]), "c": pa.array(["x", "x", "x"])}
    found = rowwise(*WHERES).lineages(evaluation(columns), 3, VisitOrder((0,)))
    assert found.row.tolist() == [0, 1]
    assert found.grb[:, 0].tolist() == [0b0011, 0b1100]
    unvisited = rowwise(*WHERES).lineages(evaluation(columns), 3, VisitOrder(()))
    assert unvisited.grb[:, 0].tolist() == [0b1111] * 3


def test_trace() -> None:
    columns = {"a": pa.array([6, 1]), "b": pa.array([0.25, None]), "c": pa.array(["ww", None])}
    executor = rowwise(*WHERES)
    assert [str(visit) for visit in executor.trace(evaluation(columns), 0)] == [
        "a in {6}: 0011",
        "b in (-inf, 0.5): 0011",
        "c in ('w', 'x'): 0001",
    ]
    assert [str(visit) for visit in executor.trace(evaluation(columns), 1)] == ["a in (-inf, 5): 0000"]


def test_trace_names_the_region_of_other_values() -> None:
    columns = {"a": pa.array([1, 1]), "b": pa.array([1.0, 1.0]), "c": pa.array(["m", None])}
    executor = rowwise("c = 'b'", "c IN ('k', 'z')")
    traces = [executor.trace(evaluation(columns), row)[0] for row in range(2)]
    assert list(map(str, traces)) == ["c in ('k', 'z'): 00", "c in NULL: 00"]


def test_always_true_queries() -> None:
    columns = tuples(600)
    mixed = rowwise("a = 5", "1 = 1").match(evaluation(columns), 600)
    assert mixed.rows(11).tolist() == list(range(600))
    alone = rowwise("1 = 1", "true").match(evaluation(columns), 600)
    assert len(alone.pairs()[0]) == 1200 and alone.counters.visited == 0
    assert len(rowwise().match(evaluation(columns), 600).row) == 0


def test_many_queries_and_regions() -> None:
    """More than one block of queries, and ids that need 32 bits."""
    executor = rowwise(
        *(f"a = {i}" for i in range(1300)), f"a IN ({', '.join(str(3 * i) for i in range(33_000))})"
    )
    assert executor.index.table.shape[0] == 3 and executor.index.table.shape[1] > 2**16
    columns = tuples(3000, 200_000)
    for immediate in (True, False):
        rows, numbers = executor.match(evaluation(columns), 3000, immediate=immediate).pairs()
        wanted = []
        for row, a in enumerate(columns["a"].to_pylist()):
            wanted += [(row, 10 + a)] if a < 1300 else []
            wanted += [(row, 1310)] if a % 3 == 0 and a < 99_000 else []
        assert list(zip(rows.tolist(), numbers.tolist(), strict=True)) == wanted


def test_large_results_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = tuples(2000, 8)
    executor = rowwise(*WHERES)
    whole = executor.match(evaluation(columns), 2000, immediate=False)
    monkeypatch.setattr("eddyline.execute.rowwise.rowwise.PIECE_WORDS", 8 * 600)
    pieces = executor.match(evaluation(columns), 2000, immediate=False)
    assert pieces.row.tolist() == whole.row.tolist() and (pieces.grb == whole.grb).all()
    assert pieces.counters == whole.counters


def test_sequences() -> None:
    executor, columns = rowwise(*WHERES), tuples(3)
    with pytest.raises(AssertionError, match="all subjects"):
        executor.match(evaluation(columns), 3, sequence=VisitOrder((0, 1)))
    with pytest.raises(AssertionError, match="a region of its subject"):
        executor.match(evaluation(columns), 3, sequence=VisitOrder((0, 1, 2), (Arrow(0, 99, 2),)))
    with pytest.raises(AssertionError, match="once"):
        VisitOrder((0, 0))
    assert str(VisitOrder((0, 1, 2), (Arrow(0, 4, 2),))) == "0 -> 1 -> 2; 0[4] -> 2"
