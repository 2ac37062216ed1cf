"""The folder in which a pipeline keeps its state: whose it is, that nobody else runs it, and what lies where.

state/
    eddyline.json       format, the pipeline's id and name, its sources, the registry that it follows
    lock                held as long as the pipeline runs
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
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from eddyline.errors import FileError, RegistryError
from eddyline.runtime.spark.versions.log import VersionLog
from eddyline.storage.folder_lock import LOCK, FolderLock, Holder, holder_of
from eddyline.storage.local import LocalStorage
from eddyline.storage.storage import Storage

FORMAT: Final = 1
IDENTITY: Final = "eddyline.json"


@dataclass(frozen=True, slots=True)
class StateFolder:
    """A pipeline's folder, which may be opened many times; one process at a time holds its lock.

    >>> import tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> state = StateFolder.open(Path(place.name) / "state", name="market", sources=["quotes"])
    >>> with state.lock():
    ...     StateFolder.is_running(state.path) is not None
    True
    >>> place.cleanup()
    """

    path: Path
    id: str
    name: str
    sources: tuple[str, ...]

    @staticmethod
    def open(path: str | Path, *, name: str, sources: Iterable[str]) -> StateFolder:
        """Open a pipeline's folder, made if it is not there; one of something else is refused. Does not lock it."""
        path, sources = Path(path).absolute(), tuple(sources)
        storage = LocalStorage(path)
        try:
            identity = _read_identity(storage)
            if identity is None:
                _refuse_strangers(storage)
                identity = {"format": FORMAT, "pipeline": uuid4().hex, "name": name, "sources": sources}
                identity["made"] = datetime.now(UTC).isoformat()
                _write_identity(storage, identity)
            _refuse_others(path, identity, name)
            known = tuple(identity["sources"])
            if not set(sources) <= set(known):
                known = (*known, *(source for source in sources if source not in known))
                _write_identity(storage, {**identity, "sources": known})
        except OSError as error:
            raise FileError(f"{path} cannot hold the state of a pipeline: {error}") from error
        return StateFolder(path, identity["pipeline"], name, known)

    @staticmethod
    def find(path: str | Path) -> StateFolder:
        """A pipeline's folder that exists, whatever the pipeline is called; nothing is made."""
        path = Path(path).absolute()
        identity = _read_identity(LocalStorage(path))
        if identity is None:
            raise FileError(
                f"{path} is not the state of a pipeline", hint="name the checkpoint of a pipeline"
            )
        _refuse_others(path, identity, identity.get("name", ""))
        return StateFolder(path, identity["pipeline"], identity["name"], tuple(identity["sources"]))

    @staticmethod
    def is_running(path: str | Path) -> Holder | None:
        """Who runs the pipeline of a folder; None if nobody does."""
        return holder_of(path)

    def lock(self) -> FolderLock:
        """Hold the folder until the result is closed; refused while another process, or this one, holds it."""
        return FolderLock(
            self.path,
            f"the state in {self.path}",
            hint="stop that pipeline first, or give this one a checkpoint of its own",
        )

    @property
    def storage(self) -> Storage:
        """The files of the folder."""
        return LocalStorage(self.path)

    @property
    def sets(self) -> Path:
        """Where compiled versions lie."""
        return self.path / "sets"

    @property
    def batches(self) -> Storage:
        """Where it is written down which version serves which batch."""
        return LocalStorage(self.path / "batches")

    @property
    def metrics(self) -> Path:
        """Where measurements are appended."""
        return self.path / "metrics.jsonl"

    def checkpoint(self, source: str) -> Path:
        """Where Spark keeps its own checkpoint of a source."""
        return self.path / "spark" / source

    def refuse_other_registry(self, registry: str | None) -> None:
        """Refuse a registry that is not the one whose queries the pipeline has served; `registry` is its identity."""
        known = (_read_identity(self.storage) or {}).get("registry")
        if registry is not None and known not in (None, registry):
            raise RegistryError(
                f"the state in {self.path} belongs to another registry than the one that is named now",
                hint="name the registry that the pipeline had before, or give the pipeline a new checkpoint",
            )

    def remember_registry(self, registry: str | None) -> None:
        """Write down which registry the pipeline follows; refused where it has followed another one."""
        self.refuse_other_registry(registry)
        identity = _read_identity(self.storage)
        assert identity is not None, "it was written when the folder was opened"
        if registry is not None and "registry" not in identity:
            _write_identity(self.storage, {**identity, "registry": registry})

    def refuse_lost_checkpoints(self) -> None:
        """Refuse a source whose batches were served and of which Spark knows nothing any more.

        Spark would count its batches from zero again, and these would be taken for the ones that were delivered.
        """
        for source in VersionLog(self.batches).sources():
            last = VersionLog(self.batches).last(source)
            offsets = self.checkpoint(source) / "offsets"
            known = offsets.is_dir() and any(path.name.isdigit() for path in offsets.iterdir())
            if last is not None and not known:
                raise FileError(
                    f'{last.batch_id + 1} batches of source "{source}" were served, and {offsets.parent} is gone',
                    hint="restore it from a copy, or give the pipeline a new checkpoint and a new place for results",
                )


def _read_identity(storage: Storage) -> dict[str, Any] | None:
    file = f"{storage}/{IDENTITY}"
    try:
        identity = json.loads(storage.read(IDENTITY))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise FileError(f"{file} is damaged: {error}", hint=_DAMAGED) from error
    if not isinstance(identity, dict) or not isinstance(identity.get("format"), int):
        raise FileError(f"{file} is damaged: it does not say its format", hint=_DAMAGED)
    return identity


_DAMAGED: Final = "restore it from a copy, or give the pipeline a new checkpoint"
_NEEDED: Final = {"pipeline": str, "name": str, "sources": list | tuple}


def _refuse_others(path: Path, identity: dict[str, Any], name: str) -> None:
    if identity["format"] != FORMAT:
        raise FileError(
            f"the state in {path} has format {identity['format']}, not {FORMAT}",
            hint="use the version of eddyline that wrote it, or a new checkpoint",
        )
    for key, kind in _NEEDED.items():
        if not isinstance(identity.get(key), kind):
            raise FileError(f'{path / IDENTITY} is damaged: "{key}" is missing', hint=_DAMAGED)
    if identity["name"] != name:
        raise FileError(
            f'the state in {path} is that of pipeline "{identity["name"]}", not of "{name}"',
            hint="give every pipeline a checkpoint of its own",
        )


def _refuse_strangers(storage: Storage) -> None:
    """Refuse a folder with anything but a lock and what a crash has left of an identity."""
    files = [name for name in storage.list("") if name != LOCK and not name.endswith(".draft")]
    strangers = sorted([*files, *storage.folders("")])
    if strangers:
        raise FileError(
            f'{storage} is not empty and not the state of a pipeline: there is "{strangers[0]}"',
            hint="name a new folder as checkpoint",
        )


def _write_identity(storage: Storage, identity: dict[str, Any]) -> None:
    storage.put(IDENTITY, json.dumps(identity, indent=2).encode())
