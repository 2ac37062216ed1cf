"""Deliveries on disk, each push whole or not at all, and none twice.

    folder/
        data/<push>-0.arrow, -1.arrow ...     one file for each projection
        pushes/<push>.json                    names the files, with rows and checksums; written last

<push> is made of the batch's id. A file is written under another name, flushed to the disk, then renamed. A push counts
once its manifest is there; files without one are what a crash left and are written over when the batch comes again.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa

from eddyline.engine.account import Account, BatchAccount
from eddyline.errors import FileError

FORMAT: Final = 1
LONGEST: Final = 120  # characters of a file's name; ids that would be longer are named by their hash


@dataclass(frozen=True, slots=True)
class Recorded:
    """A push that is on disk."""

    batch_id: str
    tables: tuple[pa.Table, ...]
    account: BatchAccount


class DeliveryLog:
    """Deliveries in a folder; one engine at a time writes.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> log = DeliveryLog(folder.name)
    >>> log.write("batch 1", [pa.table({"query": ["cheap"]})], BatchAccount("quotes", version=1, tuples=9))
    >>> "batch 1" in log, "batch 2" in log, [push.account.tuples for push in log]
    (True, False, [9])
    >>> folder.cleanup()
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._data = self.folder / "data"
        self._pushes = self.folder / "pushes"
        try:
            self._data.mkdir(parents=True, exist_ok=True)
            self._pushes.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"folder {folder} cannot take deliveries: {error}") from error
        self._next = 1 + max((manifest["number"] for manifest in self._manifests()), default=-1)

    def __contains__(self, batch_id: str) -> bool:
        return self._manifest(batch_id).exists()

    def __len__(self) -> int:
        return sum(1 for _ in self._pushes.glob("*.json"))

    def __iter__(self) -> Iterator[Recorded]:
        """All pushes, in the order in which they were written."""
        for manifest in sorted(self._manifests(), key=lambda m: m["number"]):
            yield self.read(manifest["batch"])

    def unused_id(self) -> str:
        """An id for a batch that has none."""
        number = self._next
        while f"push {number}" in self:
            number += 1
        return f"push {number}"

    def write(self, batch_id: str, tables: Sequence[pa.Table], account: BatchAccount) -> None:
        """Write a push down; it is there when this returns, and all of it."""
        try:
            self._write(batch_id, tables, account)
        except OSError as error:
            raise FileError(
                f'the deliveries of batch "{batch_id}" cannot be written to {self.folder}: {error}',
                hint="push the batch again when that is mended; nothing of it counts yet",
            ) from error

    def _write(self, batch_id: str, tables: Sequence[pa.Table], account: BatchAccount) -> None:
        name = _name(batch_id)
        files = []
        for place, table in enumerate(tables):
            path = self._data / f"{name}-{place}.arrow"
            content = _arrow_file(table)
            _write(path, content)
            files.append({"file": path.name, "rows": table.num_rows, "crc32": zlib.crc32(content)})
        if files:
            _flush_folder(self._data)
        manifest = {
            "format": FORMAT,
            "number": self._next,
            "batch": batch_id,
            "account": asdict(account),
            "files": files,
        }
        _write(self._manifest(batch_id), json.dumps(manifest).encode())
        _flush_folder(self._pushes)
        self._next += 1

    def read(self, batch_id: str) -> Recorded:
        """A push that was written, or a `FileError`."""
        manifest = _read_manifest(self._manifest(batch_id))
        tables = tuple(self._table(entry) for entry in manifest["files"])
        account = dict(manifest["account"])
        total = Account(**account.pop("total"))
        return Recorded(manifest["batch"], tables, BatchAccount(total=total, **account))

    def _table(self, entry: dict[str, Any]) -> pa.Table:
        path = self._data / entry["file"]
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileError(f"a delivery is missing: {path}: {error}") from error
        if zlib.crc32(content) != entry["crc32"]:
            raise FileError(f"a delivery is damaged: {path}")
        return pa.ipc.open_file(pa.BufferReader(content)).read_all()

    def _manifest(self, batch_id: str) -> Path:
        return self._pushes / f"{_name(batch_id)}.json"

    def _manifests(self) -> Iterator[dict[str, Any]]:
        return (_read_manifest(path) for path in self._pushes.glob("*.json"))


def _name(batch_id: str) -> str:
    name = quote(batch_id, safe=" ").replace(" ", "+").replace(".", "%2E")
    if 0 < len(name) <= LONGEST:
        return name
    return "%" + hashlib.sha256(batch_id.encode("utf-8", "surrogatepass")).hexdigest()


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"a push cannot be read: {path}: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileError(f"a push is of a format that is not known: {path}")
    return manifest


def _arrow_file(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is there with all its content, or not at all."""
    draft = path.with_name(path.name + ".draft")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _flush_folder(folder: Path) -> None:
    """Have the names of a folder on disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
