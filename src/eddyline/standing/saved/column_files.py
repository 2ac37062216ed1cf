"""Columns on disk: pages of a fixed number of rows, and the distinct values that they point to as pages of texts.

    rows            0 .. 16,383    16,384 .. 32,767    32,768 .. 40,000        a page for each, shared by versions
    destinations    None, "alerts", ...
    selections      SELECT lists                                               these only grow: what is new is written
    fallibles       lists of what can fail

A change of state or destination writes the pages again in which it changes something; a query that is added, the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.model.catalog import Stream
from eddyline.standing.rows.columns import KINDS, Array, Columns
from eddyline.standing.rows.distinct import Distinct
from eddyline.standing.rows.shared import SavedTexts, Shared
from eddyline.standing.saved.pages import MappedPages, Page, extend_pages, file_of, write_page
from eddyline.storage.storage import Storage

ROWS: Final = 16_384  # rows of a page
LISTS: Final = ("destinations", "selections", "fallibles")


@dataclass(frozen=True, slots=True)
class ColumnPages:
    """The pages in which `columns` lie, up to some row, and those of each kind of distinct values."""

    columns: Columns
    rows: tuple[Page, ...]
    lists: Mapping[str, tuple[Page, ...]]

    def described(self) -> dict[str, Any]:
        """What a manifest says of them."""
        lists = {name: [asdict(page) for page in pages] for name, pages in self.lists.items()}
        return {"given": self.columns.given, "rows": [asdict(page) for page in self.rows], **lists}


def save_columns(storage: Storage, columns: Columns, size: int, before: ColumnPages | None) -> ColumnPages:
    """Write what of the first `size` rows does not lie in the pages of a version before, of the same epoch."""
    rows = [
        _row_page(storage, columns, first, min(first + ROWS, size), before) for first in range(0, size, ROWS)
    ]
    lists = {
        name: _list_pages(
            storage, getattr(columns.shared, name), () if before is None else before.lists[name]
        )
        for name in LISTS
    }
    return ColumnPages(columns, tuple(rows), lists)


def _row_page(storage: Storage, columns: Columns, first: int, end: int, before: ColumnPages | None) -> Page:
    if before is not None and first // ROWS < len(before.rows):
        page = before.rows[first // ROWS]
        same = page.rows == end - first and _are_equal(before.columns, columns, first, end)
        if same and storage.exists(file_of(page.name)):
            return page
    return write_page(storage, pa.table({name: pa.array(columns[name][first:end]) for name in KINDS}))


def _are_equal(one: Columns, other: Columns, first: int, end: int) -> bool:
    """Whether rows are the same; in the same columns they are, since no cell is written twice."""
    return one is other or all(np.array_equal(one[name][first:end], other[name][first:end]) for name in KINDS)


def _list_pages(storage: Storage, distinct: Distinct[Any], before: Sequence[Page]) -> tuple[Page, ...]:
    def texts(first: int, end: int) -> pa.Table:
        return pa.table({"text": pa.array(distinct.texts(first, end), pa.string())})

    return extend_pages(storage, before, len(distinct), texts)


def open_columns(
    storage: Storage, described: Mapping[str, Any], streams: Mapping[str, Stream]
) -> ColumnPages:
    """The columns that a manifest describes; nothing of them is read yet."""
    rows = _pages(described["rows"])
    lists = {name: _pages(described[name]) for name in LISTS}
    mapped = MappedPages(storage, rows)

    def read(name: str) -> Array:
        pieces = [np.asarray(piece) for piece in mapped.column(name).chunks]
        return np.concatenate([np.empty(0, KINDS[name]), *pieces])

    shared = Shared.opened(streams, *[_saved_texts(storage, pages) for pages in lists.values()])
    columns = Columns.opened(shared, sum(page.rows for page in rows), described["given"], read)
    return ColumnPages(columns, rows, lists)


def _saved_texts(storage: Storage, pages: Sequence[Page]) -> SavedTexts:
    mapped = MappedPages(storage, pages)
    return sum(page.rows for page in pages), lambda: mapped.column("text")


def _pages(described: Sequence[Mapping[str, Any]]) -> tuple[Page, ...]:
    return tuple([Page(**page) for page in described])


def column_files(described: Mapping[str, Any]) -> list[str]:
    """The files that a manifest names in what it says of columns."""
    pages = [page for part in ("rows", *LISTS) for page in _pages(described[part])]
    return [file_of(page.name) for page in pages]
