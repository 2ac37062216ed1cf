"""Settings as frozen values, one for each stage, every option explained where it is declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Executor = Literal["auto", "sliced", "keyed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """How queries are compiled for matching. No setting changes a match, only what it costs."""

    executor: Executor = "auto"
    """Which executor serves a query: `auto` by measured cost; `sliced` always; `keyed` wherever a key exists."""

    min_keys: int = 360
    """With `auto`: how many distinct constants a subject needs to be used as a key (see `index/choose.py`)."""

    segment_size: int | None = None
    """At most so many queries go into one segment; None leaves it to the merging of segments."""


DEFAULT_INDEX: Final = IndexSettings()
