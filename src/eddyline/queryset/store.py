"""Query sets as folders: the queries as Parquet, every segment a folder of its own, a manifest that ties them together.

    set/
        manifest.json       format, version, time zone, settings, streams, removed numbers, number of segments
        queries.parquet     id and sql by number
        segment-0/ ...

The manifest is written last, under another name first: a folder without one is not a query set.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from eddyline.config import IndexSettings
from eddyline.errors import FileError
from eddyline.index.segment import Segment
from eddyline.index.store import load_segment, save_segment
from eddyline.model.book import Book
from eddyline.model.catalog import Stream

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
    segments: list[Segment]


def save(folder: Path, saved: Saved) -> None:
    """Write a set into a new or empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileError(f"folder {folder} is not empty", hint="save into a new folder")
    for place, segment in enumerate(saved.segments):
        save_segment(segment, folder / f"segment-{place}")
    book = saved.book
    table = pa.table({"id": book.ids, "sql": [book.text(number) for number in range(book.size)]})
    pq.write_table(table, folder / _QUERIES)
    manifest = {
        "format": FORMAT,
        "version": saved.version,
        "time_zone": saved.time_zone,
        "settings": asdict(saved.settings),
        "streams": [_pack_stream(stream) for stream in saved.streams],
        "removed": sorted(book.removed),
        "segments": len(saved.segments),
        "queries": zlib.crc32((folder / _QUERIES).read_bytes()),
    }
    draft = folder / (_MANIFEST + ".draft")
    draft.write_text(json.dumps(manifest), encoding="utf-8")
    draft.replace(folder / _MANIFEST)


def load(folder: Path) -> Saved:
    """Read what `save` wrote, or raise a `FileError` that names the file."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"folder {folder} is not a saved query set: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise FileError(f"folder {folder} has format {found}, not {FORMAT}", hint="save the set again")
    try:
        content = (folder / _QUERIES).read_bytes()
    except OSError as error:
        raise FileError(f"{folder / _QUERIES} is missing", hint="save the set again") from error
    if zlib.crc32(content) != manifest["queries"]:
        raise FileError(f"{folder / _QUERIES} is damaged", hint="save the set again")
    table = pq.read_table(pa.BufferReader(content))
    book = Book.of(table["id"].to_pylist(), table["sql"].to_pylist(), frozenset(manifest["removed"]))
    segments = [load_segment(folder / f"segment-{place}") for place in range(manifest["segments"])]
    streams = [_unpack_stream(data) for data in manifest["streams"]]
    settings = IndexSettings(**manifest["settings"])
    return Saved(streams, manifest["time_zone"], manifest["version"], settings, book, segments)


def _pack_stream(stream: Stream) -> dict[str, Any]:
    schema = base64.b64encode(stream.schema.serialize().to_pybytes()).decode("ascii")
    return {"name": stream.name, "schema": schema, "event_time": stream.event_time}


def _unpack_stream(data: dict[str, Any]) -> Stream:
    schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(data["schema"])))
    return Stream(data["name"], schema, data["event_time"])
