"""Versions of a set that share what they have in common, in one folder: a version writes only what is new in it.

    root/
        segments/<name>             compiled queries, each segment a file, written once
        pages/<name>.arrow          id and sql of consecutive numbers; small pages are replaced by larger ones
        versions/<name>/manifest.json    streams, removed numbers, the pages and segments of a version

Names of segments and pages are never used twice. The manifest is written last: a version without one is none, and what
no manifest names is what a crash left behind; `sweep` deletes that.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa

from eddyline.config import IndexSettings, OrderSettings
from eddyline.errors import FileError
from eddyline.execute.placed import Placed
from eddyline.execute.segment import SegmentExecutor
from eddyline.index.packed import open_packed, packed
from eddyline.model.book import Book
from eddyline.model.catalog import Stream
from eddyline.model.numbering import Numbering
from eddyline.model.texts import Texts
from eddyline.queryset.streams import pack_stream, unpack_stream
from eddyline.storage.durable import flush, make_folder, write_new, write_whole

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
LARGEST_PAGE: Final = 65_536  # queries of a page that takes in smaller ones
_SEAL: Final = b'{"checksum"'
_HINT: Final = "the version has to be made again"

_open_segments: WeakValueDictionary[tuple[str, OrderSettings], Placed] = WeakValueDictionary()
_opening: Final = Lock()


@dataclass(frozen=True, slots=True)
class Page:
    """A file with the queries of some consecutive numbers."""

    name: str
    rows: int
    checksum: int


@dataclass(frozen=True, slots=True)
class Shared:
    """All that a version consists of, and where its queries lie already; `notes` are its maker's own."""

    streams: list[Stream]
    time_zone: str
    version: int
    settings: IndexSettings
    book: Book
    segments: tuple[Placed, ...]
    pages: tuple[Page, ...] = ()
    notes: Mapping[str, Any] | None = None


def save(root: Path, name: str, version: Shared) -> tuple[Page, ...]:
    """Write what is new in a version, then its manifest; gives the pages that its queries lie in."""
    folder = root / "versions" / name
    if (folder / MANIFEST).exists():
        raise FileError(f"there is a version {name} in {root} already", hint="choose another name")
    for part in (root / "pages", root / "segments", folder):
        make_folder(part)
    names = save_segments(root, version.segments)
    pages = _save_pages(root / "pages", version.book, version.pages)
    flush(root / "pages")
    removed = np.array(sorted(version.book.removed), np.int32)
    manifest = {
        "shared": FORMAT,
        "id": uuid4().hex,  # names the content, wherever it is copied to
        "version": version.version,
        "time_zone": version.time_zone,
        "settings": asdict(version.settings),
        "streams": [pack_stream(stream) for stream in version.streams],
        "size": version.book.size,
        "removed": base64.b64encode(zlib.compress(removed.tobytes(), 1)).decode("ascii"),
        "pages": [[page.name, page.rows, page.checksum] for page in pages],
        "segments": names,
        "notes": version.notes,
    }
    write_whole(folder / MANIFEST, _sealed(manifest))
    return pages


def save_segments(root: Path, segments: Iterable[Placed]) -> list[str]:
    """The names of segments, those that have none in this folder written first."""
    folder = root / "segments"
    make_folder(folder)
    names: list[str] = []
    fresh = False
    for placed in segments:
        executor = placed.executor
        name = executor.places.get(str(root))
        if name is None or not (folder / name).exists():
            name = uuid4().hex
            write_new(folder / name, packed(executor.segment, placed.numbering.all()))
            executor.places[str(root)] = name
            fresh = True
        names.append(name)
    if fresh:
        flush(folder)
    return names


def _save_pages(folder: Path, book: Book, pages: Sequence[Page]) -> tuple[Page, ...]:
    def rows(first: int, end: int) -> pa.Table:
        ids, texts = book.rows(first, end)
        return pa.table({"id": pa.array(ids, pa.string()), "sql": pa.array(texts, pa.string())})

    return extend_pages(folder, pages, book.size, rows)


def extend_pages(
    folder: Path, pages: Sequence[Page], size: int, rows: Callable[[int, int], pa.Table]
) -> tuple[Page, ...]:
    """Pages up to a size; a new one takes in those before it that are not much larger, so that they stay few.

    The folder is not flushed: `save` does that once for all pages, those of the notes included.
    """
    kept = list(pages) if all((folder / page.name).exists() for page in pages) else []
    first = sum(page.rows for page in kept)
    if first == size:
        return tuple(kept)
    while kept and kept[-1].rows <= 2 * (size - first) and kept[-1].rows < LARGEST_PAGE:
        first -= kept.pop().rows
    for start in range(first, size, LARGEST_PAGE):
        kept.append(write_page(folder, rows(start, min(start + LARGEST_PAGE, size))))
    return tuple(kept)


