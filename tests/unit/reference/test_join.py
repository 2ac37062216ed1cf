"""The reference for joins, by hand: who meets whom, in which order, who is left out, and joins that come and go."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from eddyline.model.catalog import Stream
from eddyline.model.event_time import DAY
from eddyline.model.join import BoundJoin, Source
from eddyline.reference import Change, JoinResult, Push, join
from tests.joined import bound_join

SCHEMA = pa.schema([("symbol", pa.string()), ("size", pa.int32()), ("seq", pa.int64())])
QUOTES = Stream("quotes", SCHEMA, event_time="seq", lateness=5)
TRADES = Stream("trades", SCHEMA, event_time="seq", lateness=100)
STREAMS = [QUOTES, TRADES]
NEAR = "q.symbol = t.symbol AND t.seq BETWEEN q.seq - 3 AND q.seq + 3"


def rows(*sequence: int | None, symbol: str = "A", size: int = 1) -> pa.RecordBatch:
    """Tuples with these event times."""
    columns = [[symbol] * len(sequence), [size] * len(sequence), list(sequence)]
    arrays = [pa.array(values, column.type) for values, column in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def bound(where: str = NEAR, id: str = "near") -> BoundJoin:
    return replace(bound_join(where, {stream.name: stream for stream in STREAMS}), id=id)


def itself(where: str = NEAR, id: str = "self") -> BoundJoin:
    return replace(bound(where, id), sources=(Source("q", "quotes"), Source("t", "quotes")))


def found(result: JoinResult) -> list[list[tuple[str, int, int]]]:
    return [[tuple(pair) for pair in step] for step in result.steps]


def test_pairs_are_told_at_their_last_tuple() -> None:
    steps = [Push("quotes", rows(1, 9)), Push("trades", rows(8, 2, 50)), Push("quotes", rows(7))]
    assert found(join([bound()], steps, streams=STREAMS)) == [
        [],
        [("near", 1, 0), ("near", 0, 1)],
        [("near", 2, 0)],
    ]


def test_a_step_may_be_a_plain_pair() -> None:
    result = join([bound()], [("quotes", rows(1)), ("TRADES", rows(1))], streams=STREAMS)
    assert result.pairs == [("near", 0, 0)]


def test_order_is_that_of_the_last_tuple_its_partners_and_the_registration() -> None:
    joins = [bound(id="b"), bound(id="a")]
    steps = [("quotes", rows(1, 2)), ("trades", rows(1, 2))]
    assert join(joins, steps, streams=STREAMS).pairs == [
        *[("b", 0, 0), ("a", 0, 0), ("b", 1, 0), ("a", 1, 0)],
        *[("b", 0, 1), ("a", 0, 1), ("b", 1, 1), ("a", 1, 1)],
    ]


def test_a_stream_joined_with_itself() -> None:
    """In both orders, and every tuple with itself, once."""
    result = join([itself()], [("quotes", rows(1, 2))], streams=STREAMS)
    assert result.pairs == [("self", 0, 0), ("self", 1, 0), ("self", 0, 1), ("self", 1, 1)]
    later = itself(NEAR + " AND t.seq > q.seq")
    assert join([later], [("quotes", rows(1, 2))], streams=STREAMS).pairs == [("self", 0, 1)]


def test_who_is_left_out() -> None:
    steps = [("quotes", rows(10, 5, 4, None, 2**62, -(2**62), 20, 10)), ("trades", rows(5, 4, 10, 20))]
    result = join([bound()], steps, streams=STREAMS)
    assert result.left_out == {"quotes": {"late": 2, "no time": 1, "out of range": 2}}
    assert result.pairs == [("near", 1, 0), ("near", 1, 1), ("near", 0, 2), ("near", 6, 3)]


def test_the_watermark_moves_from_row_to_row_or_from_batch_to_batch() -> None:
    steps = [("quotes", rows(1, 10, 2)), ("quotes", rows(3)), ("trades", rows(2))]
    by_row = join([bound()], steps, streams=STREAMS)
    assert by_row.pairs == [("near", 0, 0)] and by_row.left_out == {"quotes": {"late": 2}}
    by_batch = join([bound()], steps, streams=STREAMS, whole_batches=True)
    assert by_batch.pairs == [("near", 0, 0), ("near", 2, 0)] and by_batch.left_out == {"quotes": {"late": 1}}


def test_late_tuples_are_judged_whether_or_not_somebody_joins_them() -> None:
    steps = [("quotes", rows(10)), Change(add=[bound()]), ("quotes", rows(1)), ("trades", rows(1))]
    assert join([], steps, streams=STREAMS).left_out == {"quotes": {"late": 1}}


def test_complete_data_is_never_late() -> None:
    steps = [("trades", rows(5, 4, None)), ("quotes", rows(10, 4))]
    result = join([bound()], steps, streams=STREAMS, complete=True)
    assert result.pairs == [("near", 1, 0), ("near", 1, 1)]
    assert result.left_out == {"trades": {"no time": 1}}


def test_ahead_of_the_clock() -> None:
    schema = pa.schema([("symbol", pa.string()), ("day", pa.date32())])
    days = Stream("days", schema, event_time="day", lateness="1 day", ahead="2 days")

    def batch(*numbers: int) -> pa.RecordBatch:
        return pa.record_batch(
            [pa.array(["A"] * len(numbers)), pa.array(numbers, pa.date32())], schema=schema
        )

    same = replace(
        bound_join("q.symbol = t.symbol", {"quotes": QUOTES, "trades": TRADES}),
        sources=(Source("q", "days"), Source("t", "days")),
    )
    clock = 10 * DAY + DAY // 2

    def positions(zone: str, clock: int | None) -> list[int]:
        steps = [Push("days", batch(10, 12, 13), clock)]
        pairs = join([same], steps, streams=[days], join_window="0 days", time_zone=zone).pairs
        return [pair.first for pair in pairs]

    assert positions("UTC", clock) == [0, 1]
    assert positions("+13:00", clock) == [0, 1, 2]  # where it is tomorrow already
    assert positions("UTC", None) == [0, 1, 2]


def test_joins_come_and_go() -> None:
    steps = [
        Push("quotes", rows(1)),
        Change(add=[bound(id="late")]),
        Push("quotes", rows(2)),
        Push("trades", rows(1)),
        Change(remove=["near"]),
        Push("trades", rows(1)),
        Change(add=[bound()]),
        Push("trades", rows(1)),
        Push("quotes", rows(3)),
    ]
    assert found(join([bound()], steps, streams=STREAMS))[3:] == [
        [("near", 0, 0), ("near", 1, 0), ("late", 1, 0)],
        [],
        [("late", 1, 1)],
        [],
        [("late", 1, 2)],
        [("late", 2, 0), ("late", 2, 1), ("late", 2, 2), ("near", 2, 2)],
    ]


def test_a_replaced_join_starts_anew_and_comes_last() -> None:
    steps = [
        Push("quotes", rows(1)),
        Change(replace=[bound(NEAR + " AND t.size > 0")]),
        Push("quotes", rows(1)),
        Push("trades", rows(1)),
    ]
    pairs = join([bound(), bound(id="other")], steps, streams=STREAMS).pairs
    assert pairs == [("other", 0, 0), ("other", 1, 0), ("near", 1, 0)]


def test_join_window() -> None:
    steps = [("quotes", rows(1, 5)), ("trades", rows(3, 7, 10))]
    joins = [
        bound("q.symbol = t.symbol", "none"),
        bound("q.symbol = t.symbol AND t.seq = q.seq + 2", "own"),
        bound("q.symbol = t.symbol AND t.seq % 7 = q.seq % 7 + 2", "other"),
        bound("q.symbol = t.symbol AND t.seq <> q.seq + 2", "no limit"),
    ]
    pairs = join(joins, steps, streams=STREAMS, join_window=2).pairs
    first = [("none", 0, 0), ("own", 0, 0), ("other", 0, 0), ("none", 1, 0), ("no limit", 1, 0)]
    assert pairs == [*first, ("none", 1, 1), ("own", 1, 1)]


def test_null_keys_and_null_safe_ones() -> None:
    steps = [("quotes", rows(1, symbol="A")), ("trades", rows(1))]
    nothing = rows(1).set_column(0, "symbol", pa.array([None], pa.string()))
    joins = [bound(), bound(NEAR.replace("=", "<=>", 1), "safe")]
    steps += [("quotes", nothing), ("trades", nothing)]
    assert join(joins, steps, streams=STREAMS).pairs == [("near", 0, 0), ("safe", 0, 0), ("safe", 1, 1)]


def test_streams_without_event_time_are_not_joined() -> None:
    plain = Stream("plain", SCHEMA)
    assert join([bound()], [("plain", rows(1))], streams=[*STREAMS, plain]).pairs == []


def test_joins_may_be_texts_and_other_queries_do_not_take_part() -> None:
    texts = {
        "near": f"SELECT q.size FROM quotes q JOIN trades t ON {NEAR}",
        "large": "SELECT * FROM quotes WHERE size > 5",
    }
    steps = [("quotes", rows(1)), ("trades", rows(2)), Change(replace={"near": texts["near"]})]
    assert join(texts, steps, streams=STREAMS).pairs == [("near", 0, 0)]
