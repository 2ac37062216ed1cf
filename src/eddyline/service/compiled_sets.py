"""The queries of a registry, compiled: kept beside it from one command to the next, and made anew where that does not fit.

    eddyline.db
    eddyline.db.compiled/
        17-9f0c.../           the set of version 17; what comes later is applied to it when it is opened
        .new-51ab.../         one that is being written: it gets its name when it is whole

Nothing is lost with the folder. A set says which registry, version, time zone and release of Eddyline it was made for; one
that does not fit, or is damaged, is as good as none. Each is written under a name of its own, so that commands which run at
the same time do not disturb each other: who finds that a set was deleted while it was being opened compiles.
"""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version as release
from pathlib import Path
from typing import Final
from uuid import uuid4

from eddyline.admission.present import compiled, is_evaluated
from eddyline.compile import Compiler
from eddyline.config import DEFAULT_INDEX
from eddyline.errors import EddylineError, QueryError
from eddyline.registry import Diff, Entry, Registry
from eddyline.service.registries import file_of, is_file
from eddyline.standing.saved import files
from eddyline.standing.saved.files import Saved
from eddyline.standing.version import Newcomer, Version

LEAST_KEPT: Final = 2_000  # queries: fewer are compiled in some tenths of a second
FEW_CHANGES: Final = 500  # since a set was kept: they are applied when it is opened; more make a new one
MOST_CHANGES: Final = 20_000  # then everything is compiled anew
HOUR: Final = 3_600  # seconds after which nobody writes a set any more
NEW: Final = ".new-"

log = logging.getLogger("eddyline.service")


@dataclass(frozen=True, slots=True)
class CompiledSets:
    """The compiled sets of one registry, which somebody has opened at `where`."""

    registry: Registry
    where: str

    def __call__(self, compiler: Compiler) -> Version:
        """What stands in the registry now and is evaluated, for the streams of a compiler.

        The compiler may know more streams than the registry. Where it knows one otherwise, or another join window, nothing
        that is kept fits.
        """
        streams = self.registry.streams()
        known = {stream.name.lower(): stream for stream in compiler.streams}
        is_other = any(known.get(stream.name.lower()) != stream for stream in streams)
        if is_other or compiler.join_window != self.registry.join_window():
            return compiled(self.registry.entries(), compiler)
        found = self.newest(compiler.time_zone)
        return found if len(known) == len(streams) else found.change((), (), compiler=compiler).ready()

    def newest(self, time_zone: str = "UTC") -> Version:
        """The newest version of the registry, from what is kept if that fits; what pays to be kept is kept."""
        number = self.registry.version
        kept = self._kept(number, time_zone)
        if kept is not None:
            diff = self.registry.diff(kept.version, number)
            changes = len(diff.added) + len(diff.changed) + len(diff.removed)
            if not diff.streams and diff.join_window is None and changes <= MOST_CHANGES:
                found = _advanced(kept, diff).ready()
                return self._keeping(found) if changes > FEW_CHANGES else found
        return self._keeping(self._compiled(number, time_zone))

    def _compiled(self, number: int, time_zone: str) -> Version:
        streams, window = self.registry.streams(number), self.registry.join_window(number)
        compiler = Compiler(streams, time_zone=time_zone, join_window=window)
        empty = Version(number, compiler, DEFAULT_INDEX)
        coming = _newcomers(self.registry.entries(number), compiler)
        return empty.change((), coming, version=number).ready()

    def _notes(self, number: int, time_zone: str) -> dict[str, str | None]:
        """What a set has to have been made for, to be that of a version."""
        said = self.registry.versions([number])
        stamp = f"{said[0].at.isoformat()} {said[0].author}" if said else ""
        return {
            "registry": self.registry.identity,
            "stamp": stamp,
            "time_zone": time_zone,
            "eddyline": release("eddyline"),
        }

    def _kept(self, number: int, time_zone: str) -> Version | None:
        """The highest version, up to some number, that is kept and whole."""
        if self.registry.identity is None:
            return None
        found = [(version, folder) for root in self._roots() for version, folder in _sets(root)]
        for version, folder in sorted(found, key=lambda each: each[0], reverse=True):
            if version > number:
                continue  # of a registry that was restored from a copy
            try:
                if files.read_manifest(folder)["notes"] == self._notes(version, time_zone):
                    return files.load(folder)[1].version
            except (EddylineError, OSError, ValueError, KeyError, TypeError) as error:
                log.info("the compiled set in %s cannot be used: %s", folder, error)
        return None

    def _keeping(self, version: Version) -> Version:
        """The same, kept as well, if that pays and there is a place for it."""
        if self.registry.identity is None or len(version.table) < LEAST_KEPT or version.version == 0:
            return version
        notes = self._notes(version.version, version.compiler.time_zone)
        for root in self._roots():
            with suppress(OSError, EddylineError):
                _write(root, Saved(version, notes=notes))
                break
        return version

    def _roots(self) -> Iterator[Path]:
        """Where sets may be: beside a file, else with what the user's programs keep."""
        if is_file(self.where):
            file = file_of(self.where)
            yield file.with_name(f"{file.name}.compiled")
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        yield Path(cache) / "eddyline" / "compiled" / (self.registry.identity or "")


def _advanced(version: Version, diff: Diff) -> Version:
    """The version that a difference leads to; the streams and the join window are the same."""
    other = [(before, after) for before, after in diff.changed if not _stays(before, after)]
    gone = {entry.id for entry in (*diff.removed, *(before for before, _ in other))}
    leaving = [dense for id in gone if (dense := version.table.find(id)) is not None]
    coming = _newcomers([*(after for _, after in other), *diff.added], version.compiler)
    return version.change(leaving, coming, version=diff.new)


def _stays(before: Entry, after: Entry) -> bool:
    return before.sql == after.sql and is_evaluated(before) == is_evaluated(after)


def _newcomers(entries: Iterable[Entry], compiler: Compiler) -> list[Newcomer]:
    """The queries that are evaluated, without those that cannot be compiled here."""
    coming: list[Newcomer] = []
    for entry in entries:
        if is_evaluated(entry) and not entry.spark_only:
            with suppress(QueryError):
                coming.append(Newcomer(entry.query, compiler.compile(entry.query)))
    return coming


def _sets(root: Path) -> list[tuple[int, Path]]:
    """The sets in a folder, with their versions."""
    with suppress(OSError):
        return [(int(n), each) for each in root.iterdir() if (n := each.name.partition("-")[0]).isdigit()]
    return []


def _write(root: Path, saved: Saved) -> None:
    """Write a set, then give it its name, then delete all others: whoever is killed on the way leaves a whole one."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    token = uuid4().hex
    new, done = root / f"{NEW}{token}", root / f"{saved.version.version}-{token}"
    try:
        files.save(new, None, saved)
        new.rename(done)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    left = [each for each in root.glob(f"{NEW}*") if time.time() - each.stat().st_mtime > HOUR]
    for each in (*left, *(folder for _, folder in _sets(root) if folder != done)):
        shutil.rmtree(each, ignore_errors=True)
