"""Sets on disk: what versions have in common is written once, and what a version adds is all that it writes.

    root/
        segments/<content>               compiled queries, one file for each segment
        pages/<content>                  ids and texts of consecutive dense ids; which dense ids the slots of a segment have;
                                         what goes with queries, in sets that have columns
        manifest.json                    what the set consists of; where several versions share a root, each has its own:
        versions/<name>/manifest.json

Segments and pages are named by their content: the name tells whether a file is whole. The manifest is written last: without
one there is no set, and what no manifest names is what a crash has left; `sweep` deletes that.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa

from eddyline.compile import Compiler
from eddyline.config import IndexSettings, OrderSettings
from eddyline.errors import FileError
from eddyline.execute.placed import Placed
from eddyline.execute.segment import SegmentExecutor
from eddyline.index.file import pack_segment, unpack_segment
from eddyline.model.arrays import Integers
from eddyline.model.numbering import Numbering
from eddyline.sql.resolver import Resolver
from eddyline.standing.rows.counted import CountedWhenAsked
from eddyline.standing.rows.join_columns import JoinColumns
from eddyline.standing.rows.table import SavedRows, Table, checksums
from eddyline.standing.saved.column_files import ColumnPages, column_files, open_columns, save_columns
from eddyline.standing.saved.pages import HINT, Page, extend_pages, file_of, joined, open_page, write_page
from eddyline.standing.saved.stream_json import pack_stream, unpack_stream
from eddyline.standing.version import Version
from eddyline.storage.local import LocalStorage
from eddyline.storage.storage import Storage, content_name

FORMAT: Final = 5
MANIFEST: Final = "manifest.json"
SEGMENTS: Final = "segments"

_open_segments: WeakValueDictionary[tuple[str, OrderSettings], SegmentExecutor] = WeakValueDictionary()
_opening: Final = Lock()


@dataclass(frozen=True, slots=True)
class Pages:
    """Where the first rows of a table lie already, and their columns, if they have any; true for one epoch."""

    rows: tuple[Page, ...] = ()
    columns: ColumnPages | None = None


NO_PAGES: Final = Pages()


@dataclass(frozen=True, slots=True)
class Saved:
    """A compiled version, and where its queries lie already; `notes` are its maker's own."""

    version: Version
    pages: Pages = NO_PAGES
    notes: Mapping[str, Any] | None = None


def save(root: Path, name: str | None, saved: Saved) -> Pages:
    """Write what is new in a set, then its manifest; gives the pages that its queries lie in.

    With a name it is one version of several in the folder, without one all that the folder holds.
    """
    storage, version = LocalStorage(root), saved.version
    assert not len(version.tail), "what waits to be compiled would be lost"
    folder = "" if name is None else f"versions/{name}/"
    manifest_name = f"{folder}{MANIFEST}"
    if storage.exists(manifest_name):
        raise _taken(root, name)
    for left in storage.list(folder) if folder else ():  # of a manifest that a crash has kept from its name
        storage.delete(f"{folder}{left}")
    with storage.group():
        segments = save_segments(storage, version.segments)
        pages = _save_pages(storage, version.table, saved.pages)
    manifest = {
        "format": FORMAT,
        "root": "." if name is None else "../..",
        "version": version.version,
        "time_zone": version.compiler.time_zone,
        "settings": asdict(version.settings),
        "streams": [pack_stream(stream) for stream in version.compiler.streams],
        "join_window": version.compiler.join_window,
        "joins": None
        if version.table.joins is None
        else _packed(version.table.joins.owners(version.table.size)),
        "size": version.table.size,
        "removed": _packed(version.table.removed),
        "pages": [asdict(page) for page in pages.rows],
        "columns": None if pages.columns is None else pages.columns.described(),
        "segments": segments,
        "notes": saved.notes,
    }
    if not storage.put_if_absent(manifest_name, _sealed(manifest)):
        raise _taken(root, name)
    return pages


def _taken(root: Path, name: str | None) -> FileError:
    what = "a set" if name is None else f"a version {name}"
    return FileError(f"there is {what} in {root} already", hint="choose another name")


