"""Which of two executors a batch goes to: row by row, or sliced with its pre-filter, by what each took before.

Which is quicker depends on the data, on the order of the subjects and on the rows of a batch (`selective` with 1,000
queries: row by row takes a fifth of the time at 512 rows, three quarters at 100,000; `paper` the half and twice as much).
So times are kept for each size of batches, and the executor that is not in use is tried now and then, as far as a small
share of the time pays for it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

WARM: Final = 0.25  # seconds of matching before anything is tried: the first time, kernels have to be loaded
SHARE: Final = 0.01  # of the time may be lost by trying
WORST: Final = 6.0  # times as long as the other may be what an executor takes that was never tried
BETTER: Final = 0.93  # part of the time in use below which the other is taken
CHANGED: Final = 1.5  # times as long as when the two were compared makes one ask again
TIMED: Final = 4  # of so many batches one is timed: reading the clock may take microseconds
FIRST_TRY: Final = 8  # batches until the next try, doubled with each that finds nothing
LAST_TRY: Final = 512


@dataclass(slots=True)
class Times:
    """What tuples took in the last batches; the least of these tells, since other work only adds to it."""

    last: deque[float] = field(default_factory=lambda: deque(maxlen=3))
    batches: int = 0
    tuples: int = 0
    seconds: float = 0.0

    @property
    def each(self) -> float | None:
        """Seconds for a tuple; None if nothing is known."""
        return min(self.last, default=None)

    def add(self, rows: int, seconds: float) -> None:
        """One batch more; the first one is not kept, since it had everything to load."""
        if self.batches:
            self.last.append(seconds / rows)
        self.batches += 1
        self.tuples += rows
        self.seconds += seconds


@dataclass(slots=True)
class Size:
    """Batches of about the same number of rows: the times of both executors, and which one is in use."""

    sliced: Times = field(default_factory=Times)
    rowwise: Times = field(default_factory=Times)
    by_row: bool = False
    batches: int = 0
    next_try: int = FIRST_TRY
    interval: int = FIRST_TRY
    compared: float | None = None  # what the one in use took when they were compared

    @property
    def is_suspicious(self) -> bool:
        """Whether the last batch took so much longer that the next ones are to be timed as well."""
        last = self.times(self.by_row).last
        return self.compared is not None and bool(last) and last[-1] > CHANGED * self.compared

    def times(self, by_row: bool) -> Times:
        """Those of one executor."""
        return self.rowwise if by_row else self.sliced


@dataclass(frozen=True, slots=True)
class Chosen:
    """How batches of up to `rows` rows are evaluated, and the nanoseconds that a tuple takes in either way, if known."""

    rows: int
    by_row: bool
    batches: int
    sliced: float | None
    rowwise: float | None

    def __str__(self) -> str:
        way = "row by row" if self.by_row else "sliced"
        known = [("row by row", self.rowwise), ("sliced", self.sliced)]
        times = [f"{name} {each:.0f} ns a tuple" for name, each in known if each is not None]
        return f"batches of up to {self.rows} rows {way} ({', '.join(times) or 'not timed yet'})"


class Choice:
    """Chooses for each batch; safe for threads."""

    def __init__(self) -> None:
        self._sizes: dict[tuple[str, int], Size] = {}
        self._seconds = self._allowed = 0.0
        self._lock = threading.Lock()

    @property
    def is_warm(self) -> bool:
        """Whether there was enough matching for it to matter."""
        return self._seconds >= WARM

    def pick(self, task: str, rows: int) -> tuple[bool, bool]:
        """Whether a batch is evaluated row by row, and whether its time is to be noted.

        A task is what is made of the matches, which is part of the time.
        """
        with self._lock:
            size = self._size(task, rows)
            size.batches += 1
            times = size.times(size.by_row)
            known = times.each
            timed = len(times.last) < 3 or size.batches % TIMED == 0 or size.is_suspicious
            if not self.is_warm or known is None or size.batches < size.next_try:
                return size.by_row, timed
            other = size.times(not size.by_row).each
            lost = rows * ((WORST * known if other is None else other) - known)
            return (size.by_row, timed) if lost > self._allowed else (not size.by_row, True)

    def note(self, task: str, rows: int, by_row: bool, seconds: float) -> None:
        """Take note of what a batch took."""
        with self._lock:
            size = self._size(task, rows)
            times = size.times(by_row)
            if by_row != size.by_row:
                times.last.clear()  # from long ago
            times.add(rows, seconds)
            weight = TIMED if by_row == size.by_row and size.batches % TIMED == 0 else 1
            self._seconds += weight * seconds
            self._allowed += SHARE * weight * seconds
            if by_row == size.by_row:
                self._ask_again_if_changed(size)
            elif times.each is not None:
                self._compare(size, rows * times.last[-1], rows)

    def chosen(self) -> Iterator[Chosen]:
        """What is in use, by size."""
        for (_, bits), size in sorted(self._sizes.items()):
            sliced, rowwise = (None if t.each is None else 1e9 * t.each for t in (size.sliced, size.rowwise))
            yield Chosen((1 << bits) - 1, size.by_row, size.batches, sliced, rowwise)

    def _size(self, task: str, rows: int) -> Size:
        key = task, rows.bit_length()
        found = self._sizes.get(key)
        if found is None:
            found = self._sizes[key] = Size()
        return found

    def _compare(self, size: Size, seconds: float, rows: int) -> None:
        """The executor that is not in use was tried."""
        known, found = size.times(size.by_row).each, size.times(not size.by_row).each
        assert known is not None and found is not None, "both were timed"
        self._allowed -= max(0.0, seconds - rows * known)
        if found < BETTER * known:
            size.by_row, size.interval = not size.by_row, FIRST_TRY
        else:
            size.interval = min(2 * size.interval, LAST_TRY)
        size.next_try = size.batches + size.interval
        size.compared = min(known, found)

    def _ask_again_if_changed(self, size: Size) -> None:
        each = size.times(size.by_row).each
        if each is not None and size.compared is not None and each > CHANGED * size.compared:
            size.compared, size.interval = each, FIRST_TRY
            size.next_try = size.batches + 1
