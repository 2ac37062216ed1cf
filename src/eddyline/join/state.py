"""The state of a set's joins: what is kept of streams, and the step by which a batch is joined with it.

batch ─► watermark ─► keys, lineages ─► a segment for each SteM ─► probes ─► keys by value, residuals ─► pairs
                                               │                    ▲
                                               └── appended last ───┴── SteMs of the partners, payload
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.config import DEFAULT_JOINS, JoinSettings
from eddyline.errors import PASSED_ON, EddylineError, FileError, SchemaError
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.evaluation import Batch
from eddyline.functions.zones import find_zone
from eddyline.join.described import SourceDescription, StateDescription, StemDescription
from eddyline.join.joined import Held
from eddyline.join.keys import Codes, hashed, keys_of, keys_of_some, may_be_hashed
from eddyline.join.links import Links, owned
from eddyline.join.partners import NO_PARTNERS, LeftOut, Partners, Row, Search, left_out
from eddyline.join.payload import BatchColumns, Chunk, PayloadStore, chunk_of
from eddyline.join.probe import Prober, log, passes_of
from eddyline.join.residual import Shapes
from eddyline.join.segment import Segment, Tuples, segment_of
from eddyline.join.spill import Folder
from eddyline.join.stem import Stem
from eddyline.join.step import Checks, NewTuples, Step
from eddyline.join.watermark import Judged, Watermark, clock_of, judge
from eddyline.kernels.join import lists_of_stem
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column, Expression, columns_of
from eddyline.model.roles import Roles, StemKey

FEW_ROWS: Final = 4  # one in so many rows has a role: then the others' keys are not worth computing


@dataclass(slots=True)
class _Source:
    """What is known of one stream; `end` is the position of its next row, `first` the event time of its first tuple."""

    stream: Stream
    watermark: Watermark | None
    end: int = 0
    first: int | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    payload: PayloadStore = field(default_factory=PayloadStore)


class JoinState:
    """Tuples of the streams of a set's joins, for as long as partners may come; one step after the other.

    `complete`: the streams are whole tables. Then nothing is late or ahead of a clock, and only `advance` tells what can be
    forgotten.
    """

    def __init__(
        self,
        streams: Iterable[Stream] = (),
        *,
        time_zone: str = "UTC",
        settings: JoinSettings = DEFAULT_JOINS,
        complete: bool = False,
    ) -> None:
        zone = find_zone(time_zone)
        assert zone is not None, f"the time zone {time_zone} was checked where it came in"
        self._zone = zone
        self._time_zone = time_zone
        self._settings = settings
        self._folder = None if settings.folder is None else Folder(Path(settings.folder))
        if self._folder is not None:
            self._folder.check()
        self._is_complete = complete
        self._sources: dict[str, _Source] = {}
        self._stems: dict[StemKey, Stem] = {}
        self._numbered: list[Stem] = []
        self._links = Links()
        self._shapes = Shapes()
        self._prober = Prober(settings.max_pairs, logging.DEBUG if complete else logging.WARNING)
        for stream in streams:
            self._source(stream)

    def step(
        self, stream: Stream, batch: Batch, row: Integers, role: Integers, roles: Roles, now: int
    ) -> Step:
        """Join a batch with what came before it; the state takes it when the step is taken over.

        row, role   lineages, by row: roles that are alive and not free
        now         microseconds since 1970 in UTC
        """
        source = self._source(stream)
        self.follow(roles)
        new = self._new_tuples(source, batch, row, role, roles, now)
        self._check_size(source, new)
        held = self._held(source, new, batch)
        links = self._links.probing(list(new.segments))
        passes = passes_of(links, new.segments, [stem.segments for stem in self._numbered])
        found = self._prober.parts(passes, self._links, new.base, new.rows)
        checks = Checks(new, roles, self._shapes, held, self._time_zone)
        self._count_failures(new, roles, checks.failures)
        return Step(new, found, checks, held, lambda: self._take(source, new))

    def follow(self, roles: Roles) -> None:
        """Know the SteMs and links of a version, and forget what only joins that are gone have asked for."""
        if len(self._numbered) < len(roles.stems) or len(self._numbered) < len(self._stems):
            self._number(roles.stems)
        ends = {name: source.end for name, source in self._sources.items()}
        if self._links.update(roles, ends):
            self._purge(range(len(self._numbered)))

    def moved(self, epoch: int, rows: Integers) -> None:
        """Roles are known by other dense ids from now on, rows[old] each; those of which that is -1 are gone."""
        for stem in self._stems.values():
            stem.move(rows)
        self._links = self._links.moved(epoch, rows)
        self._shapes = Shapes()
        self._numbered = []

    def advance(self, stream: Stream, to: int) -> None:
        """Tell that no tuple of a stream is to be expected whose event time is below this; one that comes is late."""
        source = self._source(stream)
        if source.watermark is None:
            raise SchemaError(
                f'stream "{stream.name}" has no event time',
                hint='Stream(..., event_time="ts", lateness="10 seconds")',
            )
        source.watermark = source.watermark.advanced(to)
        self._purge(self._waiting_for(stream.name))

    def observe(self, stream: Stream, times: pa.Array | pa.ChunkedArray, now: int) -> None:
        """Note the event times of tuples that no join reads: they decide which later ones are late."""
        source = self._source(stream)
        if source.watermark is not None:
            evaluation = Evaluation({source.watermark.times.column: times}, time_zone=self._time_zone)
            source.watermark = self._judged(source.watermark, evaluation, now).watermark

    def forget(self, stream: str) -> int:
        """Drop all that is kept of a stream, which was redeclared; gives how many tuples that were."""
        stems = [stem for stem in self._stems.values() if stem.key.stream == stream]
        self._sources.pop(stream, None)
        self._stems = {key: stem for key, stem in self._stems.items() if key.stream != stream}
        self._numbered = []
        return sum(map(len, stems))

    def left_out(self, stream: Stream, row: Batch, now: int) -> LeftOut | None:
        """Why a tuple, the only row of a batch, would be left out of joins if it came now; None if it would not."""
        watermark = self._source(stream).watermark
        assert watermark is not None, "it is joined"
        return left_out(watermark, Evaluation(row, time_zone=self._time_zone, rows=1), now, self._zone)

    def partners(self, stream: Stream, row: Row, role: int, roles: Roles) -> Partners:
        """The partners that a tuple with an event time would find in one of its stream's roles if it came now."""
        self.follow(roles)
        partner = int(roles.partner[role])
        stem = self._numbered[int(roles.stem[partner])]
        theirs = self._sources.get(stem.key.stream)
        if theirs is None or not stem.segments:
            return NO_PARTNERS
        assert stream.times is not None, "it is joined"
        times = Column(stream.times.column, stream.times.type)
        held = Held(theirs.stream, list(theirs.payload.chunks))
        arrived = int(self._links.arrived[partner])
        return Search(row, role, roles, arrived, times, held, self._time_zone).partners(stem.segments)

    def describe(self) -> StateDescription:
        """What is kept, and how much room it takes."""
        return StateDescription(
            tuple(self._described(number) for number in range(len(self._numbered))),
            tuple(
                SourceDescription(
                    name,
                    source.end,
                    source.first,
                    self._watermark(name),
                    dict(source.left_out),
                    source.payload.nbytes,
                    source.payload.spilled,
                )
                for name, source in self._sources.items()
            ),
        )

    def close(self) -> None:
        """Forget everything; files are gone."""
        self._stems, self._numbered, self._links = {}, [], Links()
        self._sources.clear()

    # -- before a step

    def _number(self, keys: Sequence[StemKey]) -> None:
        """Know SteMs by the numbers of a version; those that it does not have are gone, with their tuples."""
        for key in keys[len(self._numbered) :]:
            self._numbered.append(self._stems.get(key) or Stem(key))
        before, self._stems = self._stems, {stem.key: stem for stem in self._numbered}
        for stream in {key.stream for key in before.keys() - self._stems.keys()} & self._sources.keys():
            self._purge_columns(self._sources[stream])

    def _source(self, stream: Stream) -> _Source:
        source = self._sources.get(stream.name)
        if source is None:
            watermark = None if stream.times is None else Watermark(stream.times)
            source = self._sources[stream.name] = _Source(stream, watermark)
        return source

    def _new_tuples(
        self, source: _Source, batch: Batch, row: Integers, role: Integers, roles: Roles, now: int
    ) -> NewTuples:
        stream, rows = source.stream, _rows(batch)
        evaluation = Evaluation(batch, time_zone=self._time_zone, rows=rows)
        new = NewTuples(stream, source.end, rows, evaluation)
        if source.watermark is None or not rows:
            return new
        new.judged = self._judged(source.watermark, evaluation, now)
        lineages = owned(row, np.int32), owned(role, np.int32)
        stem_of = owned(roles.stem, np.int32)
        kept: list[Codes] = []
        wanted = _distinct(lineages[0])
        for number in self._links.stems:
            if roles.stems[number].stream == stream.name and self._find_keys(new, number, roles, wanted):
                found = self._tuples(new, number, *lineages, stem_of)
                if len(found):
                    new.segments[number] = segment_of(found)
                    kept.append(found.positions)
        if kept:
            positions = kept[0] if len(kept) == 1 else np.unique(np.concatenate(kept))
            columns = BatchColumns(stream, batch, evaluation)
            names = _kept_columns(roles, new, positions - new.base)
            places = pa.array(positions - new.base)
            taken = {name: columns[name].take(places) for name in names}
            # even without columns: whoever has a position looks for the chunk that it is in
            new.chunk = chunk_of(taken, positions)
        return new

    def _find_keys(self, new: NewTuples, number: int, roles: Roles, wanted: Integers) -> bool:
        """The keys of a SteM's rows; `wanted` are those that have any role."""
        key = roles.stems[number]
        try:
            if self._links.keeps_all(number) or len(wanted) * FEW_ROWS > new.rows:
                new.keys[number] = keys_of(key, new.evaluation, new.rows)
            else:
                new.keys[number] = keys_of_some(key, new.evaluation, new.rows, wanted)
        except PASSED_ON:
            raise
        except Exception as error:  # whatever one key does, the joins by others go on
            queries = roles.query[self._links.roles(number)]
            new.failed.update(dict.fromkeys(queries.tolist(), error))
            return False
        return True

    def _judged(self, watermark: Watermark, evaluation: Evaluation, now: int) -> Judged:
        column = evaluation.values(Column(watermark.times.column, watermark.times.type))
        clock = None if self._is_complete else clock_of(watermark.times, now, self._zone)
        return judge(watermark, column, clock)

    def _tuples(
        self, new: NewTuples, number: int, row: Integers, role: Integers, stem_of: Integers
    ) -> Tuples:
        """The rows that a SteM keeps, with their lineages."""
        judged, keys = new.judged, new.keys[number]
        assert judged is not None, "rows without a time have no keys"
        usable = judged.kept if keys.valid is None else judged.kept & keys.valid
        keeps_all = self._links.keeps_all(number)
        room = 1 + (new.rows if keeps_all else len(role))
        kept, begins, ends = (np.empty(room, np.int32) for _ in range(3))
        lists = np.empty(len(role) + 1, np.int32)
        count, filled = lists_of_stem(
            row, role, stem_of, number, usable, keeps_all, kept, begins, ends, lists
        )
        kept = kept[:count]
        return Tuples(
            keys.codes[kept],
            judged.times[kept],
            kept + np.int64(new.base),
            begins[:count],
            ends[:count],
            lists[:filled],
        )

    def _count_failures(self, new: NewTuples, roles: Roles, failures: dict[Expression, int]) -> None:
        keys = [e for number in new.keys for e in roles.stems[number].expressions]
        counts = {e: 0 for e in keys if not isinstance(e, Column)}  # reading a column does not fail
        new.evaluation.add_failures(counts)
        failures.update({expression: count for expression, count in counts.items() if count})

    def _held(self, source: _Source, new: NewTuples, batch: Batch) -> dict[str, Held]:
        held = {}
        for name, each in self._sources.items():
            chunks = list(each.payload.chunks)
            if each is source and new.rows:
                columns = BatchColumns(source.stream, batch, new.evaluation)
                chunks.append(Chunk(new.base, new.rows, None, columns))
            held[name] = Held(each.stream, chunks)
        return held

    # -- after a step

    def _take(self, source: _Source, new: NewTuples) -> None:
        """Take the tuples of a step in; nothing that is done here fails but for want of memory or disk."""
        assert source.end == new.base, "steps are taken one after the other"
        source.end = new.base + new.rows
        source.left_out.update(new.left_out)
        if new.judged is not None:
            source.watermark = new.judged.watermark
            if source.first is None and new.judged.kept.any():
                source.first = int(new.judged.times[np.argmax(new.judged.kept)])
        # after the watermark, which decides how long tuples are kept
        for number, segment in new.segments.items():
            least = self._least(number)
            longest = None if least is None or source.watermark is None else source.watermark.highest - least
            self._numbered[number].append(segment, least, longest, self._links.keeps_all(number))
        # after the SteMs, or else columns that only the new tuples refer to could be forgotten in a merge
        if new.chunk is not None:
            source.payload.append(source.stream, new.chunk, partial(self._referenced, source))
        self._purge(self._waiting_for(source.stream.name))
        # where its partners are far ahead, SteMs have kept nothing of the new tuples
        self._purge_columns(source)
        try:
            self._spill()
        except FileError as error:  # the step is taken; the next one tries again before it is
            log.warning("tuples of joins stay in memory: %s", error)

    def _referenced(self, source: _Source, first: int, last: int) -> Codes:
        """Positions within two that some SteM of a stream still has."""
        near = [
            segment.tuples.positions
            for segment in self._segments(source.stream.name)
            if segment.positions[0] <= last and segment.positions[1] >= first
        ]
        found = np.unique(np.concatenate([np.empty(0, np.int64), *near]))
        return found[(found >= first) & (found <= last)]

    def _segments(self, stream: str) -> list[Segment]:
        stems = [stem for stem in self._numbered if stem.key.stream == stream]
        return [segment for stem in stems for segment in stem.segments]

    def _least(self, number: int) -> int | None:
        """The least time of a SteM's tuples that partners may still come for; None if that can be any."""
        found = []
        for link in self._links.storing(number):
            watermark = self._watermark(self._numbered[link.probing].key.stream)
            if watermark is None:
                return None
            found.append(watermark + link.low)
        return min(found, default=None)

    def _watermark(self, stream: str) -> int | None:
        source = self._sources.get(stream)
        if source is None or source.watermark is None:
            return None
        return source.watermark.value(self._is_complete)

    def _waiting_for(self, stream: str) -> set[int]:
        """The SteMs that tuples of a stream probe."""
        own = [number for number, stem in enumerate(self._numbered) if stem.key.stream == stream]
        return {link.stored for link in self._links.probing(own)}

    def _purge(self, stems: Iterable[int]) -> None:
        """Forget what no partner can come for any more."""
        streams = set()
        for number in stems:
            stem = self._numbered[number]
            before = len(stem.segments)
            if self._links.storing(number):
                stem.purge(self._least(number))
            else:
                stem.segments = []
            if len(stem.segments) < before:
                streams.add(stem.key.stream)
        for name in streams:
            self._purge_columns(self._sources[name])

    def _purge_columns(self, source: _Source) -> None:
        """Forget columns of tuples that no SteM has any more."""
        segments = self._segments(source.stream.name)
        source.payload.purge(min((segment.positions[0] for segment in segments), default=None))
        tuples = sum(map(len, segments))
        source.payload.compact(source.stream, partial(self._referenced, source), tuples)

    # -- limits

    def _check_size(self, source: _Source, new: NewTuples) -> None:
        """Refuse a step that would leave more in memory than is allowed, where nothing can go to a file."""
        most = self._settings.max_bytes
        self._spill()
        if most is None or self._folder is not None:
            return
        added = sum(segment.nbytes for segment in new.segments.values())
        added += 0 if new.chunk is None else new.chunk.nbytes
        size = self._nbytes() + added - self._freed_by(source, new)
        if size > most:
            raise EddylineError(
                f"what joins keep of their streams would take {size} bytes with this batch of "
                f'"{source.stream.name}", more than max_bytes={most}',
                hint="give JoinSettings a folder or a higher max_bytes, or joins narrower windows",
            )

    def _freed_by(self, source: _Source, new: NewTuples) -> int:
        """Bytes in memory that can be forgotten once a step is taken."""
        before, gone = source.watermark, set()
        try:
            source.watermark = before if new.judged is None else new.judged.watermark
            for number in self._waiting_for(source.stream.name):
                stem = self._numbered[number]
                gone.update(set(stem.segments) - set(stem.staying(self._least(number))))
        finally:
            source.watermark = before
        freed = sum(segment.nbytes for segment in gone if not segment.is_spilled)
        for name, each in self._sources.items():
            staying = [segment for segment in self._segments(name) if segment not in gone]
            oldest = min((segment.positions[0] for segment in staying), default=None)
            freed += each.payload.purgeable(oldest)
        return freed

    def _spill(self) -> None:
        """Put the oldest tuples into files until the others fit."""
        most, folder = self._settings.max_bytes, self._folder
        if most is None or folder is None or self._nbytes() <= most:
            return
        excess = self._nbytes() - most
        for _, owner, place in sorted(self._spillable(), key=lambda found: found[0]):
            if excess <= 0:
                return
            before = owner.nbytes
            owner.spill(place, folder)
            excess -= before - owner.nbytes

    def _spillable(self) -> Iterator[tuple[int, Stem | PayloadStore, int]]:
        """What is in memory: how long ago the last tuple of it came, in rows of its stream below 0; whose it is, and where."""
        for stem in self._numbered:
            end = self._sources[stem.key.stream].end if stem.segments else 0
            for place, segment in enumerate(stem.segments):
                if not segment.is_spilled:
                    yield segment.positions[1] - end, stem, place
        for source in self._sources.values():
            for place, chunk in enumerate(source.payload.chunks):
                if not chunk.is_spilled:
                    yield chunk.last - source.end, source.payload, place

    def _nbytes(self) -> int:
        stems = sum(stem.nbytes for stem in self._numbered)
        return stems + sum(source.payload.nbytes for source in self._sources.values())

    def _described(self, number: int) -> StemDescription:
        stem, links = self._numbered[number], self._links.storing(number)
        return StemDescription(
            stem.key,
            len(stem),
            len(stem.segments),
            stem.nbytes,
            stem.spilled,
            min((link.low for link in links), default=None),
            max((link.high for link in links), default=None),
        )


def _distinct(ascending: Integers) -> Integers:
    return ascending[np.append(True, ascending[1:] != ascending[:-1])] if len(ascending) else ascending


def _rows(batch: Batch) -> int:
    if isinstance(batch, pa.RecordBatch | pa.Table):
        return int(batch.num_rows)
    return max((len(column) for column in batch.values()), default=0)


def _kept_columns(roles: Roles, new: NewTuples, rows: Integers) -> dict[str, None]:
    """The columns that are kept: payload, and what keys are computed from where their codes do not say everything."""
    names = dict.fromkeys(roles.payload.get(new.stream.name, ()))
    for number, keys in new.keys.items():
        key = roles.stems[number]
        if may_be_hashed(key) and hashed(key, keys.codes[rows]).any():
            names.update(dict.fromkeys(name for e in key.expressions for name in sorted(columns_of(e))))
    return names
