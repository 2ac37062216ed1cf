"""Compiled versions in a storage elsewhere, brought to this machine, and put there when they are new.

Segments and pages are named by their content, so that a file which is there need not be put again. As on disk, the manifest comes
last, and goes first: without one there is no version.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from eddyline.errors import FileError
from eddyline.standing.saved.files import MANIFEST, SEGMENTS, files_of, sweep
from eddyline.storage.local import LocalStorage
from eddyline.storage.storage import Storage

VERSIONS: Final = "versions"
PAGES: Final = "pages"


class SetMirror:
    """The versions of a storage, and the folder of this machine that has the same ones.

    Manifests are brought here at once, what they name when a version is needed: most are not, but for the newest.
    """

    def __init__(self, storage: Storage, root: Path) -> None:
        self._storage = storage
        self._root = root
        self._here = LocalStorage(root)
        self._whole: set[str] = set()  # versions that are here with all that they name
        self._there = {f"{folder}/{name}" for folder in (SEGMENTS, PAGES) for name in storage.list(folder)}
        for name in storage.folders(VERSIONS):
            with suppress(FileNotFoundError):  # without one it is none
                self._here.put(_manifest(name), storage.read(_manifest(name)))

    def publish(self, name: str) -> None:
        """Put a version that is here there, too."""
        self._whole.add(name)
        *contents, manifest = files_of(self._root / VERSIONS / name)
        for file in contents:
            if file not in self._there:
                self._storage.put(file, self._here.read(file))
                self._there.add(file)
        # If absent: one of the name was put by a process that owned the state before, of the same version of the registry.
        self._storage.put_if_absent(manifest, self._here.read(manifest))

    def forget(self, names: Iterable[str]) -> None:
        """Delete versions there."""
        for name in names:
            self._storage.delete(_manifest(name))
            self._storage.delete_folder(f"{VERSIONS}/{name}")

    def sweep(self, needed: Collection[str]) -> None:
        """Delete the segments and pages there that nobody needs."""
        sweep(self._storage, needed)
        self._there &= set(needed)

    def distrust(self, name: str) -> None:
        """Have all that a version names put there anew with the next one that names it: something of it is damaged."""
        with suppress(FileError):  # the manifest is
            self._there -= set(files_of(self._root / VERSIONS / name))

    def complete(self, name: str) -> bool:
        """Bring here what a version consists of; one of which something is missing is none, and is compiled again."""
        if name in self._whole:
            return True
        try:
            for file in files_of(self._root / VERSIONS / name)[:-1]:
                if not self._here.exists(file):
                    self._fetch(file)
        except (FileNotFoundError, FileError):  # something is missing, or the manifest is damaged
            shutil.rmtree(self._root / VERSIONS / name, ignore_errors=True)
            return False
        self._whole.add(name)
        return True

    def _fetch(self, file: str) -> None:
        """Bring a file here; it has its name, which says what is in it, when it is whole."""
        place = self._root / file
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.{uuid4().hex}.draft")
        try:
            self._storage.fetch(file, draft)
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)


def _manifest(name: str) -> str:
    return f"{VERSIONS}/{name}/{MANIFEST}"
