"""Whole back-tests against brute force: counts, first and last rows, samples, coverage, overlap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Query, Stream
from eddyline.backtest import Settings, prepare
from eddyline.backtest.rows import plain
from eddyline.backtest.values import FiringVerdict
from eddyline.model.reject import Reject
from eddyline.runtime.embedded.backtest import History, run
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import FileRows
from tests.unit.backtest.histories import EXISTING, QUOTES, TESTED, ids, outcome, pieces, quotes, rows_of

BATCH = quotes(6000)
TIMES = BATCH.column("at").cast(pa.int64()).to_pylist()


def test_counts_and_verdicts() -> None:
    found, prepared = outcome(BATCH)
    sets = rows_of(prepared, BATCH)
    assert ids(found.queries) == ids(TESTED)
    for query, rows in zip(found.queries, sets, strict=False):
        assert query.matches == len(rows) == sum(query.counts) + query.off_axis
        assert query.off_axis == sum(TIMES[row] is None for row in rows)
    verdicts = {query.id: query.verdict for query in found.queries if query.verdict != FiringVerdict.FIRES}
    assert verdicts == {
        "everything": FiringVerdict.EVERYTHING,
        "silent": FiringVerdict.NEVER,
        "impossible": FiringVerdict.IMPOSSIBLE,
    }
    [track] = found.streams
    assert (track.rows, track.files, track.source, found.existing) == (6000, 1, "history/", 3)
    assert sum(track.rows_over) + track.off_axis == 6000
    assert (track.scale.step, track.scale.labels[0]) == ("5 min", "2026-01-05 09:30:00")


def test_counts_over_time() -> None:
    found, prepared = outcome(BATCH)
    [track] = found.streams
    for query, rows in zip(found.queries, rows_of(prepared, BATCH), strict=False):
        buckets = [
            (TIMES[row] - track.scale.start) // track.scale.width for row in rows if TIMES[row] is not None
        ]
        assert list(query.counts) == np.bincount(buckets, minlength=len(track.rows_over)).tolist()


def test_first_and_last_by_time() -> None:
    found, prepared = outcome(BATCH)
    for query, rows in zip(found.queries, rows_of(prepared, BATCH), strict=False):
        timed = [row for row in rows if TIMES[row] is not None]
        if not rows:
            assert query.first is None and query.last is None
            continue
        first, last = (pick(timed, key=lambda row: (TIMES[row], row)) for pick in (min, max))
        assert query.first is not None and query.last is not None
        assert (query.first.number, query.last.number) == (first + 1, last + 1)
        assert query.last.values == {k: plain(v) for k, v in BATCH.slice(last, 1).to_pylist()[0].items()}


def test_first_and_last_where_no_row_has_a_time() -> None:
    nothing = pa.record_batch(
        [pa.nulls(3, pa.timestamp("us")), *BATCH.slice(0, 3).columns[1:]], schema=QUOTES.schema
    )
    found, _ = outcome(nothing, size=2)
    everything = next(query for query in found.queries if query.id == "everything")
    assert everything.first is not None and everything.last is not None
    assert (everything.first.number, everything.last.number, everything.first.at) == (1, 3, "")
    assert (everything.counts, everything.off_axis, found.streams[0].scale.labels) == ((), 3, ())


def test_coverage_and_overlap() -> None:
    found, prepared = outcome(BATCH, settings=Settings(overlaps=2))
    sets = rows_of(prepared, BATCH)
    new, old = sets[: len(TESTED)], sets[len(TESTED) :]
    for query, rows in zip(found.queries, new, strict=False):
        assert query.covered == len(rows & set.union(*old))
        for is_new, names, others in ((False, ids(EXISTING), old), (True, ids(TESTED), new)):
            shared = {
                name: len(rows & other)
                for name, other in zip(names, others, strict=True)
                if not (is_new and name == query.id) and rows & other
            }
            told = {o.query: o.shared for o in query.overlaps if o.is_new == is_new}
            assert sorted(told.values()) == sorted(shared.values())[-2:] and told.items() <= shared.items()
    assert [query.id for query in found.queries if query.replaces] == ["cheap"]


def test_nothing_to_compare_with() -> None:
    found, _ = outcome(BATCH, existing=())
    assert {query.covered for query in found.queries} == {None}
    assert all(overlap.is_new for query in found.queries for overlap in query.overlaps)


@pytest.mark.parametrize("size", [1, 7, 700, 6000])
def test_the_size_of_pieces_and_blocks_changes_nothing(size: int) -> None:
    batch = BATCH.slice(0, 60) if size == 1 else BATCH
    usual, _ = outcome(batch)
    other, _ = outcome(batch, size=size, settings=Settings(block_rows=512))
    assert other == usual


def test_blocks_with_very_many_matches_are_cut() -> None:
    usual, _ = outcome(BATCH, size=6000)
    assert outcome(BATCH, size=6000, settings=Settings(block_matches=1000))[0] == usual


def test_samples_are_matches_beside_the_ends_and_do_not_depend_on_other_queries() -> None:
    found, prepared = outcome(BATCH, settings=Settings(samples=4))
    alone, _ = outcome(BATCH, queries=TESTED[1:2], existing=())
    for query, rows in zip(found.queries, rows_of(prepared, BATCH), strict=False):
        numbers = [row.number - 1 for row in query.samples]
        others = rows - {end.number - 1 for end in (query.first, query.last) if end is not None}
        assert set(numbers) <= others and numbers == sorted(set(numbers))
        assert len(numbers) == min(4, len(others))
    samples = found.queries[1].samples
    assert len(alone.queries[0].samples) == 3
    assert {row.number for row in alone.queries[0].samples} <= {row.number for row in samples}


def test_rows_are_counted_without_a_time() -> None:
    stream = replace(QUOTES, event_time=None)
    prepared = prepare(TESTED, [stream])
    found = run(prepared, [History("quotes", pieces(BATCH, 999))])
    [track] = found.streams
    assert (track.scale.kind, track.scale.step, track.off_axis) == ("row", "50", 0)
    everything = found.queries[4]
    assert everything.first is not None and everything.last is not None
    assert (everything.first.at, everything.last.at) == ("1", "6000")
    over = run(prepared, [History("quotes", pieces(BATCH, 999), time="volume")]).streams[0].scale
    assert (over.kind, over.column, over.step) == ("number", "volume", "5")


def test_refused_queries_are_set_aside() -> None:
    queries = [
        Query("typo", "SELECT * FROM quotes WHERE prise < 1"),
        *TESTED[:2],
        Query("cheap", "SELECT * FROM quotes"),
        Query("elsewhere", "SELECT * FROM trades"),
    ]
    trades = Stream("trades", pa.schema({"id": pa.int64()}))
    broken = [Query("broken", "SELECT"), Query("other", "SELECT * FROM trades"), *EXISTING]
    prepared = prepare(queries, [QUOTES], existing=broken, others=[trades])
    found = run(prepared, [History("quotes", pieces(BATCH, 999))])
    assert ids(found.queries) == ["cheap", "acme"]
    assert [(r.id, r.existing) for r in found.refused] == [
        ("typo", False),
        ("cheap", False),
        ("elsewhere", False),
        ("broken", True),
    ]
    assert "^^^^^" in found.refused[0].text and "--stream trades=SOURCE" in found.refused[2].text
    assert (found.passed, found.existing) == (False, 3)


def test_two_streams() -> None:
    trades = Stream("trades", pa.schema({"id": pa.int64()}))
    queries = [Query("late", "SELECT * FROM trades WHERE id > 5"), TESTED[0]]
    rows = FileRows(pa.record_batch({"id": list(range(10))}), "t", 0)
    found = run(
        prepare(queries, [QUOTES, trades]),
        [History("quotes", pieces(BATCH, 2000)), History("trades", [rows])],
    )
    assert [(query.id, query.rows) for query in found.queries] == [("late", 10), ("cheap", 6000)]
    assert found.queries[0].matches == 4 and found.rows == 6010


@pytest.mark.parametrize("batches", [[], [BATCH.slice(0, 0)]], ids=["no piece", "no row"])
def test_no_rows(batches: list[pa.RecordBatch]) -> None:
    prepared = prepare(TESTED, [QUOTES], existing=EXISTING)
    found = run(prepared, [History("quotes", [FileRows(batch, "f", 0) for batch in batches])])
    assert {query.verdict for query in found.queries} == {FiringVerdict.NEVER, FiringVerdict.IMPOSSIBLE}
    assert found.rows == 0 and found.queries[0].share == 0


def test_no_queries() -> None:
    found, _ = outcome(BATCH, queries=())
    assert (found.queries, found.matches, found.streams[0].rows) == ((), 0, 6000)
    found, _ = outcome(BATCH, queries=(), existing=())
    assert found.passed


def test_rejects_and_gaps_in_row_numbers() -> None:
    rejects = Rejects()
    rejects.add(Reject("day.csv", 3, 2, "no"))
    piece = FileRows(BATCH.slice(0, 3), "day.csv", 0, np.array([0, 2, 3]))
    found = run(prepare(TESTED, [QUOTES]), [History("quotes", [piece], rejects=rejects)])
    assert (found.rejected, found.streams[0].rejects[0].reason) == (1, "no")
    everything = found.queries[4]
    shown = everything.first, *everything.samples, everything.last
    assert sorted(row.number for row in shown if row is not None) == [1, 3, 4]


def test_long_values_are_cut() -> None:
    assert len(plain("x" * 10_000)) == 200 and len(plain(b"\x00" * 10_000)) == 200
