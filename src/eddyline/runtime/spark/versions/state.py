"""The folder in which a pipeline keeps its state: whose it is, that nobody else runs it, and what lies where.

state/
    eddyline.json       format, the pipeline's id and name, its sources, the registry that it follows
    lock                held as long as the pipeline runs; on file systems without locks `owner/`, a lease (`Lease`)
    spark/<source>/     Spark's own checkpoint
    batches/<source>/   which version serves which batch (`VersionLog`)
    sets/               compiled versions (`Versions`)
    documents/<sink>/   documents of webhooks that are being sent (`DocumentRecord`)
    uncounted/<source>/ counters that wait for the registry (`Counting`)
    metrics.jsonl
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from eddyline.errors import FileError, RegistryError
from eddyline.runtime.spark.base.hadoop_storage import HadoopStorage
from eddyline.runtime.spark.base.remote_folders import local_path
from eddyline.runtime.spark.base.storages import open_storage
from eddyline.runtime.spark.versions.log import VersionLog
from eddyline.storage.folder_lock import LOCK, FolderLock, Holder, holder_of
from eddyline.storage.lease import FOLDER as OWNER
from eddyline.storage.lease import Lease, leaseholder_of
from eddyline.storage.ownership import Ownership
from eddyline.storage.storage import Storage

FORMAT: Final = 1
IDENTITY: Final = "eddyline.json"
SETS: Final = "sets"


Place = str | Path


@dataclass(frozen=True, slots=True)
class StateFolder:
    """A pipeline's folder, which may be opened many times; one process at a time owns it.

    It lies on this machine, or on any file system that Spark reaches. `address` is a path or an address. `sources` are those
    that it knows and those that it was opened with.

    >>> import tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> state = StateFolder.open(Path(place.name) / "state", name="market", sources=["quotes"])
    >>> with state.lock():
    ...     StateFolder.is_running(state.address) is not None
    True
    >>> place.cleanup()
    """

    address: str
    id: str
    name: str
    sources: tuple[str, ...]
    storage: Storage = field(repr=False, compare=False)

    @staticmethod
    def open(place: Place, *, name: str, sources: Iterable[str]) -> StateFolder:
        """Open a pipeline's folder, made if it is not there; one of something else is refused. Does not own it.

        So one that is there stays as it is: another process may own it.
        """
        address, sources = _address(place), tuple(sources)
        storage = open_storage(address)
        _refuse_unsafe(storage)
        try:
            identity = _read_identity(storage) or _made_identity(storage, name, sources)
        except OSError as error:
            raise FileError(f"{address} cannot hold the state of a pipeline: {error}") from error
        _refuse_others(address, identity, name)
        known = tuple(identity["sources"])
        more = tuple([source for source in sources if source not in known])
        return StateFolder(address, identity["pipeline"], name, (*known, *more), storage)

    @staticmethod
    def find(place: Place) -> StateFolder:
        """A pipeline's folder that exists, whatever the pipeline is called; nothing is made."""
        address = _address(place)
        storage = open_storage(address)
        identity = _read_identity(storage)
        if identity is None:
            raise FileError(
                f"{address} is not the state of a pipeline", hint="name the checkpoint of a pipeline"
            )
        _refuse_others(address, identity, identity.get("name", ""))
        return StateFolder(
            address, identity["pipeline"], identity["name"], tuple(identity["sources"]), storage
        )

    @staticmethod
    def exists(place: Place) -> bool:
        """Whether there is the state of a pipeline; a folder with anything else in it is refused."""
        storage = open_storage(_address(place))
        _refuse_unsafe(storage)
        try:
            if storage.exists(IDENTITY):
                return True
            _refuse_strangers(storage)
        except OSError as error:
            raise FileError(f"{storage} cannot be looked at: {error}") from error
        return False

    @staticmethod
    def is_running(place: Place) -> Holder | None:
        """Who runs the pipeline of a folder; None if nobody does."""
        here = local_path(str(place))
        return holder_of(here) if here is not None else leaseholder_of(open_storage(place))

    def lock(self) -> Ownership:
        """Own the folder until the result is closed; refused while another process, or this one, owns it."""
        what, hint = (
            f"the state in {self.address}",
            "stop that pipeline first, or give this one a checkpoint of its own",
        )
        here = local_path(self.address)
        if here is not None:
            return FolderLock(here, what, hint=hint)
        try:
            return Lease(self.storage, what, hint=hint)
        except OSError as error:
            raise FileError(f"{what} cannot be owned: {error}") from error

    @property
    def path(self) -> Path | None:
        """The folder, where it lies on this machine."""
        return local_path(self.address)

    @property
    def batches(self) -> Storage:
        """Where it is written down which version serves which batch."""
        return self.storage.within("batches")

    def checkpoint(self, source: str) -> Storage:
        """Where Spark keeps its own checkpoint of a source."""
        return self.storage.within(f"spark/{source}")

    def refuse_other_registry(self, registry: str | None) -> None:
        """Refuse a registry that is not the one whose queries the pipeline has served; `registry` is its identity."""
        known = (_read_identity(self.storage) or {}).get("registry")
        if registry is not None and known not in (None, registry):
            raise RegistryError(
                f"the state in {self.address} belongs to another registry than the one that is named now",
                hint="name the registry that the pipeline had before, or give the pipeline a new checkpoint",
            )

    def remember(self, registry: str | None) -> None:
        """Write down the sources, and which registry the pipeline follows; refused where it has followed another one.

        For the owner: a process that is refused must leave everything as it was.
        """
        self.refuse_other_registry(registry)
        identity = _read_identity(self.storage)
        assert identity is not None, "it was written when the folder was opened"
        more: dict[str, Any] = {"sources": [*self.sources]}
        if registry is not None and "registry" not in identity:
            more["registry"] = registry
        if any(identity.get(key) != value for key, value in more.items()):
            self.storage.put(IDENTITY, _identity_text({**identity, **more}))

    def refuse_lost_checkpoints(self) -> None:
        """Refuse a source whose batches were served and of which Spark knows nothing any more.

        Spark would count its batches from zero again, and these would be taken for the ones that were delivered.
        """
        log = VersionLog(self.batches)
        for source in log.sources():
            last = log.last(source)
            checkpoint = self.checkpoint(source)
            known = any(name.isdigit() for name in checkpoint.list("offsets"))
            if last is not None and not known:
                count = last.batch_id + 1
                served = "1 batch was" if count == 1 else f"{count} batches were"
                raise FileError(
                    f'source "{source}": {served} served, and its checkpoint {checkpoint.address} is missing',
                    hint="restore it from a copy, or give the pipeline a new checkpoint and a new place for results",
                )


