"""What a join stage says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eddyline.model.roles import StemKey


@dataclass(frozen=True, slots=True)
class StemDescription:
    """The tuples of one stream that are kept by one key.

    bytes, spilled      in memory and in files, without payload
    low, high           widest bounds of its tuples' times less those of partners; None if no join needs them any more
    """

    key: StemKey
    tuples: int
    segments: int
    bytes: int
    spilled: int
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class SourceDescription:
    """One stream.

    rows            that have come
    first           event time of the first tuple that was not left out; what came before is not known
    watermark       the least event time of rows to come, in the unit of the event time; None if that can be any
    left_out        rows that were left out of joins, by reason
    bytes, spilled  payload in memory and in files
    """

    stream: str
    rows: int
    first: int | None
    watermark: int | None
    left_out: Mapping[str, int]
    bytes: int
    spilled: int


@dataclass(frozen=True, slots=True)
class StateDescription:
    """All SteMs and streams of a join stage."""

    stems: tuple[StemDescription, ...]
    sources: tuple[SourceDescription, ...]

    @property
    def bytes(self) -> int:
        """Bytes in memory."""
        return sum(stem.bytes for stem in self.stems) + sum(source.bytes for source in self.sources)

    @property
    def spilled(self) -> int:
        """Bytes in files."""
        return sum(stem.spilled for stem in self.stems) + sum(source.spilled for source in self.sources)
