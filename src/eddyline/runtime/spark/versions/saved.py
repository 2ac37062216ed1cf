"""The compiled versions in a folder: saved, found, opened, and deleted when nobody needs them.

A version's folder is called by the registry's number, `7`; where the same version had to be compiled again, because the
first was damaged or the time zone is another now, `7.1` and so on: the highest one holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from eddyline.errors import FileError
from eddyline.execute.segment import SegmentExecutor
from eddyline.runtime.spark.versions.compiled import SETTINGS, Compiled, Recipe
from eddyline.runtime.spark.versions.mirror import VERSIONS, SetMirror
from eddyline.standing.saved import files
from eddyline.standing.saved.files import MANIFEST, Saved, files_of, read_manifest, sweep
from eddyline.storage.local import LocalStorage
from eddyline.storage.storage import Storage


class SavedVersions:
    """Versions on disk. One process writes; any number may read what is complete.

    With `kept` they are kept there, and `root` is where they are worked with.
    """

    def __init__(self, root: Path, kept: Storage | None = None) -> None:
        self.root = root
        self.storage = LocalStorage(root)
        self._mirror = None if kept is None else SetMirror(kept, root)
        self._swept = False  # what an earlier process may have left when it was killed

    @property
    def is_private(self) -> bool:
        """Whether the folder is this process's alone, as the versions are kept elsewhere."""
        return self._mirror is not None

    def newest(self) -> int | None:
        """The highest version that is there."""
        return max((version for version, _ in self._builds()), default=None)

    def path(self, version: int) -> Path | None:
        """The folder of a version; None if it is not there."""
        for build in sorted((build for found, build in self._builds() if found == version), reverse=True):
            name = _name(version, build)
            if self._mirror is None or self._mirror.complete(name):
                return self.root / VERSIONS / name
        return None

    def save(self, compiled: Compiled, recipe: Recipe) -> Compiled:
        """Write what is new in a version; gives it back as one that knows where it lies."""
        build = 1 + max((b for version, b in self._builds() if version == compiled.version), default=-1)
        notes = {"stamp": compiled.stamp, "resolver": recipe.key, "problems": dict(compiled.problems)}
        saved = Saved(compiled.standing, compiled.pages, notes)
        pages = files.save(self.root, _name(compiled.version, build), saved)
        if self._mirror is not None:
            self._mirror.publish(_name(compiled.version, build))
        return replace(compiled, pages=pages)

    def load(self, version: int, recipe: Recipe) -> Compiled:
        """A version that is there, checked; queries that are added to it are compiled by the recipe."""
        folder = self.path(version)
        if folder is None:
            raise FileError(f"there is no compiled version {version} in {self.root}")
        with self._checking(folder):
            _, saved = files.load(folder, settings=SETTINGS, resolver=recipe.resolver)
        notes = saved.notes or {}
        return Compiled(notes["stamp"], saved.version, notes["problems"], saved.pages)

    def check(self, folder: Path) -> None:
        """Refuse a version of which something is missing or damaged."""
        with self._checking(folder):
            files.load(folder)

    @contextmanager
    def _checking(self, folder: Path) -> Iterator[None]:
        try:
            yield
        except FileError:
            if self._mirror is not None:
                self._mirror.distrust(folder.name)
            raise

    def fits(self, version: int, recipe: Recipe) -> bool:
        """Whether a version was compiled by the same recipe."""
        folder = self.path(version)
        if folder is None:
            return False
        manifest = read_manifest(folder)
        return bool(manifest["time_zone"] == recipe.time_zone and manifest["notes"]["resolver"] == recipe.key)

    def stamp(self, version: int) -> str | None:
        """What tells a version from one of the same number in another registry."""
        folder = self.path(version)
        try:
            return None if folder is None else str(read_manifest(folder)["notes"]["stamp"])
        except FileError:  # it is made again, and then it has one
            return None

    def forget(self, before: int, keep: Collection[int], used: Iterable[SegmentExecutor]) -> list[int]:
        """Delete versions below a number but for some, and what none of the others needs; gives their numbers."""
        builds = sorted(self._builds())
        newest = dict(builds)  # the highest compilation of each
        gone = [version for version in newest if version < before and version not in keep]
        stay = {_name(version, build) for version, build in newest.items() if version not in gone}
        strays = [name for name in self._names() if name not in stay]
        if self._swept and not strays:
            return []
        if self._mirror is not None:
            self._mirror.forget(strays)
        for name in strays:
            # First, and for good: from here on the version is none. If its manifest came back, it would name files that are gone.
            self.storage.delete(f"{VERSIONS}/{name}/{MANIFEST}")
            self.storage.delete_folder(f"{VERSIONS}/{name}")
        self._swept = False
        try:
            needed = {file for name in stay for file in files_of(self.root / VERSIONS / name)}
        except FileError:  # until it is made again, nobody knows which files it needs
            return gone
        needed |= {f"segments/{executor.name}" for executor in used}
        with self.storage.group():
            sweep(self.storage, needed)
        if self._mirror is not None:
            self._mirror.sweep(needed)
        self._swept = True
        return gone

    def _builds(self) -> list[tuple[int, int]]:
        """The versions that are complete, with the numbers of their compilations."""
        whole = [name for name in self._names() if self.storage.exists(f"{VERSIONS}/{name}/{MANIFEST}")]
        return [_numbers(name) for name in whole]

    def _names(self) -> list[str]:
        """The versions of which there is anything."""
        return [name for name in self.storage.folders(VERSIONS) if name.partition(".")[0].isdigit()]


def _name(version: int, build: int) -> str:
    return f"{version}.{build}" if build else str(version)


def _numbers(name: str) -> tuple[int, int]:
    version, _, build = name.partition(".")
    return int(version), int(build or 0)
