"""What an engine keeps for joins, told in words and moments of event time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eddyline.join.described import SourceDescription, StateDescription, StemDescription
from eddyline.model.catalog import Stream
from eddyline.model.event_time import EventTime, Moment, length_text, moment_of
from eddyline.sql.render import render


@dataclass(frozen=True, slots=True)
class KeptTuples:
    """The tuples of one stream that are kept by one key, for all joins that use it (CACQ's SteM).

    bytes, spilled   in memory and in files, without columns
    kept_for         how long partners may come after a tuple; None if no join wants it any more
    """

    stream: str
    key: str
    tuples: int
    segments: int
    bytes: int
    spilled: int
    kept_for: str | None

    def __str__(self) -> str:
        kept = "no join needs them any more" if self.kept_for is None else f"partners within {self.kept_for}"
        files = f", {self.spilled:,} bytes in files" if self.spilled else ""
        segments = "1 segment" if self.segments == 1 else f"{self.segments} segments"
        return f"by {self.key}: {self.tuples:,} tuples in {segments}, {self.bytes:,} bytes{files}; {kept}"


@dataclass(frozen=True, slots=True)
class JoinedStreamReport:
    """How far one stream has come.

    watermark       tuples from before it are late; None as long as none can be
    complete_from   pairs of tuples from then on miss no partner that came before the engine was made; None: not known yet
    left_out        tuples that joins could not take, by reason
    bytes, spilled  columns that are kept, in memory and in files
    """

    stream: str
    rows: int
    watermark: Moment | None
    complete_from: Moment | None
    left_out: Mapping[str, int]
    bytes: int
    spilled: int

    def __str__(self) -> str:
        parts = [f"{self.rows:,} rows", f"watermark {_shown(self.watermark)}"]
        if self.complete_from is not None:
            parts.append(f"joins complete from {_shown(self.complete_from)}")
        parts += [f"{count:,} left out: {reason}" for reason, count in self.left_out.items()]
        parts.append(f"{self.bytes:,} bytes of columns")
        if self.spilled:
            parts.append(f"{self.spilled:,} bytes in files")
        return f"stream {self.stream}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class JoinReport:
    """All streams that are joined, and the tuples that are kept of them; `print` shows it."""

    streams: tuple[JoinedStreamReport, ...]
    kept: tuple[KeptTuples, ...]

    @property
    def tuples(self) -> int:
        """Tuples kept, each as often as there are keys that it is kept by."""
        return sum(each.tuples for each in self.kept)

    @property
    def bytes(self) -> int:
        """Bytes in memory."""
        return sum(each.bytes for each in self.streams) + sum(each.bytes for each in self.kept)

    @property
    def spilled(self) -> int:
        """Bytes in files."""
        return sum(each.spilled for each in self.streams) + sum(each.spilled for each in self.kept)

    def __str__(self) -> str:
        lines = []
        for stream in self.streams:
            lines.append(str(stream))
            lines += [f"  {each}" for each in self.kept if each.stream == stream.stream]
        return "\n".join(lines) or "nothing is kept: no join has seen a tuple yet"


def report(state: StateDescription, streams: Iterable[Stream]) -> JoinReport:
    """A state in words."""
    times = {stream.name: stream.times for stream in streams if stream.times is not None}
    known = [source for source in state.sources if source.stream in times]
    return JoinReport(
        tuple([_of_stream(source, times[source.stream], state.stems) for source in known]),
        tuple([_of_stem(stem, times[stem.key.stream]) for stem in state.stems if stem.key.stream in times]),
    )


def _of_stream(
    source: SourceDescription, times: EventTime, stems: Iterable[StemDescription]
) -> JoinedStreamReport:
    widest = [
        max(abs(stem.low), abs(stem.high))
        for stem in stems
        if stem.key.stream == source.stream and stem.low is not None and stem.high is not None
    ]
    complete = None
    if source.first is not None and widest:
        complete = source.first + (times.lateness or 0) + max(widest)
    return JoinedStreamReport(
        source.stream,
        source.rows,
        moment_of(source.watermark, times.type),
        moment_of(complete, times.type),
        source.left_out,
        source.bytes,
        source.spilled,
    )


def _of_stem(stem: StemDescription, times: EventTime) -> KeptTuples:
    kept_for = None
    if stem.low is not None and stem.high is not None:
        # a bound is the stored tuple's time less the other's: partners that are later by up to -low may still come
        kept_for = length_text(max(0, -stem.low), times.type)
    key = ", ".join(render(expression) for expression in stem.key.expressions)
    return KeptTuples(stem.key.stream, key, stem.tuples, stem.segments, stem.bytes, stem.spilled, kept_for)


def _shown(moment: Moment | None) -> str:
    return "none yet" if moment is None else str(moment)
