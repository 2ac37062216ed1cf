"""Counts over an axis: bounded, exact, the same whatever the order of rows."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline import SchemaError, Stream
from eddyline.backtest.axis import PLAIN_STEPS, TIME_STEPS, Axis, axis_of
from eddyline.backtest.buckets import FEWEST, Buckets

ENDS = st.sampled_from([-(2**63), 2**63 - 1])


@given(
    st.lists(
        st.lists(st.integers(-1000, 1000) | st.integers(-(10**12), 10**12) | ENDS, max_size=8), max_size=6
    ),
    st.sampled_from(["row", "time"]),
)
def test_every_position_is_counted_where_it_stands(blocks: list[list[int]], kind: str) -> None:
    buckets = Buckets(Axis(kind), queries=1, limit=FEWEST)
    for block in blocks:
        positions = np.array(block, np.int64)
        buckets.add(positions, None, np.arange(len(block)), np.zeros(len(block), np.int64))
    scale, rows, [matches] = buckets.result()
    flat = [position for block in blocks for position in block]
    assert rows.tolist() == matches.tolist() and len(rows) <= FEWEST
    steps = Axis(kind).steps
    wide = next(s for s in steps if not flat or max(flat) // s - min(flat) // s < FEWEST)
    assert not flat or scale.width == wide, "the least step that holds all"
    expected = Counter((position // wide - scale.start // wide) for position in flat)
    assert {place: count for place, count in enumerate(rows.tolist()) if count} == expected


def test_rows_without_a_time_are_counted_apart() -> None:
    buckets = Buckets(Axis("time", "at"), queries=2, limit=FEWEST)
    known = np.array([True, False, True])
    buckets.add(np.array([0, 0, 5_000_000]), known, np.array([0, 1, 2, 1]), np.array([0, 0, 0, 1]))
    _, rows, matches = buckets.result()
    assert (rows.sum(), buckets.rows_off_axis) == (2, 1)
    assert matches.sum(axis=1).tolist() == [2, 0] and buckets.off_axis.tolist() == [1, 1]


def test_nothing() -> None:
    scale, rows, matches = Buckets(Axis("row"), queries=3, limit=FEWEST).result()
    assert (scale.labels, len(rows), matches.shape) == ((), 0, (3, 0))


def test_steps_are_multiples() -> None:
    for steps in (PLAIN_STEPS, TIME_STEPS):
        assert all(wide % narrow == 0 and wide // narrow <= 5 for narrow, wide in pairwise(steps))


@pytest.mark.parametrize(
    ("kind", "axis"),
    [
        (pa.timestamp("ns"), "time"),
        (pa.timestamp("s", "UTC"), "time"),
        (pa.date32(), "time"),
        (pa.int32(), "number"),
        (pa.dictionary(pa.int8(), pa.int64()), "number"),
    ],
)
def test_columns_to_count_over(kind: pa.DataType, axis: str) -> None:
    stream = Stream("s", pa.schema({"At": kind}))
    found = axis_of(stream, "at", "UTC")
    assert (found.kind, found.column) == (axis, "At")
    values = pa.array([1000, None, 3000], pa.int32() if kind == pa.date32() else pa.int64())
    batch = pa.record_batch(
        [values.cast(kind) if not pa.types.is_dictionary(kind) else values.dictionary_encode()], ["At"]
    )
    positions, known = found.positions(batch, 1)
    assert known is not None and known.tolist() == [True, False, True] and positions[0] < positions[2]


def test_columns_that_are_no_axis() -> None:
    stream = Stream("s", pa.schema({"name": pa.string()}))
    with pytest.raises(SchemaError, match="is no time to count over"):
        axis_of(stream, "name", "UTC")
    with pytest.raises(SchemaError, match='has no column "when" to count over'):
        axis_of(stream, "when", "UTC")
    assert axis_of(stream, None, "UTC") == Axis("row")


def test_times_are_shown_in_the_zone_of_the_session() -> None:
    stream = Stream("s", pa.schema({"at": pa.timestamp("us", "UTC"), "local": pa.timestamp("us")}))
    noon = int(datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp()) * 1_000_000
    assert axis_of(stream, "at", "Europe/Vienna").text(noon) == "2026-07-01 14:00:00"
    assert axis_of(stream, "local", "Europe/Vienna").text(noon) == "2026-07-01 12:00:00"
    assert Axis("time").text(2**62).endswith("µs")
