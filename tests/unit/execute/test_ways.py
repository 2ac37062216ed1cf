"""Batches that go row by row, sliced, or sliced behind a filter, by default: whichever way, the matches are the same."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from eddyline import QuerySet
from eddyline.config import IndexSettings
from eddyline.execute.kinds.unkeyed import WAYS
from eddyline.execute.steering.protocol import Way
from tests.unit.execute.test_ordered import STREAM, WHERES, batch, report

TEXTS = {str(i): f"SELECT * FROM s WHERE {where}" for i, where in enumerate(WHERES)}
SLICED = IndexSettings(executor="sliced")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "wheres", [[], ["a = 3"], ["1 = 1"], ["1 = 1", "a = 3"], ["a IS NULL", "b > 3 AND c > 5"], WHERES]
)
def test_small_and_strange_sets_by_default(
    wheres: list[str], way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No queries, one subject, queries without any predicate, a subject that is always NULL."""
    monkeypatch.setattr(
        "eddyline.execute.steering.choice.Choice.pick",
        lambda choice, *_: (way if way in choice.ways else "sliced", True),
    )
    monkeypatch.setattr("eddyline.execute.steering.choice.WARM", 0.0)
    texts = {str(i): f"SELECT * FROM s WHERE {where}" for i, where in enumerate(wheres)}
    queries = QuerySet.build(texts, streams=[STREAM])
    plain = QuerySet.build(texts, streams=[STREAM], settings=SLICED)
    for rows in (1, 300, 3_000):
        tuples = batch("a", 3, rows)
        for each in (tuples, tuples.set_column(0, "a", pa.nulls(rows, pa.int64()))):
            assert queries.match(each).pairs() == plain.match(each).pairs()
            assert queries.count(each) == plain.count(each)


def try_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("WARM", 0.0), ("SHARE", 100.0), ("TIMED", 1), ("FIRST_TRY", 1)):
        monkeypatch.setattr(f"eddyline.execute.steering.choice.{name}", value)


def test_large_batches_go_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ways are tried, whatever that costs here."""
    try_at_once(monkeypatch)
    queries = QuerySet.build(TEXTS, streams=[STREAM])
    plain = QuerySet.build(TEXTS, streams=[STREAM], settings=SLICED)
    for seed in range(60):
        tuples = batch("ab"[seed % 2], seed, 200 if seed % 3 else 3_000)
        assert queries.match(tuples).pairs() == plain.match(tuples).pairs()
        assert queries.count(tuples) == plain.count(tuples)
    (choice,) = [executor.steering.choice for executor in queries.executors()]
    assert choice is not None
    assert all(set(each.nanoseconds) == set(WAYS) for each in choice.chosen())
    assert "rows row by row" in str(report(queries)) or "rows sliced" in str(report(queries))


def test_threads_share_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    try_at_once(monkeypatch)
    queries = QuerySet.build(TEXTS, streams=[STREAM])
    plain = QuerySet.build(TEXTS, streams=[STREAM], settings=SLICED)
    assert len(queries.executors()) == 1
    batches = [batch("ab"[seed // 8 % 2], seed) for seed in range(48)]
    wanted = [plain.match(each).pairs() for each in batches]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda each: queries.match(each).pairs(), batches)) == wanted
