"""The state of joins: its limits, what it forgets, and what it says of itself."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.config import JoinSettings
from eddyline.errors import EddylineError, SchemaError
from eddyline.join import Joined, JoinState
from eddyline.join import keys as keys_module
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.roles import Residual, Roles, StemKey
from tests.property.join_model import taken

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.string()), ("x", pa.int64())])
A, B = (Stream(name, SCHEMA, event_time="ts", lateness=0) for name in "ab")
K = Column("k", t.STRING)


def roles(
    *windows: tuple[int, int],
    free: bool = True,
    key: Expression = K,
    residual: Expression | None = None,
    dead: Sequence[int] = (),
) -> Roles:
    """Joins of a and b, one for each window of b's time less a's: rows 3i, with roles 3i + 1 and 3i + 2."""
    size = 3 * len(windows)
    kind = np.arange(size) % 3
    low, high = (np.repeat([window[end] for window in windows], 3) for end in (0, 1))
    return Roles(
        size=size,
        epoch=0,
        partner=np.select([kind == 1, kind == 2], [np.arange(size) + 1, np.arange(size) - 1], -1).astype(
            np.int32
        ),
        query=np.where(kind > 0, np.arange(size) - kind, -1).astype(np.int32),
        side=np.where(kind == 2, 1, 0).astype(np.int8),
        stem=(kind - 1).astype(np.int32),
        low=np.where(kind == 1, -high, low),
        high=np.where(kind == 1, -low, high),
        residual=np.where(kind > 0, -1 if residual is None else 0, -1).astype(np.int32),
        free=(kind > 0) & free,
        alive=~np.isin(np.arange(size) // 3, dead),
        stems=(StemKey("a", (key,), (False,)), StemKey("b", (key,), (False,))),
        residuals=() if residual is None else (Residual(residual, ("a", "b")),),
        payload={"a": ("x",), "b": ("x",)},
    )


NO_LINEAGE = np.empty(0, np.int32), np.empty(0, np.int32)


def batch(*rows: tuple[int | None, str | None, int]) -> pa.RecordBatch:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def push(
    state: JoinState, stream: Stream, of: Roles, *rows: tuple[int | None, str | None, int]
) -> list[Joined]:
    return taken(state.step(stream, batch(*rows), *NO_LINEAGE, of, now=0))


def pairs(parts: list[Joined]) -> list[tuple[int, int, int]]:
    """Query and both positions."""
    columns: list[Any] = [(part.query.tolist(), *(p.tolist() for p in part.positions)) for part in parts]
    return [pair for part in columns for pair in zip(*part, strict=True)]


def test_pairs_of_new_and_stored_tuples() -> None:
    state, of = JoinState([A, B]), roles((0, 5), (-5, 5))
    assert push(state, A, of, (10, "k", 1), (11, "l", 2)) == []
    (part,) = push(state, B, of, (12, "k", 30), (9, "k", 40), (30, "l", 50))
    assert part.row.tolist() == [0, 0]  # the second row is late
    assert pairs([part]) == [(0, 0, 0), (3, 0, 0)]
    assert part.columns(0, "a", ["x"])[0].to_pylist() == [1, 1]
    assert part.columns(1, "b", ["x", "ts"], np.array([1]))[1].to_pylist() == [12]


def test_positions_count_all_rows() -> None:
    state, of = JoinState([A, B]), roles((-5, 5))
    push(state, A, of, (None, "k", 1), (1, None, 2), (2, "k", 3))
    assert pairs(push(state, B, of, (1, "k", 4))) == [(0, 2, 0)]


def test_what_is_left_out_is_counted() -> None:
    state, of = JoinState([A, B]), roles((-5, 5))
    step = state.step(A, batch((10, "k", 1), (5, "k", 1), (None, "k", 1)), *NO_LINEAGE, of, now=0)
    assert step.left_out == {"late": 1, "no time": 1}
    assert taken(step) == []
    source = state.describe().sources[0]
    assert (source.stream, source.rows, source.watermark) == ("a", 3, 10)
    assert source.left_out == {"late": 1, "no time": 1}


def test_a_step_that_is_not_taken_over_changes_nothing() -> None:
    state, of = JoinState([A, B]), roles((-5, 5))
    push(state, A, of, (10, "k", 1))
    before = state.describe()
    step = state.step(B, batch((10, "k", 1), (11, "k", 1)), *NO_LINEAGE, of, now=0)
    assert len(pairs(list(step.pairs()))) == 2
    assert state.describe() == before
    assert len(pairs(push(state, B, of, (10, "k", 1), (11, "k", 1)))) == 2


def test_tuples_go_when_no_partner_can_come() -> None:
    state, of = JoinState([A, B]), roles((0, 5))
    push(state, A, of, *((time, "k", time) for time in range(10)))
    push(state, A, of, *((time, "k", time) for time in range(10, 20)))
    push(state, B, of, (14, "l", 0))
    stem, other = state.describe().stems
    assert (stem.tuples, stem.low, stem.high) == (20, -5, 0)
    assert (other.low, other.high) == (0, 5)
    push(state, B, of, (15, "l", 0))
    assert [each.tuples for each in state.describe().stems] == [10, 0]
    push(state, B, of, (25, "l", 0))
    assert state.describe().stems[0].tuples == 0
    assert state.describe().sources[0].bytes == 0


def test_nothing_is_kept_of_tuples_that_come_after_their_partners_have_gone() -> None:
    state, of = JoinState([A, B]), roles((0, 5))
    push(state, B, of, (1_000, "k", 0))
    for time in range(5):
        push(state, A, of, *[(time, "k", number) for number in range(5_000)])
    assert state.describe().stems[0].tuples == 0
    assert state.describe().sources[0].bytes == 0


def test_a_stream_that_is_silent_is_advanced_by_hand() -> None:
    state, of = JoinState([A, B]), roles((0, 5))
    push(state, A, of, (10, "k", 1))
    state.advance(B, 15)
    assert state.describe().stems[0].tuples == 1
    state.advance(B, 16)
    assert state.describe().stems[0].tuples == 0
    with pytest.raises(SchemaError, match='stream "c" has no event time'):
        state.advance(Stream("c", SCHEMA), 1)


def test_a_join_that_is_gone_no_longer_keeps_tuples() -> None:
    state, both = JoinState([A, B]), roles((0, 1), (0, 1_000))
    push(state, A, both, (10, "k", 1))
    push(state, B, both, (100, "l", 1))
    assert state.describe().stems[0].tuples == 1
    push(state, B, roles((0, 1), (0, 1_000), dead=[1]), (101, "l", 1))
    assert [(each.tuples, each.high) for each in state.describe().stems] == [(0, 0), (2, 1)]


def test_joins_see_nothing_from_before_they_came() -> None:
    state, one = JoinState([A, B]), roles((0, 9))
    push(state, A, one, (10, "k", 1))
    two = roles((0, 9), (0, 9))
    assert pairs(push(state, B, two, (10, "k", 1))) == [(0, 0, 0)]
    push(state, A, two, (11, "k", 1))
    assert pairs(push(state, B, two, (11, "k", 1))) == [(0, 0, 1), (0, 1, 1), (3, 1, 1)]


def test_joins_may_be_numbered_anew_twice_between_two_steps() -> None:
    state, of = JoinState([A, B]), roles((0, 9), free=False)
    lineage = np.zeros(1, np.int32), np.array([1], np.int32)
    taken(state.step(A, batch((10, "k", 1)), *lineage, of, now=0))
    state.moved(1, np.array([3, 4, 5]))
    state.moved(2, np.array([-1, -1, -1, 3, 4, 5]))
    later = replace(roles((0, 9), (0, 9), free=False, dead=[0]), epoch=2)
    lineage = np.zeros(1, np.int32), np.array([5], np.int32)
    assert pairs(taken(state.step(B, batch((11, "k", 1)), *lineage, later, now=0))) == [(3, 0, 0)]


def test_equal_hashes_of_different_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_hash(data: Any, offsets: Any, seed: Any, codes: Any) -> None:
        codes[:] = -5

    monkeypatch.setattr(keys_module, "pack_texts", one_hash)
    state, of = JoinState([A, B]), roles((-5, 5))
    push(state, A, of, (1, "a long text", 1), (1, "another text", 2))
    found = push(state, B, of, (1, "another text", 3), (1, "a long text", 4), (1, "a third text", 5))
    assert pairs(found) == [(0, 1, 0), (0, 0, 1)]


def test_failures_of_keys_and_residuals_are_counted() -> None:
    number = Call("cast", (K,), t.LONG)
    quotient = Call("int_div", (Literal(7, t.LONG), Column("b.x", t.LONG)), t.LONG)
    of = roles((-5, 5), key=number, residual=Call("ge", (quotient, Column("a.x", t.LONG)), t.BOOLEAN))
    state = JoinState([A, B])
    step = state.step(A, batch((1, "1", 1), (1, "x", 1)), *NO_LINEAGE, of, now=0)
    assert taken(step) == []
    assert step.failures == {number: 1}
    step = state.step(B, batch((1, "1", 0), (1, "01", 7), (1, "1", 8)), *NO_LINEAGE, of, now=0)
    assert pairs(taken(step)) == [(0, 0, 1)]
    assert step.failures == {of.residuals[0].expression: 1}


def test_a_residual_that_breaks_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("no such thing")

    monkeypatch.setattr("eddyline.join.step.evaluate_shape", broken)
    more = Call("gt", (Column("b.x", t.LONG), Column("a.x", t.LONG)), t.BOOLEAN)
    of = roles((-5, 5), (-5, 5), residual=more)
    of.residual[4:] = -1
    state = JoinState([A, B])
    push(state, A, of, (1, "k", 1))
    step = state.step(B, batch((1, "k", 2)), *NO_LINEAGE, of, now=0)
    assert pairs(taken(step)) == [(3, 0, 0)]
    assert [(query, str(error)) for query, error in step.failed.items()] == [(0, "no such thing")]


def test_a_key_that_very_many_share_comes_in_parts(caplog: pytest.LogCaptureFixture) -> None:
    state, of = JoinState([A, B], settings=JoinSettings(max_pairs=10)), roles((-5, 5))
    push(state, A, of, *((1, "k", x) for x in range(30)))
    with caplog.at_level(logging.WARNING, "eddyline.join"):
        found = push(state, B, of, *((1, "k", x) for x in range(3)))
    assert [record.getMessage() for record in caplog.records] == [
        "3 rows find more than 10 pairs of joins; they are taken in parts"
    ]
    assert max(map(len, found)) <= 10
    assert pairs(found) == [(0, a, b) for b in range(3) for a in range(30)]


def test_a_batch_that_does_not_fit_is_refused_before_it_is_taken() -> None:
    state, of = JoinState([A, B], settings=JoinSettings(max_bytes=3_000)), roles((0, 5))
    push(state, A, of, *((time, "k", time) for time in range(20)))
    before = state.describe()
    with pytest.raises(EddylineError, match="more than max_bytes=3000") as caught:
        push(state, A, of, *((30, "k", 1) for _ in range(100)))
    assert caught.value.hint is not None and "folder" in caught.value.hint
    assert state.describe() == before
    push(state, B, of, (100, "k", 1))  # which lets the others go
    push(state, A, of, *((time, "k", time) for time in range(100, 120)))
    assert len(pairs(push(state, B, of, (101, "k", 1)))) == 2


def test_what_does_not_fit_goes_to_a_folder(tmp_path: Path) -> None:
    settings = JoinSettings(max_bytes=2_000, folder=str(tmp_path))
    state, of = JoinState([A, B], settings=settings), roles((0, 90))
    for time in range(50):
        push(state, A, of, *((time, "k", x) for x in range(10)))
    described = state.describe()
    assert described.bytes <= 2_000 < described.spilled
    assert described.stems[0].tuples == 500
    (part,) = push(state, B, of, (49, "k", 1))
    assert len(part) == 500
    assert part.columns(0, "a", ["x"])[0].to_pylist() == list(range(10)) * 50
    push(state, B, of, (500, "k", 1))
    assert state.describe().spilled == 0
    state.close()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_no_longer_be_written_to(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "folder"
    state = JoinState([A, B], settings=JoinSettings(max_bytes=500, folder=str(folder)))
    folder.rmdir()
    folder.write_text("")
    of = roles((0, 90))
    push(state, A, of, *((1, "k", x) for x in range(30)))  # this one is taken, and the next ones are not
    assert "tuples of joins stay in memory" in caplog.text
    with pytest.raises(EddylineError, match="no file for tuples of joins can be written"):
        push(state, A, of, (1, "k", 1))
    assert state.describe().sources[0].rows == 30


def test_streams_without_an_event_time_are_counted_only() -> None:
    plain = Stream("plain", SCHEMA)
    state = JoinState([plain])
    assert push(state, plain, roles((0, 5)), (1, "k", 1)) == []
    assert state.describe().sources[0].rows == 1


def test_empty_batches_change_nothing() -> None:
    state, of = JoinState([A, B]), roles((0, 5))
    assert taken(state.step(A, pa.RecordBatch.from_pylist([], schema=SCHEMA), *NO_LINEAGE, of, now=0)) == []
    assert state.describe().sources[0].rows == 0