def save_segments(storage: Storage, segments: Iterable[Placed]) -> list[dict[str, Any]]:
    """What a manifest says of segments, which are written first if they are not there."""
    described = []
    for placed in segments:
        executor, numbering = placed.executor, placed.numbering
        if executor.name is None or not storage.exists(_segment_file(executor.name)):
            content = pack_segment(executor.segment)
            executor.name = content_name(content)
            storage.put(
                _segment_file(executor.name), content
            )  # over one of that name too, which may be damaged
        listed = None
        if numbering.listed is not None:
            listed = write_page(storage, pa.table({"number": pa.array(numbering.listed)})).name
        described.append(
            {"name": executor.name, "size": numbering.size, "first": numbering.first, "listed": listed}
        )
    return described


def _segment_file(name: str) -> str:
    return f"{SEGMENTS}/{name}"


def _save_pages(storage: Storage, table: Table, pages: Pages) -> Pages:
    def rows(first: int, end: int) -> pa.Table:
        found = list(table.trunk.rows(first, end))
        ids, texts = [id for id, _ in found], [text for _, text in found]
        columns = {"id": pa.array(ids, pa.string()), "sql": pa.array(texts, pa.string())}
        return pa.table({**columns, "checksum": pa.array(checksums(ids))})

    columns = save_columns(storage, table.columns, table.size, pages.columns) if table.has_columns else None
    return Pages(extend_pages(storage, pages.rows, table.size, rows), columns)


def _packed(ascending: Integers) -> str:
    return base64.b64encode(zlib.compress(ascending.astype(np.int32).tobytes(), 1)).decode("ascii")


def _unpacked(text: str) -> Integers:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), np.int32)


