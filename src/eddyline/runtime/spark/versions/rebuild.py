"""A version compiled anew beside everything else, when too many changes have piled up in it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from eddyline.execute.segment import SegmentExecutor
from eddyline.runtime.spark.versions.compiled import Compiled, Recipe
from eddyline.runtime.spark.versions.saved import SavedVersions
from eddyline.standing.saved.files import save_segments


class Rebuild:
    """Compiles a version again in a thread and writes its segments, which take longest; the rest is left to its user."""

    def __init__(self, saved: SavedVersions, recipe: Recipe, worn: Compiled) -> None:
        self.version = worn.version
        self.result: Compiled | None = None
        self.error: str | None = None
        self._thread = threading.Thread(
            target=self._run, args=(saved, recipe, worn), name="eddyline-rebuild", daemon=True
        )
        self._thread.start()

    def _run(self, saved: SavedVersions, recipe: Recipe, worn: Compiled) -> None:
        try:
            fresh = recipe.rebuilt(worn)
            save_segments(saved.storage, fresh.standing.segments)
            self.result = fresh
        except Exception as error:  # whatever it is, the version that there is goes on
            self.error = f"{type(error).__name__}: {error}"

    @property
    def is_done(self) -> bool:
        """Whether there is a result or an error."""
        return not self._thread.is_alive()

    @property
    def segments(self) -> Sequence[SegmentExecutor]:
        """The segments of the result."""
        return () if self.result is None else [placed.executor for placed in self.result.standing.segments]

    def wait(self) -> None:
        """Until it is done."""
        self._thread.join()
