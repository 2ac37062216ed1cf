"""Query sets as folders: the queries as Parquet, every segment a folder of its own, a manifest that ties them together.

    set/
        manifest.json       format, version, time zone, settings, streams, removed numbers, number of segments
        queries.parquet     id and sql by number
        segment-0/ ...

The manifest is written last, under another name first: a folder without one is not a query set.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from eddyline.config import IndexSettings
from eddyline.errors import FileError
from eddyline.execute.placed import Placed
from eddyline.execute.segment import SegmentExecutor
from eddyline.index.store import load_segment, save_segment
from eddyline.model.book import Book
from eddyline.model.catalog import Stream
from eddyline.model.numbering import Numbering
from eddyline.model.texts import Texts
from eddyline.queryset.streams import pack_stream, unpack_stream

FORMAT: Final = 2
_MANIFEST: Final = "manifest.json"
_QUERIES: Final = "queries.parquet"


@dataclass(frozen=True, slots=True)
class Saved:
    """All that a query set consists of."""

    streams: list[Stream]
    time_zone: str
    version: int
    settings: IndexSettings
    book: Book
    segments: tuple[Placed, ...]


def save(folder: Path, saved: Saved) -> None:
    """Write a set into a new or empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileError(f"folder {folder} is not empty", hint="save into a new folder")
    for place, placed in enumerate(saved.segments):
        save_segment(placed.segment, folder / f"segment-{place}", placed.numbering.all())
    book = saved.book
    table = pa.table({"id": book.ids, "sql": [book.text(number) for number in range(book.size)]})
    pq.write_table(table, folder / _QUERIES)
    manifest = {
        "format": FORMAT,
        "version": saved.version,
        "time_zone": saved.time_zone,
        "settings": asdict(saved.settings),
        "streams": [pack_stream(stream) for stream in saved.streams],
        "removed": sorted(book.removed),
        "segments": len(saved.segments),
        "queries": zlib.crc32((folder / _QUERIES).read_bytes()),
    }
    draft = folder / (_MANIFEST + ".draft")
    draft.write_text(json.dumps(manifest), encoding="utf-8")
    draft.replace(folder / _MANIFEST)


def load(folder: Path, *, verify: bool = True) -> Saved:
    """Read what `save` wrote, or raise a `FileError` that names the file.

    Without `verify` files are not read through to see whether they are whole; queries are read when they are asked for.
    """
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"folder {folder} is not a saved query set: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise FileError(f"folder {folder} has format {found}, not {FORMAT}", hint="save the set again")
    book = _open_book(folder / _QUERIES, manifest, verify)
    streams = [unpack_stream(data) for data in manifest["streams"]]
    settings = IndexSettings.of(manifest["settings"])
    found = [
        load_segment(folder / f"segment-{place}", verify=verify) for place in range(manifest["segments"])
    ]
    segments = tuple(
        [
            Placed(SegmentExecutor(segment, settings.order), Numbering.of(numbers))
            for segment, numbers in found
        ]
    )
    return Saved(streams, manifest["time_zone"], manifest["version"], settings, book, segments)


def _open_book(path: Path, manifest: dict[str, Any], verify: bool) -> Book:
    """The queries, held open, so that they can be read when somebody asks for them."""
    try:
        content = pa.memory_map(str(path))
        if verify and zlib.crc32(content.read_buffer()) != manifest["queries"]:
            raise FileError(f"{path} is damaged", hint="save the set again")
        size = pq.read_metadata(content).num_rows
    except FileNotFoundError as error:
        raise FileError(f"{path} is missing", hint="save the set again") from error
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"{path} is damaged", hint="save the set again") from error

    def column(name: str) -> Texts:
        return Texts(lambda: pq.read_table(content, columns=[name], use_threads=False)[name], size)

    return Book.of(column("id"), column("sql"), frozenset(manifest["removed"]))
