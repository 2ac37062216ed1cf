"""Columns of many rows as files: pages of consecutive rows, named by their content, so that versions share them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from eddyline.errors import FileError
from eddyline.storage.storage import Storage, content_name

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
    try:
        return pa.ipc.open_file(pa.py_buffer(storage.map(file_of(name)))).read_all()
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"page {name} in {storage} cannot be read: {error}", hint=HINT) from error


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
