"""Compiled versions of a registry: each made from the one before it, saved, and there again after a restart.

registry   5 ── 6 ── 7 ── 8            diff(6, 8): two queries gone, one new
compiled   5 ── 6 ─────── 8            removed numbers, one small segment; everything else is shared
                └── 6' (rebuilt beside, when changes have piled up) ── the next version grows out of it
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eddyline.delivery.retry import Pause
from eddyline.errors import EddylineError, FileError, RegistryError
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.transport.shipping import Shipment, ship_folder
from eddyline.runtime.spark.versions.compiled import Compiled, Recipe
from eddyline.runtime.spark.versions.deliverables import Deliverables, open_deliverables
from eddyline.runtime.spark.versions.rebuild import Rebuild
from eddyline.runtime.spark.versions.saved import SavedVersions
from eddyline.sql.resolver import Resolver
from eddyline.storage.storage import Storage

if TYPE_CHECKING:
    from eddyline.registry import Registry

AGAIN: Final = 2.0  # seconds before something that failed is tried again
EMPTY: Final = "empty"  # the stamp of version 0


class Versions:
    """The versions of a registry, compiled for the workers; threads may share it.

    `problems` has the queries that are left out of the newest version and why; `trouble` says why the newest version of
    the registry is not in force yet, if it is not: the registry cannot be reached, the disk is full. `notices` are
    things that were mended, for the log.
    """

    def __init__(
        self,
        registry: Registry,
        folder: str | Path,
        *,
        kept: Storage | None = None,
        shared: bool = True,
        time_zone: str = "UTC",
        resolver: Resolver | None = None,
        resolver_key: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the versions in a folder of this machine, or those that are `kept` elsewhere, to work with them there.

        `shared` says that workers can read the folder. `resolver_key` is a text that changes when the resolver may answer
        otherwise.
        """
        self._registry = registry
        self._saved = SavedVersions(Path(folder).absolute(), kept)
        self._shared = shared
        self._passing = kept is not None
        self._recipe = Recipe(time_zone, resolver, resolver_key)
        self._lock = threading.RLock()
        self._pause = Pause(clock=clock)
        self._known = False  # that the registry is the one of the saved versions
        self._rebuild: Rebuild | None = None
        self._shipments: dict[int, Shipment] = {}
        self.trouble: str | None = None
        self.notices: list[str] = []
        self._newest = self._restored()
        try:
            at, stamps = self._registry_at()
        except RegistryError as error:
            if self._newest is None:
                raise
            self.trouble = error.message
        else:
            self._check_history(at, stamps)

    @property
    def problems(self) -> Mapping[str, str]:
        """The queries that are left out of the newest version, and why."""
        return {} if self._newest is None else dict(self._newest.problems)

    def current(self) -> int:
        """The newest version of the registry, compiled and on disk.

        Where that cannot be had now, the last one stays in force and `trouble` says why; it is tried again by a later
        call, after `AGAIN` seconds at the earliest.
        """
        with self._lock:
            newest = self._newest
            if newest is not None and not self._pause.is_over:
                return newest.version
            try:
                newest = self._advanced(newest)
                self._newest, self.trouble = newest, None
            except (EddylineError, OSError) as error:
                if newest is None:
                    raise
                self.trouble = error.message if isinstance(error, EddylineError) else str(error)
                self._pause.begin(AGAIN)
            return newest.version

    def shipment(self, version: int) -> Shipment:
        """A version as it travels to workers; one that is on disk no longer is compiled again."""
        with self._lock:
            if version not in self._shipments:
                folder = self._sound_folder(version)
                self._shipments[version] = ship_folder(folder, shared=self._shared, passing=self._passing)
            return self._shipments[version]

    def table(self, version: int) -> Deliverables:
        """What goes with the queries of a version, for the driver."""
        newest = self._newest
        if newest is not None and newest.version == version:
            return Deliverables(newest.standing)
        return open_deliverables(self.shipment(version))

    def queries(self, version: int) -> QuerySet:
        """The queries of a version, for the driver."""
        newest = self._newest
        if newest is not None and newest.version == version:
            return newest.queries
        return self.shipment(version).open()

    def forget(self, before: int, keep: Collection[int] = ()) -> list[int]:
        """Delete versions below a number, but for those to keep and the newest; gives their numbers.

        Keep the versions of batches that are pinned and not done: `{pin.version for pin in log.uncommitted()}`.
        """
        with self._lock:
            if self._rebuild is not None and not self._rebuild.is_done:
                return []  # its segments are in no version yet
            newest = () if self._newest is None else (self._newest.version,)
            placed = () if self._newest is None else self._newest.standing.segments
            used = [each.executor for each in placed]
            used += self._rebuild.segments if self._rebuild is not None else ()
            gone = self._saved.forget(before, {*keep, *newest}, used)
            for version in gone:
                self._shipments.pop(version, None)
            return gone

    def wait(self) -> None:
        """Until nothing is compiled beside any more; nobody has to, but tests and measurements want to know."""
        if self._rebuild is not None:
            self._rebuild.wait()

    def _advanced(self, newest: Compiled | None) -> Compiled:
        """The newest version, made and saved if it is not there."""
        if not self._known:
            self._check_history(*self._registry_at())
        version = self._registry.version
        if newest is not None and newest.version == version:
            return newest
        if newest is not None and newest.version > version:
            raise _went_back(newest.version, version)
        made = self._saved.save(self._made(self._base(newest), version), self._recipe)
        self._shipments.pop(version, None)
        if made.is_worn and self._rebuild is None:
            self._rebuild = Rebuild(self._saved, self._recipe, made)
        return made

    def _base(self, newest: Compiled | None) -> Compiled | None:
        """What the next version grows out of: the last one, or one without what piled up."""
        rebuild = self._rebuild
        if rebuild is None or not rebuild.is_done:
            return newest
        self._rebuild = None
        if rebuild.error is not None:
            self.notices.append(f"compiling version {rebuild.version} again failed: {rebuild.error}")
        return rebuild.result or newest

    def _made(self, base: Compiled | None, version: int) -> Compiled:
        stamp = self._stamp(version)
        if base is not None:
            diff = self._registry.diff(base.version, version)
            if not diff.streams:
                return self._recipe.advanced(base, diff, stamp)
        streams = self._registry.streams(version)
        return self._recipe.compiled(version, stamp, streams, self._registry.entries(version))

    def _restored(self) -> Compiled | None:
        """The newest version on disk; None where there is none that can be used as it is."""
        version = self._saved.newest()
        if version is None:
            return None
        try:
            return (
                self._saved.load(version, self._recipe) if self._saved.fits(version, self._recipe) else None
            )
        except FileError as error:
            self.notices.append(f"version {version} is compiled again: {error.message}")
            return None

    def _sound_folder(self, version: int) -> Path:
        """The folder of a version, in which nothing is damaged."""
        folder = self._saved.path(version)
        if folder is not None:
            try:
                self._saved.check(folder)
                return folder
            except FileError as error:
                self.notices.append(f"version {version} is compiled again: {error.message}")
        made = self._saved.save(self._made(None, version), self._recipe)
        if self._newest is not None and self._newest.version == version:
            self._newest = made  # workers open this one, in which queries may have other numbers
        folder = self._saved.path(version)
        assert folder is not None, "it was saved a moment ago"
        return folder

    def _registry_at(self) -> tuple[int, str | None]:
        """The registry's version, and its stamp of the newest version that is saved here."""
        saved, version = self._saved.newest(), self._registry.version
        return version, self._stamp(saved) if saved is not None and saved <= version else None

    def _check_history(self, version: int, stamp: str | None) -> None:
        """Refuse a registry that cannot have led to the versions that are saved here."""
        saved = self._saved.newest()
        if saved is not None and version < saved:
            raise _went_back(saved, version)
        if saved is not None and self._saved.stamp(saved) not in (None, stamp):
            raise RegistryError(
                f"version {saved} of the registry is not the one that this pipeline has served",
                hint="name the registry that it had before, or give the pipeline a new checkpoint",
            )
        self._known = True

    def _stamp(self, version: int) -> str:
        """What tells a version from one of the same number in another registry."""
        if version == 0:
            return EMPTY
        (found,) = self._registry.versions([version])
        return f"{found.at.isoformat()} {found.author}"


def _went_back(served: int, version: int) -> RegistryError:
    return RegistryError(
        f"the registry is at version {version}, and this pipeline has served version {served} already",
        hint="was it restored from an older copy? restore a newer one, or give the pipeline a new checkpoint",
    )