def _refuse_unsafe(storage: Storage) -> None:
    """Refuse a store in which two processes could both own a folder."""
    if isinstance(storage, HadoopStorage) and not storage.puts_if_absent:
        raise FileError(
            f"{storage} cannot hold the state of a pipeline: its file system cannot put a file only if there is none",
            hint="name a bucket of S3 by s3a:, or a checkpoint on another file system",
        )


def _address(place: Place) -> str:
    """A path from the root on, or the address of another file system."""
    here = local_path(str(place))
    return str(place).rstrip("/") if here is None else str(here.absolute())


def _read_identity(storage: Storage) -> dict[str, Any] | None:
    file = f"{storage.address}/{IDENTITY}"
    try:
        identity = json.loads(storage.read(IDENTITY))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:  # a store that refuses, or is away
        raise FileError(f"{file} cannot be read: {error}") from error
    except ValueError as error:
        raise FileError(f"{file} is damaged: {error}", hint=_DAMAGED) from error
    if not isinstance(identity, dict) or not isinstance(identity.get("format"), int):
        raise FileError(f"{file} is damaged: it does not say its format", hint=_DAMAGED)
    return identity


_DAMAGED: Final = "restore it from a copy, or give the pipeline a new checkpoint"
_NEEDED: Final = {"pipeline": str, "name": str, "sources": list | tuple}


def _refuse_others(address: str, identity: dict[str, Any], name: str) -> None:
    if identity["format"] != FORMAT:
        raise FileError(
            f"the state in {address} has format {identity['format']}, not {FORMAT}",
            hint="use the version of eddyline that wrote it, or a new checkpoint",
        )
    for key, kind in _NEEDED.items():
        if not isinstance(identity.get(key), kind):
            raise FileError(f'{address}/{IDENTITY} is damaged: "{key}" is missing', hint=_DAMAGED)
    if identity["name"] != name:
        raise FileError(
            f'the state in {address} is that of pipeline "{identity["name"]}", not of "{name}"',
            hint="give every pipeline a checkpoint of its own",
        )


def _refuse_strangers(storage: Storage) -> None:
    """Refuse a folder with anything but a lock, or a lease, and what a crash has left of an identity."""
    files = [name for name in storage.list("") if name != LOCK and not name.endswith(".draft")]
    strangers = sorted([*files, *(name for name in storage.folders("") if name != OWNER)])
    if strangers:
        raise FileError(
            f'{storage} is not empty and not the state of a pipeline: there is "{strangers[0]}"',
            hint="name a new folder as checkpoint",
        )


def _made_identity(storage: Storage, name: str, sources: tuple[str, ...]) -> dict[str, Any]:
    """The identity of a new folder: that of the first, where two begin at the same time."""
    _refuse_strangers(storage)
    made = {"format": FORMAT, "pipeline": uuid4().hex, "name": name, "sources": sources}
    made["made"] = datetime.now(UTC).isoformat()
    if storage.put_if_absent(IDENTITY, _identity_text(made)):
        return made
    found = _read_identity(storage)
    assert found is not None, "an identity that was just there"
    return found


def _identity_text(identity: dict[str, Any]) -> bytes:
    return json.dumps(identity, indent=2).encode()
