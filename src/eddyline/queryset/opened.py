"""Saved sets of both forms, opened: in a folder of its own, or a version in a folder that several share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eddyline.config import IndexSettings
from eddyline.execute.placed import Placed
from eddyline.model.book import Book
from eddyline.model.catalog import Stream
from eddyline.queryset import shared, store


@dataclass(frozen=True, slots=True)
class Opened:
    """All that a set consists of; `pages` says in which shared folder its queries lie already."""

    streams: list[Stream]
    time_zone: str
    version: int
    settings: IndexSettings
    book: Book
    segments: tuple[Placed, ...]
    pages: Mapping[str, tuple[shared.Page, ...]]


def opened(folder: Path, *, verify: bool) -> Opened:
    """Open what was saved in a folder, or raise a `FileError`."""
    if shared.is_shared(folder):
        version = shared.load(folder, verify=verify)
        pages = {str(folder.parent.parent): version.pages}
        return _opened(version, pages)
    return _opened(store.load(folder, verify=verify), {})


def _opened(saved: store.Saved | shared.Shared, pages: Mapping[str, tuple[shared.Page, ...]]) -> Opened:
    return Opened(
        saved.streams, saved.time_zone, saved.version, saved.settings, saved.book, saved.segments, pages
    )
