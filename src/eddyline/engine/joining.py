"""Joins of an engine: what its pushes have left for the partners that are to come, and the next step of it.

    push ─► rows that may be joined ─► pairs with what was kept ─► results ─► log and ledger ─► kept themselves

A step changes nothing until it is taken over: a push that fails on its way leaves the joins as they were.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime

import pyarrow as pa

from eddyline.config import JoinSettings
from eddyline.errors import EddylineError, SchemaError
from eddyline.execute.reading.batch import ColumnReader, Columns
from eddyline.join.partners import LeftOut
from eddyline.join.state import JoinState
from eddyline.join.step import Step
from eddyline.model.catalog import Stream
from eddyline.model.event_time import EPOCH, MICROSECOND, Moment, units_of
from eddyline.model.matches import Matches
from eddyline.model.names import short_repr
from eddyline.standing.join_reading import JoinReading
from eddyline.standing.standing import Change, Moved
from eddyline.standing.version import Version

log = logging.getLogger("eddyline.join")


class Joining:
    """Holds what is kept for joins; one push at a time uses it."""

    def __init__(
        self, settings: JoinSettings, time_zone: str, clock: Callable[[], datetime], *, starts_anew: bool
    ) -> None:
        """`starts_anew`: an engine before this one has taken tuples, which are not known any more."""
        self._starts_anew = starts_anew
        self.state = JoinState(time_zone=time_zone, settings=settings)
        self._clock = clock
        self._moves: deque[Moved] = deque()
        self._streams: dict[str, Stream] = {}
        self._readings: tuple[Version | None, dict[str, JoinReading]] = None, {}

    def note(self, event: Change | Moved) -> None:
        """Hear of rows that have moved; entered before the next step that sees them."""
        if isinstance(event, Moved):
            self._moves.append(event)

    def step(
        self, version: Version, stream: Stream, batch: pa.RecordBatch | pa.Table, matches: Matches
    ) -> Step | None:
        """What a batch comes to with joins, to be taken over when all else of the push is done."""
        self.follow(version)
        if stream.times is None or stream.times.lateness is None:
            return None  # no join can read it
        roles, reading = version.roles, self._reading(version, stream)
        if roles is None or not reading:
            self._observe(stream, batch)
            return None
        if self._starts_anew:
            self._starts_anew = False
            log.warning(
                "joins start empty: tuples from before the restart are lost; "
                "engine.state() tells from which event time on joins are complete"
            )
        columns, _ = reading.read(batch)
        row, role = matches.pairs_among(roles.alive)
        return self.state.step(stream, columns, row, role, roles, self._now())

    def advance(self, stream: Stream, to: Moment) -> None:
        """Have a stream wait no longer for tuples from before a moment."""
        if stream.times is None:
            raise SchemaError(
                f'stream "{stream.name}" has no event time',
                hint='Stream(..., event_time="ts", lateness="10 seconds")',
            )
        self.state.advance(stream, units_of(to, stream.times, stream.name))

    def _reading(self, version: Version, stream: Stream) -> JoinReading:
        known, readings = self._readings
        if known is not version:
            readings = {}
            self._readings = version, readings
        if stream.name not in readings:
            readings[stream.name] = JoinReading(version, stream)
        return readings[stream.name]

    def _observe(self, stream: Stream, batch: pa.RecordBatch | pa.Table) -> None:
        """Nobody joins the stream now, but what came before decides which tuples are late."""
        assert stream.event_time is not None, "it has a lateness"
        if stream.event_time.lower() in [name.lower() for name in batch.schema.names]:
            columns, _ = ColumnReader(stream, [stream.event_time]).read(batch)
            self.state.observe(stream, columns[stream.event_time], self._now())

    def left_out(self, stream: Stream, row: Columns) -> LeftOut | None:
        """Why a tuple would be left out if it came now; None if it would not."""
        return self.state.left_out(stream, row, self._now())

    def follow(self, version: Version) -> None:
        """Enter rows that have moved, and forget tuples of joins that are gone and of streams that are declared otherwise."""
        while self._moves and self._moves[0].epoch <= version.epoch:
            moved = self._moves.popleft()
            self.state.moved(moved.epoch, moved.rows)
        for stream in version.compiler.streams:
            before = self._streams.get(stream.name)
            if before is not None and before != stream:
                lost = self.state.forget(stream.name)
                log.warning(
                    'stream "%s" was redeclared: %d tuples that were kept for joins are dropped',
                    stream.name,
                    lost,
                )
            self._streams[stream.name] = stream
        if version.roles is not None:
            self.state.follow(version.roles)

    def _now(self) -> int:
        """The clock, in microseconds since 1970."""
        now: object = self._clock()
        if not isinstance(now, datetime) or now.tzinfo is None:
            raise EddylineError(
                f"the clock of the engine shows {short_repr(now)}",
                hint="give a function that returns a datetime with a time zone, such as datetime.now(UTC)",
            )
        return (now - EPOCH) // MICROSECOND
