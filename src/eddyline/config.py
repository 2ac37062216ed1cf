"""Settings as frozen values, one for each stage, every option explained where it is declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Executor = Literal["auto", "sliced", "keyed", "rowwise"]
Direct = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """How queries are compiled for matching. No setting changes a match, only what it costs."""

    executor: Executor = "auto"
    """Which executor serves a query: `auto` by measured cost; `sliced` always; `keyed` wherever a key exists; `rowwise`
    every plain conjunction. What the last two cannot serve is sliced."""

    min_keys: int = 360
    """With `auto`: how many distinct constants a subject needs to be used as a key (see `index/choose.py`)."""

    rowwise_bytes: int = 32 << 20
    """With `auto`: how many bytes a segment may take to hold its plain conjunctions once more for batches of a few rows,
    row by row (see `index/rowwise.py`); 0 leaves these to the executor of large ones."""

    prefilter: Literal["auto", "off"] = "auto"
    """Whether rows outside of what every query of a segment asks for are left out first: `auto` where a few rows of the
    batch show that it pays; `off` never."""

    direct: Direct = "auto"
    """Which sliced conjunctions are compared without masks in between: `auto` those whose conditions few queries share
    (see `index/direct.py`); `always` all that can be."""

    segment_size: int | None = None
    """At most so many queries go into one segment; None leaves it to the merging of segments."""

    largest_merge: int | None = None
    """Segments of more queries are left alone when a new one takes in the small ones, so that no addition waits for the
    compilation of many; None merges whatever saves work in the long run."""


DEFAULT_INDEX: Final = IndexSettings()
