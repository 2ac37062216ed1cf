"""Which way a batch goes: row by row, sliced, or sliced behind a filter of the first subjects, by what each took before.

Which is the quickest depends on the data, on the order of the subjects and on the rows of a batch (`selective` with 1,000
queries: row by row takes a quarter of the time at 512 rows, three quarters at 100,000; `paper` the half and twice as
much). So times are kept for each size of batches, and the ways that are not in use are tried now and then, as far as a
small share of the time pays for it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from eddyline.execute.steering.protocol import Job, Way

WARM: Final = 0.25  # seconds of matching before anything is tried: the first time, kernels have to be loaded
SHARE: Final = 0.005  # of the time may be lost by trying,
CREDIT: Final = 0.02  # and so many seconds by trying what was never tried, so that all ways are known soon
WORST: Final = 6.0  # times as long as the one in use may be what a way takes that was never tried
BETTER: Final = 0.97  # part of the time in use below which another way is taken
CHANGED: Final = 1.5  # times as long as when the ways were compared makes one ask again
STARTLING: Final = 3.0  # the same for two batches in a row; one may have been disturbed
TIMED: Final = 16  # of so many short batches one is timed: that takes ten microseconds
LONG: Final = 0.0005  # seconds from which every batch is timed
TRIES: Final = 2  # batches in a row that go another way: what it reads is not in cache for the first one
FIRST_TRY: Final = 8  # batches until the next try, doubled with each that finds nothing
LAST_TRY: Final = 4_096


@dataclass(slots=True)
class Times:
    """What tuples took in the last batches that went one way; the least of these tells, since other work only adds to it.

    due: from which batch on the way is tried again, `interval` batches after it was last in vain.
    """

    last: deque[float] = field(default_factory=lambda: deque(maxlen=3))
    due: int = FIRST_TRY
    interval: int = FIRST_TRY
    tried: int = 0  # batches in a row

    @property
    def each(self) -> float | None:
        """Seconds for a tuple; None if nothing is known."""
        return min(self.last, default=None)

    def wait(self, now: int, interval: int) -> None:
        """Try again after so many batches."""
        self.due, self.interval, self.tried = now + interval, interval, 0


@dataclass(slots=True)
class Size:
    """Batches of about the same number of rows: the times of all ways, and which one is in use.

    quiet: how many batches go that way before the next one is timed, which then stands for `stands` batches.
    """

    times: dict[Way, Times]
    in_use: Way
    batches: int = 0
    quiet: int = 0
    stands: int = 1
    compared: float | None = None  # what the one in use took when the ways were compared

    @property
    def others(self) -> list[Times]:
        """The ways that are not in use."""
        return [times for way, times in self.times.items() if way != self.in_use]


@dataclass(frozen=True, slots=True)
class Chosen:
    """How batches of up to `rows` rows are evaluated, and the nanoseconds that a tuple takes in each way, where known."""

    rows: int
    way: Way
    batches: int
    nanoseconds: dict[Way, float]

    def __str__(self) -> str:
        times = [f"{name} {each:.0f} ns a tuple" for name, each in self.nanoseconds.items()]
        return f"batches of up to {self.rows} rows {self.way} ({', '.join(times) or 'not timed yet'})"


class Choice:
    """Chooses for each batch; safe for threads. Of the ways given the first is in use until another is quicker.

    before: the choice of a set that this one takes the place of; what was in use there is where this one begins.
    """

    def __init__(self, ways: Sequence[Way] = ("sliced", "row by row"), before: Choice | None = None) -> None:
        self.ways = tuple(ways)
        self._sizes: dict[tuple[Job, int], Size] = {}
        self._seconds, self._allowed, self._credit = 0.0, 0.0, CREDIT
        self._loaded: set[Way] = set()  # ways whose kernels are loaded
        self._lock = threading.Lock()
        if before is not None:
            self._seconds, self._credit = before._seconds, before._credit
            self._loaded |= before._loaded
            for (job, bits), size in before._known_sizes():
                self._sizes[job, bits] = self._begun(size.in_use)

    @property
    def seconds(self) -> float:
        """What all batches took so far."""
        return self._seconds

    @property
    def is_warm(self) -> bool:
        """Whether there was enough matching for it to matter."""
        return self._seconds >= WARM

    def pick(self, job: Job, rows: int) -> tuple[Way, bool]:
        """Which way a batch goes, and whether its time is to be noted."""
        size = self._sizes.get((job, rows.bit_length()))
        if size is not None and size.quiet > 0:
            size.quiet -= 1
            return size.in_use, False
        with self._lock:
            return self._pick(self._size(job, rows), rows), True

    def note(self, job: Job, rows: int, way: Way, seconds: float) -> int:
        """Take note of what a batch took; gives for how many batches it stands."""
        with self._lock:
            size = self._size(job, rows)
            stood = size.stands
            if way == size.in_use:
                self._note_usual(size, rows, seconds)
                return stood
            self._note_try(size, way, rows, seconds)
            return 1

    def ask_again(self) -> None:
        """Something has changed that may make another way the quickest, such as the order of the subjects."""
        with self._lock:
            for size in self._sizes.values():
                _ask_again(size)

    def chosen(self) -> Iterator[Chosen]:
        """What is in use, by size."""
        for (_, bits), size in self._known_sizes():
            known = {way: 1e9 * times.each for way, times in size.times.items() if times.each is not None}
            yield Chosen((1 << bits) - 1, size.in_use, size.batches, known)

    def _size(self, job: Job, rows: int) -> Size:
        key = job, rows.bit_length()
        found = self._sizes.get(key)
        if found is None:
            found = self._sizes[key] = self._begun(self.ways[0])
        return found

    def _known_sizes(self) -> list[tuple[tuple[Job, int], Size]]:
        with self._lock:
            return sorted(self._sizes.items())

    def _begun(self, way: Way) -> Size:
        """A size of which nothing is timed yet."""
        return Size({each: Times() for each in self.ways}, way if way in self.ways else self.ways[0])

    def _pick(self, size: Size, rows: int) -> Way:
        """The way in use, or another one if it is time to try it and to lose what that may cost."""
        known = size.times[size.in_use].each
        if known is None or not self.is_warm:
            return size.in_use
        for way, times in size.times.items():
            if way == size.in_use or size.batches < times.due:
                continue
            if times.each is None:
                is_cheap = rows * (WORST - 1) * known <= self._allowed + self._credit
            else:
                is_cheap = rows * (times.each - known) <= self._allowed
            if is_cheap:
                return way
        return size.in_use

    def _add(self, way: Way, times: Times, each: float) -> None:
        """Keep a time; not the first one of a way, which had everything to load."""
        if way in self._loaded:
            times.last.append(each)
        self._loaded.add(way)

    def _pay(self, lost: float, is_new: bool) -> None:
        """So many seconds were lost by a try."""
        credit = min(lost, self._credit) if is_new else 0.0
        self._credit -= credit
        self._allowed -= lost - credit

    def _note_usual(self, size: Size, rows: int, seconds: float) -> None:
        """A batch went the way that is in use; short ones are left alone for a while if nothing is unusual."""
        times = size.times[size.in_use]
        self._add(size.in_use, times, seconds / rows)
        size.batches += size.stands
        self._seconds += size.stands * seconds
        self._allowed += SHARE * size.stands * seconds
        unusual = size.compared is not None and seconds > CHANGED * rows * size.compared
        if unusual and _has_changed(times, size.compared or 0.0):
            size.compared = times.each
            _ask_again(size)
        is_calm = seconds < LONG and len(times.last) == times.last.maxlen and not unusual
        size.stands = TIMED if is_calm else 1
        size.quiet = size.stands - 1

    def _note_try(self, size: Size, way: Way, rows: int, seconds: float) -> None:
        """A batch went another way: that is in use from now on if it is clearly quicker."""
        times, known = size.times[way], size.times[size.in_use].each
        size.batches += 1
        is_new = times.each is None
        if not times.tried:
            times.last.clear()  # from long ago
        self._add(way, times, seconds / rows)
        if known is None:
            return
        self._pay(min(max(0.0, seconds - rows * known), WORST * rows * known), is_new)
        if times.each is None:
            return
        times.tried += 1
        size.compared = min(known, times.each)
        if BETTER * known < times.each < STARTLING * known and times.tried < TRIES:
            return
        if times.each < BETTER * known:
            size.in_use, times.tried = way, 0
            for other in size.others:
                other.wait(size.batches, FIRST_TRY)
        else:
            times.wait(size.batches, min(2 * times.interval, LAST_TRY))


def _has_changed(times: Times, before: float) -> bool:
    """Whether the last batches took so much longer than before that the older times tell nothing any more."""
    newest = list(times.last)[-2:]
    if len(newest) == 2 and min(newest) > STARTLING * before:
        times.last.clear()
        times.last.extend(newest)
    return (times.each or 0.0) > CHANGED * before


def _ask_again(size: Size) -> None:
    """Try all other ways soon."""
    size.quiet, size.stands = 0, 1
    for other in size.others:
        other.due, other.interval = size.batches, FIRST_TRY
