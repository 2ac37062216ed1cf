"""Deliveries on disk, each push whole or not at all, and none twice.

    folder/
        lock                                  held by the one engine that writes
        data/<push>-0.arrow, -1.arrow ...     one file for each SELECT list
        pushes/<push>.json                    names the files, with rows and checksums; written last

<push> is made of the stream's name and the batch's id: ids belong to a stream. A push counts once its manifest is there;
files without one are what a crash left and are written over when the batch comes again.
"""

from __future__ import annotations

import hashlib
import json
import string
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa

from eddyline.engine.account import BatchAccount
from eddyline.errors import EddylineError, FileError
from eddyline.model.names import short_repr
from eddyline.project.account import Account
from eddyline.storage.durable import make_folder
from eddyline.storage.folder_lock import FolderLock
from eddyline.storage.local import LocalStorage
from eddyline.storage.storage import Storage

FORMAT: Final = 3
DATA: Final = "data"
PUSHES: Final = "pushes"
# characters of a file's name; pushes that would have longer ones are named by their hash
LONGEST: Final = 120


@dataclass(frozen=True, slots=True)
class Recorded:
    """A push that is on disk."""

    batch_id: str
    tables: tuple[pa.Table, ...]
    account: BatchAccount

    @property
    def stream(self) -> str:
        """The stream that the batch was pushed to, and to which its id belongs."""
        return self.account.stream


class DeliveryLog:
    """Deliveries in a folder. Any number of readers; one writer at a time, which holds the folder until it is closed.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with DeliveryLog(folder.name) as log:
    ...     log.write(
    ...         "batch 1", [pa.table({"query": ["cheap"]})], BatchAccount("quotes", version=1, tuples=9)
    ...     )
    >>> log = DeliveryLog(folder.name)
    >>> ("quotes", "batch 1") in log, ("trades", "batch 1") in log
    (True, False)
    >>> [(push.stream, push.batch_id, push.account.tuples) for push in log]
    [('quotes', 'batch 1', 9)]
    >>> folder.cleanup()
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._storage: Storage = LocalStorage(self.folder)
        self._writing = threading.RLock()
        self._lock: FolderLock | None = None
        self._next = 0

    def __contains__(self, push: tuple[str, str]) -> bool:
        """Whether a push is there, given as the stream's name and the batch's id."""
        if not isinstance(push, tuple):
            raise EddylineError(
                f"{short_repr(push)} is no push: ids of batches belong to a stream",
                hint='ask for ("quotes", "batch 1")',
            )
        return self._storage.exists(_manifest(*push))

    def __len__(self) -> int:
        return len(self._manifest_names())

    def __iter__(self) -> Iterator[Recorded]:
        """All pushes, in the order in which they were written."""
        for manifest in sorted(self._manifests(), key=lambda manifest: manifest["number"]):
            yield self._recorded(manifest)

    def hold(self) -> None:
        """Be the only writer until `close`; a `FileError` while another engine is. The first `write` does the same."""
        with self._writing:
            if self._lock is not None:
                self._lock.check()
                return
            try:
                make_folder(self.folder)  # by which the lock is found, before there is anything in it
            except OSError as error:
                raise FileError(f"folder {self.folder} cannot take deliveries: {error}") from error
            lock = FolderLock(
                self.folder,
                f"the deliveries folder {self.folder}",
                hint="close that engine first, or give this one a folder of its own",
            )
            try:
                # Only now: until the lock was ours another engine may have written.
                self._next = 1 + max((manifest["number"] for manifest in self._manifests()), default=-1)
                self._sweep()
            except BaseException:
                lock.close()
                raise
            self._lock = lock

    def close(self) -> None:
        """Let others write; what is there can still be read."""
        with self._writing:  # a write that is under way ends first
            if self._lock is not None:
                self._lock.close()
                self._lock = None

    def __enter__(self) -> DeliveryLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def unused_id(self) -> str:
        """An id for a batch that has none; no caller gives it to another batch, which would be taken for this one."""
        self.hold()
        return f"push {self._next} {uuid4().hex}"

    def write(self, batch_id: str, tables: Sequence[pa.Table], account: BatchAccount) -> None:
        """Write a push of the account's stream down; it is there when this returns, and all of it."""
        with self._writing:
            self.hold()
            try:
                self._write(batch_id, tables, account)
            except OSError as error:
                raise FileError(
                    f'the deliveries of batch "{batch_id}" cannot be written to {self.folder}: {error}',
                    hint="push the batch again when that is mended; nothing of it counts yet",
                ) from error

    def _write(self, batch_id: str, tables: Sequence[pa.Table], account: BatchAccount) -> None:
        name = _name(account.stream, batch_id)
        files = []
        # The group ends, and its files last, before the manifest is put: it must never name a file that is not there.
        with self._storage.group():
            for place, table in enumerate(tables):
                file, content = f"{name}-{place}.arrow", _arrow_file(table)
                self._storage.put_part(f"{DATA}/{file}", content)
                files.append({"file": file, "rows": table.num_rows, "crc32": zlib.crc32(content)})
        manifest = {
            "format": FORMAT,
            "number": self._next,
            "batch": batch_id,
            "account": asdict(account),
            "files": files,
        }
        self._storage.put(_manifest(account.stream, batch_id), json.dumps(manifest).encode())
        self._next += 1

    def read(self, stream: str, batch_id: str) -> Recorded:
        """A push that was written, or a `FileError`."""
        return self._recorded(_read_manifest(self._storage, _manifest(stream, batch_id)))

    def _recorded(self, manifest: dict[str, Any]) -> Recorded:
        tables = tuple(self._table(entry) for entry in manifest["files"])
        account = dict(manifest["account"])
        total = Account(**account.pop("total"))
        return Recorded(manifest["batch"], tables, BatchAccount(total=total, **account))

    def _table(self, entry: dict[str, Any]) -> pa.Table:
        file = f"{DATA}/{entry['file']}"
        try:
            content = self._storage.read(file)
        except OSError as error:
            raise FileError(f"a delivery is missing: {self._storage}/{file}: {error}") from error
        if zlib.crc32(content) != entry["crc32"]:
            raise FileError(f"a delivery is damaged: {self._storage}/{file}")
        return pa.ipc.open_file(pa.BufferReader(content)).read_all()

    def _manifests(self) -> Iterator[dict[str, Any]]:
        return (_read_manifest(self._storage, f"{PUSHES}/{name}") for name in self._manifest_names())

    def _manifest_names(self) -> list[str]:
        return [name for name in self._storage.list(PUSHES) if name.endswith(".json")]

    def _sweep(self) -> None:
        """Delete what a crash has left of manifests, which no later push would write over."""
        for name in self._storage.list(PUSHES):
            if name.endswith(".draft"):
                self._storage.delete(f"{PUSHES}/{name}")