def write_page(folder: Path, table: pa.Table) -> Page:
    """Write rows into a file of a new name; the folder is not flushed yet."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    content = sink.getvalue().to_pybytes()
    name = f"{uuid4().hex}.arrow"
    write_new(folder / name, content)
    return Page(name, table.num_rows, zlib.crc32(content))


def open_page(path: Path) -> pa.Table:
    """The rows of a page; they stay on disk until they are used."""
    try:
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"page {path} cannot be read: {error}", hint=_HINT) from error


def check_page(folder: Path, page: Page) -> None:
    """Refuse a page that is missing or not as it was written."""
    try:
        found = zlib.crc32((folder / page.name).read_bytes())
    except OSError as error:
        raise FileError(f"page {folder / page.name} is missing", hint=_HINT) from error
    if found != page.checksum:
        raise FileError(f"page {folder / page.name} is damaged", hint=_HINT)


def is_shared(folder: Path) -> bool:
    """Whether a folder is a version of a shared folder."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            return file.read(len(_SEAL)) == _SEAL
    except OSError:
        return False


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a version, or a `FileError`."""
    try:
        sealed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        manifest, checksum = sealed["manifest"], sealed["checksum"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"folder {folder} is not a version of a query set: {error!r}", hint=_HINT) from error
    if zlib.crc32(manifest.encode()) != checksum:
        raise FileError(f"the manifest in {folder} is damaged", hint=_HINT)
    content: dict[str, Any] = json.loads(manifest)
    if content["shared"] != FORMAT:
        raise FileError(f"folder {folder} has format {content['shared']}, not {FORMAT}", hint=_HINT)
    return content


def _sealed(manifest: Mapping[str, Any]) -> bytes:
    text = json.dumps(manifest)
    return json.dumps({"checksum": zlib.crc32(text.encode()), "manifest": text}).encode()


def load(folder: Path, *, verify: bool = True) -> Shared:
    """Open a version; without `verify` big files are not read through to see whether they are whole."""
    manifest = read_manifest(folder)
    root = folder.parent.parent
    pages = pages_of(manifest)
    if verify:
        for page in pages:
            check_page(root / "pages", page)
    removed = np.frombuffer(zlib.decompress(base64.b64decode(manifest["removed"])), np.int32)
    settings = IndexSettings.of(manifest["settings"])
    names = manifest["segments"]
    segments = tuple([open_segment(root, name, verify=verify, order=settings.order) for name in names])
    return Shared(
        [unpack_stream(data) for data in manifest["streams"]],
        manifest["time_zone"],
        manifest["version"],
        settings,
        _book(root / "pages", pages, manifest["size"], frozenset(removed.tolist())),
        segments,
        pages,
        manifest["notes"],
    )


def pages_of(manifest: Mapping[str, Any]) -> tuple[Page, ...]:
    """The pages that a manifest names."""
    return tuple([Page(*page) for page in manifest["pages"]])


def _book(folder: Path, pages: Sequence[Page], size: int, removed: frozenset[int]) -> Book:
    tables = [
        open_page(folder / page.name) for page in pages
    ]  # open, they can be read even if they are deleted

    def column(name: str) -> Callable[[], pa.ChunkedArray]:
        return lambda: joined(tables, name)

    return Book.of(Texts(column("id"), size), Texts(column("sql"), size), removed)


def joined(tables: Sequence[pa.Table], name: str) -> pa.ChunkedArray:
    """A column of several pages, in pieces."""
    pieces = [piece for table in tables for piece in table[name].chunks]
    return pa.chunked_array(pieces, pieces[0].type if pieces else pa.string())


def open_segment(root: Path, name: str, *, verify: bool, order: OrderSettings) -> Placed:
    """A segment; versions of the same order that are open in this process share it."""
    path = root / "segments" / name
    with _opening:
        found = _open_segments.get((str(path), order))
        if found is None or verify:  # somebody may have opened it unseen
            segment, numbers = open_packed(path, verify=verify)
        if found is None:
            found = Placed(SegmentExecutor(segment, order), Numbering.of(numbers))
            found.executor.places[str(root)] = name
            _open_segments[str(path), order] = found
        return found


def files_of(folder: Path) -> list[str]:
    """The files of a version, named from the root, the manifest last: all that has to be copied to have it elsewhere."""
    manifest = read_manifest(folder)
    pages = [f"pages/{page.name}" for page in pages_of(manifest)]
    noted = [f"pages/{name}" for name in (manifest["notes"] or {}).get("pages", ())]
    segments = [f"segments/{name}" for name in manifest["segments"]]
    return [*pages, *noted, *segments, f"versions/{folder.name}/{MANIFEST}"]


def sweep(root: Path, keep: Collection[str]) -> int:
    """Delete all segments and pages but some, named from the root; gives how many."""
    gone = 0
    for part in ("segments", "pages"):
        folder = root / part
        for path in folder.iterdir() if folder.is_dir() else ():
            if f"{part}/{path.name}" not in keep:
                path.unlink(missing_ok=True)
                gone += 1
    return gone
