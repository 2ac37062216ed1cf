"""What a job tells while it works."""

from __future__ import annotations

from eddyline.runtime.embedded.sources import Progress
from eddyline.service.findings import Finding


class Watcher:
    """Nobody listens to this one; a command overrides what it shows to people, a server what it keeps for them."""

    def note(self, text: str) -> None:
        """Something to know that is no result."""

    def finding(self, finding: Finding) -> None:
        """Something is wrong with a query, and the job goes on without it."""

    def stage(self, text: str) -> None:
        """What begins now, and may take long."""

    def source(self) -> None:
        """The next source of rows begins."""

    def progress(self, progress: Progress) -> None:
        """How far a source is read."""

    def queries(self, what: str, done: int, total: int) -> None:
        """How many queries are checked, or compared."""


SILENT = Watcher()
