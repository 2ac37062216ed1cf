"""Columns of many rows as files: pages of consecutive rows, named by their content, so that versions share them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyarrow as pa

from eddyline.errors import FileError
from eddyline.storage.storage import Bytes, Storage, content_name

LARGEST_PAGE: Final = 65_536  # rows of a page that takes in smaller ones
HINT: Final = "save the query set again"


@dataclass(frozen=True, slots=True)
class Page:
    """A file with some consecutive rows."""

    name: str
    rows: int


def file_of(page: str) -> str:
    """Where a page of a name lies."""
    return f"pages/{page}"


def write_page(storage: Storage, table: pa.Table) -> Page:
    """Write rows."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    content = sink.getvalue().to_pybytes()
    page = Page(content_name(content), table.num_rows)
    storage.put(file_of(page.name), content)  # over one of that name too, which may be damaged
    return page


def open_page(storage: Storage, name: str) -> pa.Table:
    """The rows of a page; they stay on disk until they are used, and can be used even if the page is deleted."""
    return _read(storage, name, _mapped(storage, name))


def _mapped(storage: Storage, name: str) -> Bytes:
    try:
        return storage.map(file_of(name))
    except OSError as error:
        raise _unreadable(storage, name, error) from error


def _read(storage: Storage, name: str, content: Bytes) -> pa.Table:
    try:
        return pa.ipc.open_file(pa.py_buffer(content)).read_all()
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(storage, name, error) from error


def _unreadable(storage: Storage, name: str, error: Exception) -> FileError:
    return FileError(f"page {name} in {storage} cannot be read: {error}", hint=HINT)


class MappedPages:
    """Consecutive pages that are read when a column is first asked for.

    They are mapped at once: a version that is open stays usable when its pages are deleted.
    """

    def __init__(self, storage: Storage, pages: Sequence[Page]) -> None:
        self._storage = storage
        self._contents = [(page.name, _mapped(storage, page.name)) for page in pages]

    @cached_property
    def _tables(self) -> list[pa.Table]:
        return [_read(self._storage, name, content) for name, content in self._contents]

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of all of them."""
        return joined(self._tables, name)


def extend_pages(
    storage: Storage, pages: Sequence[Page], size: int, rows: Callable[[int, int], pa.Table]
) -> tuple[Page, ...]:
    """Pages up to a size; a new one takes in those before it that are not much larger, so that they stay few."""
    kept = list(pages) if all(storage.exists(file_of(page.name)) for page in pages) else []
    first = sum(page.rows for page in kept)
    if first == size:
        return tuple(kept)
    while kept and kept[-1].rows <= 2 * (size - first) and kept[-1].rows < LARGEST_PAGE:
        first -= kept.pop().rows
    for start in range(first, size, LARGEST_PAGE):
        kept.append(write_page(storage, rows(start, min(start + LARGEST_PAGE, size))))
    return tuple(kept)


def joined(tables: Sequence[pa.Table], name: str) -> pa.ChunkedArray:
    """A column of several pages, in pieces."""
    pieces = [piece for table in tables for piece in table[name].chunks]
    return pa.chunked_array(pieces, pieces[0].type if pieces else pa.string())
