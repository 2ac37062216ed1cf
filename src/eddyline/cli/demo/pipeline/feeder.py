"""Market data that arrives as files: JSON lines, compressed, one file a second, each there at once and whole."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa

from eddyline.delivery.json_text import json_lines
from eddyline.testing.market import Market

NAME: Final = "quotes-{:05}.json.gz"
# what a feed gets wrong now and then: a line that was cut, a number that is none, no JSON at all
BROKEN: Final = (
    '{"at":"2026-01-05T14:30:00.000000Z","symbol":"AX',
    '{"at":"2026-01-05T14:30:00.000000Z","symbol":"AXAX","price":"a lot","volume":100}',
    "connection reset by peer",
)
BROKEN_EVERY: Final = 4  # files
AHEAD: Final = 2  # files that may wait to be read
LEAST: Final = 4  # files that come on the slowest machine
LOOK: Final = 0.05  # seconds


def broken_in(number: int) -> int:
    """How many lines of the file of that number cannot be read."""
    return len(BROKEN) if number % BROKEN_EVERY == BROKEN_EVERY - 1 else 0


class Feeder:
    """Writes the files from a thread of its own, at an even pace, until all are written or it is stopped.

    The pace begins when the first file was read: until then Spark starts its workers. Where the reader falls behind, the
    feeder waits for it, and on a machine that is too slow for the pace it ends early: a demo must come to its end.
    """

    def __init__(
        self,
        folder: Path,
        *,
        seed: int,
        rows: int,
        files: int,
        pace: float,
        longest: float,
        read: Callable[[], int],
    ) -> None:
        """`pace` is in files a second, `longest` in seconds from now on; `read` says how many files were read so far."""
        self.files = 0  # written so far
        self.rows = 0  # those that can be read
        self.broken = 0
        self._folder = folder
        self._market = Market(seed)
        self._plan = rows, files, pace, longest
        self._read = read
        self._born = time.monotonic()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._feed, name="eddyline-feeder", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether no file will come any more."""
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Write no further file."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _feed(self) -> None:
        rows, files, pace, longest = self._plan
        begin = None
        for number in range(files):
            write_file(self._folder / NAME.format(number), self._market.batch(rows), broken_in(number))
            self.files, self.rows = number + 1, self.rows + rows
            self.broken += broken_in(number)
            ahead = AHEAD if begin is not None else 0
            while self.files - self._read() > ahead and not self._stopped.wait(LOOK):
                continue
            begin = begin or time.monotonic()
            late = time.monotonic() > self._born + longest and self.files >= LEAST
            if late or self._stopped.wait(max(0.0, begin + (number + 1) / pace - time.monotonic())):
                return


def write_file(path: Path, batch: pa.RecordBatch, broken: int = 0) -> None:
    """A batch as JSON lines, some broken ones in the middle; the file has its name when it is whole."""
    lines = json_lines(batch).to_pylist()
    middle = len(lines) // 2
    lines[middle:middle] = BROKEN[:broken]
    hidden = path.with_name(f".{path.name}.part")  # Spark does not look at names that begin with a dot
    hidden.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), compresslevel=1))
    hidden.rename(path)