def _sealed(manifest: Mapping[str, Any]) -> bytes:
    text = json.dumps(manifest)
    return json.dumps({"checksum": zlib.crc32(text.encode()), "manifest": text}).encode()


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest in a folder, or a `FileError`; `key` in it names the whole content, wherever that is copied to."""
    try:
        sealed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        text, checksum = sealed.get("manifest"), sealed.get("checksum")
    except (OSError, ValueError, AttributeError) as error:
        raise FileError(f"folder {folder} is not a saved query set: {error}", hint=HINT) from error
    if text is not None and zlib.crc32(text.encode()) != checksum:
        raise FileError(f"the manifest in {folder} is damaged", hint=HINT)
    manifest: dict[str, Any] = sealed if text is None else json.loads(text)
    if manifest.get("format") != FORMAT:
        found = manifest.get("format", "unknown")
        raise FileError(
            f"folder {folder} was saved by another version of eddyline: its format is {found}, not {FORMAT}",
            hint="save the set again, from its queries",
        )
    return {**manifest, "key": content_name(text.encode())}


def load(
    folder: Path,
    *,
    settings: IndexSettings | None = None,
    resolver: Resolver | None = None,
    verify: bool = True,
) -> tuple[Path, Saved]:
    """Open a set, and say in which root it lies; without `verify` files are not read through to see whether they are whole.

    Queries that are added later are compiled by the settings that are given, or those that the set was saved with.
    """
    manifest = read_manifest(folder)
    root = _root_of(folder, manifest)
    storage = LocalStorage(root)
    if verify:
        for file in _files(manifest):
            _check_file(storage, file)
    saved_with = IndexSettings.of(manifest["settings"])
    streams = [unpack_stream(data) for data in manifest["streams"]]
    compiler = Compiler(
        streams, time_zone=manifest["time_zone"], resolver=resolver, join_window=manifest["join_window"]
    )
    pages = _open_pages(storage, manifest, compiler)
    table = _table(storage, manifest, pages)
    if manifest["joins"] is not None:
        table = _with_joins(table, _unpacked(manifest["joins"]), compiler)
    segments = tuple([_placed(storage, data, saved_with.order, table) for data in manifest["segments"]])
    counted = CountedWhenAsked(table, segments) if table.has_columns else {}
    version = Version(manifest["version"], compiler, settings or saved_with, table, segments, counted=counted)
    return root, Saved(version, pages, manifest["notes"])


def _root_of(folder: Path, manifest: Mapping[str, Any]) -> Path:
    """The folder that has the segments and pages of a manifest in another one."""
    return folder if manifest["root"] == "." else folder.parent.parent


def _check_file(storage: Storage, file: str) -> None:
    """Refuse a file that is missing, or not as it was written."""
    name = file.rpartition("/")[2]
    try:
        content = storage.map(file)
    except OSError as error:
        raise FileError(f"{file} in {storage} is missing", hint=HINT) from error
    if content_name(content.data) != name:
        raise FileError(f"{file} in {storage} is damaged", hint=HINT)


def _row_pages(manifest: Mapping[str, Any]) -> tuple[Page, ...]:
    return tuple([Page(**page) for page in manifest["pages"]])


def _open_pages(storage: Storage, manifest: Mapping[str, Any], compiler: Compiler) -> Pages:
    described = manifest["columns"]
    if described is None:
        return Pages(_row_pages(manifest))
    streams = {stream.name: stream for stream in compiler.streams}
    return Pages(_row_pages(manifest), open_columns(storage, described, streams))


def _table(storage: Storage, manifest: Mapping[str, Any], pages: Pages) -> Table:
    tables = [open_page(storage, page.name) for page in pages.rows]
    saved = SavedRows(*[joined(tables, name) for name in ("id", "sql", "checksum")])
    columns = None if pages.columns is None else pages.columns.columns
    return Table.opened(saved, _unpacked(manifest["removed"]), columns)


def _with_joins(table: Table, joins: Integers, compiler: Compiler) -> Table:
    """A table that knows which of its rows are joins and roles; joins are compiled anew, from their texts."""
    columns = JoinColumns()
    for dense in joins.tolist():
        columns = columns.grown_to(dense)
        columns = columns.grown(dense, [compiler.compile(table.query(dense))])
    return table.with_joins(columns.grown_to(table.size))


def _placed(storage: Storage, data: Mapping[str, Any], order: OrderSettings, table: Table) -> Placed:
    listed = data["listed"]
    if listed is not None:
        listed = np.asarray(joined([open_page(storage, listed)], "number").combine_chunks())
    numbering = Numbering(data["size"], data["first"], listed)
    return Placed(_open_segment(storage, data["name"], order), numbering, table.dead_among(numbering))


def _open_segment(storage: Storage, name: str, order: OrderSettings) -> SegmentExecutor:
    """Who evaluates a segment; sets of the same order that are open in this process share it."""
    with _opening:
        key = f"{storage.address}/{name}", order
        found = _open_segments.get(key)
        if found is None:
            try:
                content = storage.map(_segment_file(name))
            except OSError as error:
                raise FileError(
                    f"segment {name} in {storage} cannot be opened: {error}", hint=HINT
                ) from error
            found = _open_segments[key] = SegmentExecutor(unpack_segment(content, name), order)
            found.name = name
        return found


def _files(manifest: Mapping[str, Any]) -> list[str]:
    listed = [data["listed"] for data in manifest["segments"] if data["listed"] is not None]
    pages = [file_of(name) for name in [*(page.name for page in _row_pages(manifest)), *listed]]
    columns = [] if manifest["columns"] is None else column_files(manifest["columns"])
    return [*pages, *columns, *(_segment_file(data["name"]) for data in manifest["segments"])]


def files_of(folder: Path) -> list[str]:
    """The files of a set, named from the root, the manifest last: all that has to be copied to have it elsewhere."""
    manifest = read_manifest(folder)
    where = (folder / MANIFEST).relative_to(_root_of(folder, manifest))
    return [*_files(manifest), where.as_posix()]


def sweep(storage: Storage, keep: Collection[str]) -> int:
    """Delete all segments and pages but some, named from the root; gives how many."""
    files = [f"{folder}/{name}" for folder in (SEGMENTS, "pages") for name in storage.list(folder)]
    gone = [file for file in files if file not in keep]
    for file in gone:
        storage.delete(file)
    return len(gone)