_PARTS: Final = frozenset(("number", "batch", "account", "files"))  # of a manifest, beside its format
_PLAIN: Final = frozenset((string.ascii_lowercase + string.digits + "_-").encode())


def _name(stream: str, batch_id: str) -> str:
    """What the files of a push are called: another name for every other push, on file systems without case, too.

    >>> _name("Quotes", "2026-01-01/Batch 1")
    'quotes@2026-01-01%2f%42atch+1'
    """
    name = f"{_quoted(stream.lower())}@{_quoted(batch_id)}"
    return name if len(name) <= LONGEST else "%" + hashlib.sha256(name.encode()).hexdigest()


def _manifest(stream: str, batch_id: str) -> str:
    return f"{PUSHES}/{_name(stream, batch_id)}.json"


def _quoted(text: str) -> str:
    quoted = (chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in text.encode())
    return "".join(quoted).replace("%20", "+")


def _read_manifest(storage: Storage, name: str) -> dict[str, Any]:
    where = f"{storage}/{name}"
    try:
        manifest = json.loads(storage.read(name))
    except (OSError, ValueError) as error:
        raise FileError(f"a push cannot be read: {where}: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise FileError(
            f"a push was kept by another version of eddyline: {where} has format {found}, not {FORMAT}",
            hint="give the engine a new folder for its deliveries",
        )
    if not manifest.keys() >= _PARTS:
        raise FileError(f"a push is damaged: {where}")
    return manifest


def _arrow_file(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
