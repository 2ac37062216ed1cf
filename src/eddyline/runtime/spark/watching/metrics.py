"""Reports as lines of JSON in a file that never fills a disk: written by `Metrics`, followed by `Tail`.

The file is how a pipeline's processes meet: under Spark Connect a batch runs in another process than the one that shows
it. A line is one `write`, so that a killed process leaves whole lines, or at worst a last half, which readers skip.
When the file has reached its size it becomes `<name>.1` in one step, and the new one begins with the sums so far:

    metrics.jsonl.1    {"format": 1, "totals": {...}}  {"format": 1, report}  {"format": 1, report} ...
    metrics.jsonl      {"format": 1, "totals": {...}}  {"format": 1, report} ...

Both together have at most twice MOST_BYTES and a line. A line of another format is refused, with its number.

It is no part of a pipeline's state: nothing is flushed, and reports may be lost with the power. Where the state lies on another
file system, a copy is kept there (`KeptMetrics`).
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from eddyline.errors import FileError
from eddyline.runtime.spark.watching.logs import event
from eddyline.runtime.spark.watching.totals import PipelineTotals
from eddyline.runtime.spark.watching.values import FORMAT, BatchReport

MOST_BYTES: Final = 16 * 1024 * 1024

_log = logging.getLogger(__name__)


class Metrics:
    """Appends one line per batch. Safe for threads and for several processes that write the same file.

    A disk that takes no more is no reason to stop a pipeline: the report is lost, `lost` counts it, the log says so.
    """

    def __init__(self, path: Path | str, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = Path(path)
        self.lost = 0
        self._most_bytes = most_bytes

    def batch(self, report: BatchReport) -> None:
        """Keep a report."""
        event(_log, "batch", **report.to_json())
        try:
            with _locked(self.path) as file:
                _append(file, report.to_json())
                if os.fstat(file).st_size >= self._most_bytes:
                    _rotate(self.path)
        except OSError as error:
            self.lost += 1
            _log.warning(
                "the report of batch %d of %s is lost: %s", report.batch_id, report.source, error.strerror
            )

    @property
    def totals(self) -> PipelineTotals:
        """The sums of everything that was ever reported here."""
        tail = Tail(self.path)
        tail.read()
        return tail.totals


class Tail:
    """Gives the reports of a file as they come, also across its rotations; `totals` sums them and all before them."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.totals = PipelineTotals()
        self._inode: int | None = None
        self._place = 0

    def read(self) -> list[BatchReport]:
        """What was reported since the last call; at first everything that the file still has."""
        reports: list[BatchReport] = []
        for found in self._lines():
            if isinstance(found, PipelineTotals):
                self.totals = found
            else:
                reports.append(found)
                self.totals = self.totals.plus(found)
        return reports

    def skip(self) -> None:
        """Pass over what is there already; the sums have it."""
        self.read()

    def _lines(self) -> Iterator[BatchReport | PipelineTotals]:
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            inode = os.fstat(file.fileno()).st_ino
            if self._inode not in (None, inode):
                yield from self._rest_of_old()
                self._place = 0
            self._inode = inode
            file.seek(self._place)
            text = _whole_lines(file.read())
        self._place += len(text)
        yield from _parsed(text, self.path)

    def _rest_of_old(self) -> Iterator[BatchReport | PipelineTotals]:
        """What came to the file after our last look and before it was put aside."""
        try:
            with _aside(self.path).open("rb") as file:
                if os.fstat(file.fileno()).st_ino == self._inode:
                    file.seek(self._place)
                    yield from _parsed(_whole_lines(file.read()), self.path)
        except FileNotFoundError:
            return


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, open for appending, while nobody else writes or rotates it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                current = path.stat().st_ino == os.fstat(file).st_ino
            except FileNotFoundError:
                current = False
            if current:  # else it was rotated while we waited
                yield file
                return
        finally:
            os.close(file)


def _append(file: int, value: dict[str, Any]) -> None:
    """A line by one write; behind the rest of a line that a killed process left, a new line begins."""
    size = os.fstat(file).st_size
    broken = size > 0 and os.pread(file, 1, size - 1) != b"\n"
    text = json.dumps({"format": FORMAT, **value}, separators=(",", ":"), ensure_ascii=False)
    line = ("\n" if broken else "") + text + "\n"
    content = line.encode("utf-8", "backslashreplace")
    if os.write(file, content) < len(content):
        raise OSError(28, "no space left on device")


def _rotate(path: Path) -> None:
    totals = Metrics(path).totals
    fresh = path.with_name(path.name + ".new")
    with fresh.open("wb") as file:
        _append(file.fileno(), {"totals": totals.to_json()})
    aside = path.with_name(path.name + ".old")
    aside.unlink(missing_ok=True)
    aside.hardlink_to(path)  # and not a rename: at every moment there is a file of the name, with all sums
    aside.replace(_aside(path))
    fresh.replace(path)


def _aside(path: Path) -> Path:
    return path.with_name(path.name + ".1")


def _whole_lines(text: bytes) -> bytes:
    return text[: text.rfind(b"\n") + 1]


def _parsed(text: bytes, path: Path) -> Iterator[BatchReport | PipelineTotals]:
    """What the lines say; one that is no document of ours, such as the half line of a killed process, says nothing."""
    for line in text.splitlines():
        try:
            found = json.loads(line)
            written = found.get("format", FORMAT)
            if written != FORMAT:
                raise FileError(
                    f"{path} has reports of format {written}, and this release reads format {FORMAT}",
                    hint="use the release that wrote it, or move the file away: the sums then begin anew, and nothing "
                    "else is lost",
                )
            yield (
                PipelineTotals.from_json(found["totals"])
                if "totals" in found
                else BatchReport.from_json(found)
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
