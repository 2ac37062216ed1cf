"""What goes with the queries of the newest version, in the driver: changed with the set, saved page by page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.expression import Expression
from eddyline.model.query import NormalQuery, Output
from eddyline.model.query_state import State
from eddyline.registry import Entry
from eddyline.runtime.spark.versions.deliverables import ROWS, Deliverables, encode_outputs
from eddyline.runtime.spark.versions.fallible import FallibleParts, encode_parts
from eddyline.runtime.spark.versions.lexicon import Lexicon
from eddyline.standing.pages import Page, file_of, write_page
from eddyline.storage.storage import Storage

COLUMNS: Final = {
    "revision": np.int32,
    "number": np.int64,
    "shadow": np.int8,
    "destination": np.int32,
    "projection": np.int32,
    "fallible": np.int32,
}
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Lists:
    """The distinct destinations, SELECT lists and lists of what can fail; they only grow, so that versions share them."""

    destinations: Lexicon = field(default_factory=Lexicon)
    projections: Lexicon = field(default_factory=Lexicon)
    fallibles: Lexicon = field(default_factory=Lexicon)
    _selected: dict[tuple[str, tuple[Output, ...]], int] = field(default_factory=dict)
    _failing: dict[tuple[str, tuple[Expression, ...]], int] = field(default_factory=dict)
    _parts: FallibleParts = field(default_factory=FallibleParts)

    def projection(self, query: NormalQuery) -> int:
        """The number of what a query selects."""
        key = (query.stream, query.outputs)
        found = self._selected.get(key)
        if found is None:
            found = self._selected[key] = self.projections.number(encode_outputs(*key))
        return found

    def fallible(self, query: NormalQuery) -> int:
        """The number of what can fail in a query's condition."""
        key = (query.stream, self._parts.of(query))
        found = self._failing.get(key)
        if found is None:
            found = self._failing[key] = self.fallibles.number(encode_parts(*key))
        return found


@dataclass(frozen=True, slots=True)
class Table:
    """A version's columns by query number, and the pages in which they are saved; None for those that changed."""

    lists: Lists = field(default_factory=Lists)
    columns: Arrays = field(default_factory=lambda: {n: np.empty(0, kind) for n, kind in COLUMNS.items()})
    pages: tuple[Page | None, ...] = ()

    @staticmethod
    def restored(saved: Deliverables, lists: Lists, pages: Sequence[Page]) -> Table:
        """The table of a version that is on disk."""
        columns = {name: np.array(getattr(saved, name), kind) for name, kind in COLUMNS.items()}
        return Table(lists, columns, tuple(pages))

    def __len__(self) -> int:
        return len(self.columns["revision"])

    def added(self, entries: Sequence[Entry], queries: Sequence[NormalQuery]) -> Table:
        """With the next numbers, given to these entries."""
        lists = self.lists
        fresh = {
            "revision": [entry.revision for entry in entries],
            "number": [entry.number for entry in entries],
            "shadow": [entry.state == State.SHADOW for entry in entries],
            "destination": [lists.destinations.number(entry.destination) for entry in entries],
            "projection": [lists.projection(query) for query in queries],
            "fallible": [lists.fallible(query) for query in queries],
        }
        columns = {
            name: np.concatenate([self.columns[name], np.array(fresh[name], kind)])
            for name, kind in COLUMNS.items()
        }
        size = len(columns["revision"])
        pages = (*self.pages, *[None] * (-(-size // ROWS) - len(self.pages)))
        return replace(self, columns=columns, pages=_touched(pages, range(len(self) // ROWS, len(pages))))

    def changed(self, changes: Iterable[tuple[int, Entry]]) -> Table:
        """With other states and destinations of some numbers."""
        shadow, destination = self.columns["shadow"].copy(), self.columns["destination"].copy()
        places = set()
        for number, entry in changes:
            shadow[number] = entry.state == State.SHADOW
            destination[number] = self.lists.destinations.number(entry.destination)
            places.add(number // ROWS)
        columns = {**self.columns, "shadow": shadow, "destination": destination}
        return replace(self, columns=columns, pages=_touched(self.pages, places))

    def save(self, storage: Storage) -> tuple[Table, dict[str, Any]]:
        """Write the pages that changed; the table with all its pages, and what the manifest says of them."""
        pages: list[Page] = []
        for place, page in enumerate(self.pages):
            if page is None or not storage.exists(file_of(page.name)):
                page = write_page(storage, self._rows(place * ROWS, (place + 1) * ROWS))
            pages.append(page)
        notes: dict[str, Any] = {
            "table": [(page.name, page.rows) for page in pages],
            "destinations": self.lists.destinations.save(storage),
            "projections": self.lists.projections.save(storage),
            "fallibles": self.lists.fallibles.save(storage),
        }
        notes["pages"] = [name for kind in list(notes.values()) for name, _ in kind]
        return replace(self, pages=tuple(pages)), notes

    def _rows(self, first: int, end: int) -> pa.Table:
        return pa.table({name: pa.array(values[first:end]) for name, values in self.columns.items()})


def _touched(pages: Sequence[Page | None], places: Iterable[int]) -> tuple[Page | None, ...]:
    touched = set(places)
    return tuple([None if place in touched else page for place, page in enumerate(pages)])
