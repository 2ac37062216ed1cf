"""How a compiled query set gets to the workers: as files that are written once, or, when small, inside the closure.

    driver                                         worker
    ship(qs, folder=...) --> Shipment --closure--> Shipment.open() --> QuerySet, memory-mapped
        folder/<key>/...                               kept for the next batch of the same process

The key is made of the content: the same set is written once, however often it is shipped.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import socket
import tempfile
import time
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final
from uuid import uuid4
from weakref import WeakKeyDictionary

from eddyline.errors import EddylineError, SetupError
from eddyline.queryset import QuerySet, open_set
from eddyline.runtime.spark.base import remote_folders
from eddyline.runtime.spark.transport.own_folder import own_folder
from eddyline.standing.saved.files import files_of, read_manifest

MAX_CONTENT: Final = 8 << 20  # bytes of a set that rides in closures even where files are at hand
# Bytes of an archive that does where they are not: some two million plain queries.
MAX_ARCHIVE: Final = 64 << 20
MAX_OPEN: Final = 4  # sets that a worker keeps open
KEPT_SECONDS: Final = 30 * 24 * 3600  # how long sets stay among the temporary files of a machine
UNPACKED: Final = 8  # sets that were unpacked there and stay, the newest ones: they come with every closure
IN_USE: Final = 600.0  # seconds since it was opened in which such a set stays in any case
_KEY_LENGTH: Final = 32

_open_sets: OrderedDict[str, QuerySet] = OrderedDict()
_opening: Final = Lock()
_shipped: WeakKeyDictionary[QuerySet, dict[tuple[str | None, bool], Shipment]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Shipment:
    """A compiled set on its way: where it lies, or what it consists of. `key` names the content.

    `inside` is where its manifest is in what it consists of.
    """

    key: str
    folder: str | None
    content: bytes | None = None
    inside: str = ""

    def open(self) -> QuerySet:
        """The set, memory-mapped; the newest few stay open in this process."""
        with _opening:
            found = _open_sets.get(self.key)
            if found is None:
                found = _open_sets[self.key] = open_set(self.path(), verify=False)
                while len(_open_sets) > MAX_OPEN:
                    _open_sets.popitem(last=False)
            _open_sets.move_to_end(self.key)
            return found

    def path(self) -> Path:
        """Where the set lies on this machine, brought here first if need be."""
        if self.folder is not None:
            here = remote_folders.local_path(self.folder)
            if here is None:
                return _kept(self.key, self._fetch)
            if not here.exists():
                raise SetupError(
                    f"the compiled queries are in {here}, a folder that {socket.gethostname()} does not see",
                    hint="name one that the driver and all workers of Spark share",
                )
            return here
        return _unpacked(self.key, self._unpack) / self.inside

    def _fetch(self, target: Path) -> None:
        assert self.folder is not None, "only what lies in a folder is fetched"
        remote_folders.fetch(self.folder, target)

    def _unpack(self, target: Path) -> None:
        assert self.content is not None, "a shipment has a folder or a content"
        with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
            archive.extractall(target)


def ship(qs: QuerySet, *, folder: str | None = None, local: bool) -> Shipment:
    """Make a set ready to travel; `local`: the workers run on this machine."""
    known = _shipped.setdefault(qs, {})
    if (folder, local) not in known:
        known[folder, local] = _ship(qs, folder, local)
    return known[folder, local]


def _ship(qs: QuerySet, folder: str | None, local: bool) -> Shipment:
    if qs.folder is not None and qs.folder.is_dir() and _reaches(qs.folder, folder, local):
        return Shipment(_saved_key(qs.folder), str(qs.folder))
    with tempfile.TemporaryDirectory(prefix="eddyline-") as scratch:
        draft = Path(scratch) / "set"
        qs.save(draft)
        key = content_key(draft)
        if folder is not None:
            return Shipment(key, remote_folders.publish(draft, folder, key))
        if local and sum(path.stat().st_size for path in draft.rglob("*")) > MAX_CONTENT:
            return Shipment(key, str(_kept(key, lambda target: _move(draft, target))))
        content = _archive(draft)
        if len(content) > MAX_ARCHIVE:
            raise EddylineError(
                f"the compiled set of {len(qs)} queries is too large to travel inside the plan",
                hint='name a folder that all workers can read: match(qs, folder="/shared/path or any URL of fsspec")',
            )
        return Shipment(key, None, content)


def ship_folder(folder: Path, *, shared: bool, private: bool = False) -> Shipment:
    """A set in a folder of this machine, ready to travel: by its path where workers share the folder, else inside the closure.

    Spark hands a large closure to each executor once per batch. A set that is too large for that is read by its path, unless
    the folder is `private`, this process's alone.
    """
    key = str(read_manifest(folder)["key"])
    if shared:
        return Shipment(key, str(folder))
    names = files_of(folder)
    inside = Path(names[-1]).parent
    root = folder.parents[len(inside.parts) - 1] if inside.parts else folder
    files = ((root / name, name) for name in names)
    try:
        return Shipment(key, None, _zipped(files, None if private else MAX_ARCHIVE), str(inside))
    except _TooLarge:
        return Shipment(key, str(folder))


def _reaches(saved: Path, folder: str | None, local: bool) -> bool:
    """Whether workers can read a set where it was loaded from."""
    return local if folder is None else remote_folders.local_path(folder) == saved


def content_key(folder: Path) -> str:
    """A name for what is in a folder: the names of its files and their bytes."""
    digest = hashlib.blake2b(digest_size=_KEY_LENGTH // 2)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _saved_key(folder: Path) -> str:
    """A name for a set that was saved before: its descriptions have the checksums of all other files."""
    digest = hashlib.blake2b(str(folder).encode(), digest_size=_KEY_LENGTH // 2)
    for path in sorted(folder.rglob("*.json")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _archive(folder: Path) -> bytes:
    return _zipped((path, str(path.relative_to(folder))) for path in sorted(folder.rglob("*")))


class _TooLarge(Exception):
    """An archive has more bytes than it may have."""


class _Bounded(io.BytesIO):
    """Bytes up to a number of them: what would be more is not held in memory first."""

    def __init__(self, most: int | None) -> None:
        super().__init__()
        self._most = most

    def write(self, content: Any, /) -> int:
        if self._most is not None and self.tell() + len(content) > self._most:
            raise _TooLarge
        return super().write(content)


def _zipped(files: Iterable[tuple[Path, str]], most: int | None = None) -> bytes:
    """Files as an archive, under these names."""
    content = _Bounded(most)
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, name in files:
            archive.write(path, name)
    return content.getvalue()


def _kept(key: str, make: Callable[[Path], None]) -> Path:
    """The folder of this machine that keeps a set, made if it is not there."""
    place = own_folder("sets") / key
    if not place.exists():
        _sweep(place.parent)
    return _made(place, make)


def _unpacked(key: str, make: Callable[[Path], None]) -> Path:
    """The same for a set that comes with every closure, so that it can be made again: only the newest ones stay.

    A pipeline whose queries change every minute makes some 1,400 sets a day.
    """
    place = own_folder("unpacked") / key
    with suppress(FileNotFoundError):
        os.utime(place)  # first: from here on nobody deletes it, until it has been opened
    if not place.exists():
        _sweep_unpacked(place.parent)
    return _made(place, make)


def _made(place: Path, make: Callable[[Path], None]) -> Path:
    """A folder, made if it is not there: complete as soon as it has its name."""
    if not place.exists():
        draft = place.with_name(f"{place.name}.{uuid4().hex}")
        make(draft)
        try:
            draft.rename(place)
        except OSError:  # another process was first
            shutil.rmtree(draft, ignore_errors=True)
            if not place.exists():
                raise
    return place


def _sweep(folder: Path) -> None:
    """Delete what was put here long ago; a process that has it open does not notice."""
    for old in folder.iterdir():
        with suppress(FileNotFoundError):  # swept by another process
            if time.time() - old.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(old, ignore_errors=True)


def _sweep_unpacked(folder: Path) -> None:
    """Delete what was unpacked here, but for the newest and those that somebody may be about to open.

    A process that has one open does not notice. One that is to be deleted loses its name first, so that nobody opens a part of it.
    """
    found = []
    for each in folder.iterdir():
        with suppress(FileNotFoundError):  # swept by another process
            found.append((each.stat().st_mtime, each))
    for _, old in sorted(found, reverse=True)[UNPACKED:]:
        gone = old.with_name(f"{old.name}.{uuid4().hex}")
        with suppress(FileNotFoundError):
            if (
                time.time() - old.stat().st_mtime > IN_USE
            ):  # looked at again, as it may have been opened meanwhile
                old.rename(gone)
                shutil.rmtree(gone, ignore_errors=True)


def _move(source: Path, target: Path) -> None:
    shutil.move(source, target)
