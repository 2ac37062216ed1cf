"""Rows of whole sources through the join stage, slice by slice in the order of event time, so that every pair is found.

    runs             slice             next slice
    quotes  ─────────|──────────       |─────         a run has some of a stream's rows, by event time
    quotes      ─────|──────────────   |
    trades  ─────────|───────────      |────
                   start              end             a step for each stream, then no row before `end` is to come

A pair is found in the slice that its later row is in. After each slice what no row to come can be joined with is forgotten,
so that only the widest window is kept, however long the sources are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.reading.batch import Columns
from eddyline.join.joined import Joined
from eddyline.join.state import JoinState
from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.model.event_time import LONGEST
from eddyline.model.roles import Roles

# Of each run in a slice, unless more have one event time, and of a step. Large steps are quicker; how much memory those of many
# joins take is known once a smaller one has told how many roles a row satisfies, and how many pairs it completes.
FIRST_ROWS: Final = 16_384
ROWS: Final = 65_536
MOST_ROWS: Final = 262_144
MASK_BITS: Final = 1 << 28  # rows times roles of a step that may be larger
FEWEST_ROWS: Final = 64
MOST_PAIRS: Final = 1 << 21  # pairs of a slice, as far as the one before tells
MOST_ROLES: Final = 1 << 24  # the same for the roles that its rows satisfy

# What is kept of rows that are numbered, beside the columns of their stream, none of which is called so.
PLACE: Final = "\0place"
ARRIVAL: Final = "\0arrival"

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RunRows:
    """Some rows of a run: the columns that joins read, and lineages by row: which roles each satisfies."""

    columns: Columns
    row: Integers
    role: Integers


class Run(Protocol):
    """Rows of a stream by event time; not all of its rows, if it has several runs."""

    @property
    def stream(self) -> Stream:
        """The stream."""

    @property
    def times(self) -> Numbers:
        """The event times, ascending; all of them near enough to 0 to be joined."""

    @property
    def places(self) -> Numbers | None:
        """A number for each row, which no other row of any run has; None: they have none."""

    def rows(self, start: int, end: int) -> RunRows:
        """The rows from one to another."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of a run from one to another; `arrival` where they are numbered."""

    run: Run
    start: int
    end: int
    arrival: Numbers | None = None

    def __len__(self) -> int:
        return self.end - self.start

    def cut(self, rows: int) -> Iterator[_Part]:
        """The same in parts of at most so many rows."""
        for start in range(self.start, self.end, rows):
            end = min(start + rows, self.end)
            own = None if self.arrival is None else self.arrival[start - self.start : end - self.start]
            yield _Part(self.run, start, end, own)

    @property
    def times(self) -> Numbers:
        return self.run.times[self.start : self.end]

    @property
    def places(self) -> Numbers:
        assert self.run.places is not None, "rows that are numbered have places"
        return self.run.places[self.start : self.end]


class Replay:
    """The pairs of rows that satisfy joins: as it is iterated over, those of each slice.

    Where the pairs of a slice are too many to be held together, they come in several lists. Where rows are `numbered`, two
    more columns can be had of pairs: `PLACE`, and `ARRIVAL`, how many rows come before it if all come by event time and place.
    Without `in_order`, pairs of a list come in any order.

    failed      joins that could not be evaluated for some pairs, by dense id; complete at the end
    """

    def __init__(
        self,
        roles: Roles,
        runs: Sequence[Run],
        *,
        time_zone: str,
        numbered: bool = False,
        in_order: bool = True,
    ) -> None:
        self.failed: dict[int, Exception] = {}
        self._runs = runs
        self._is_numbered = numbered
        self._in_order = in_order
        streams = {run.stream.name: run.stream for run in runs}
        self._streams = {name: self._kept(stream) for name, stream in streams.items()}
        self._roles = self._keeping_numbers(roles) if numbered else roles
        self._state = JoinState(time_zone=time_zone, complete=True)
        allowed = min(MASK_BITS // max(roles.size, 1), MOST_ROWS)
        self._first_rows, self._most_rows = max(allowed, FIRST_ROWS), max(allowed, ROWS)
        self._roles_met = 0
        self._starts = [0] * len(runs)
        self._arrived = 0

    def __iter__(self) -> Iterator[list[Joined]]:
        rows = self._first_rows
        while any(start < len(run.times) for start, run in zip(self._starts, self._runs, strict=True)):
            end = self._end_of_slice(rows)
            parts = self._parts_before(end)
            pairs, self._roles_met = 0, 0
            for found in self._join(parts):
                pairs += sum(map(len, found))
                yield found
            for stream in self._streams.values():
                self._state.advance(stream, end)
            size = sum(map(len, parts))
            by_pairs, by_roles = (
                MOST_PAIRS * size // max(1, 2 * pairs),
                MOST_ROLES * size // max(1, self._roles_met),
            )
            rows = max(FEWEST_ROWS, min(self._most_rows, by_pairs, by_roles))

    def _kept(self, stream: Stream) -> Stream:
        """A stream with the columns that are kept of it."""
        if not self._is_numbered:
            return stream
        numbers = [pa.field(name, pa.int64()) for name in (PLACE, ARRIVAL)]
        return replace(stream, schema=pa.schema([*stream.schema, *numbers]))

    def _keeping_numbers(self, roles: Roles) -> Roles:
        kept = {name: (*roles.payload.get(name, ()), PLACE, ARRIVAL) for name in self._streams}
        return replace(roles, payload={**roles.payload, **kept})

    def _end_of_slice(self, rows: int) -> int:
        """The time up to which a slice goes: no run has many more rows in it than are wanted."""
        heads = [
            (run.times, start)
            for run, start in zip(self._runs, self._starts, strict=True)
            if start < len(run.times)
        ]
        first = min(int(times[start]) for times, start in heads)
        ends = [int(times[start + rows]) for times, start in heads if start + rows < len(times)]
        return max(first + 1, min(ends, default=LONGEST))

    def _parts_before(self, end: int) -> list[_Part]:
        """The next rows of all runs, up to a time."""
        parts = []
        for number, (run, start) in enumerate(zip(self._runs, self._starts, strict=True)):
            stop = start + int(np.searchsorted(run.times[start:], end))
            self._starts[number] = stop
            if stop > start:
                parts.append(_Part(run, start, stop))
        return self._with_arrivals(parts) if self._is_numbered else parts

    def _with_arrivals(self, parts: list[_Part]) -> list[_Part]:
        places = np.concatenate([part.places for part in parts])
        order = np.lexsort((places, np.concatenate([part.times for part in parts])))
        arrival = np.empty(len(order), np.int64)
        arrival[order] = np.arange(self._arrived, self._arrived + len(order))
        self._arrived += len(order)
        ends = np.cumsum([len(part) for part in parts])
        return [
            replace(part, arrival=arrival[end - len(part) : end])
            for part, end in zip(parts, ends.tolist(), strict=True)
        ]

    def _join(self, parts: list[_Part]) -> Iterator[list[Joined]]:
        """What the rows of a slice find, stream by stream."""
        found: list[Joined] = []
        for name, stream in self._streams.items():
            own = [part for part in parts if part.run.stream.name == name]
            for several in _steps(own, self._most_rows):
                columns, row, role = _together(several)
                self._roles_met += len(role)
                step = self._state.step(stream, columns, row, role, self._roles, 0)
                for joined in step.pairs(in_order=self._in_order):
                    found.append(joined)
                    if sum(map(len, found)) > MOST_PAIRS:
                        yield found
                        found = []
                step.take_over()
                self.failed.update(step.failed)
        if found:
            yield found


def _steps(parts: list[_Part], rows: int) -> Iterator[list[_Part]]:
    """Parts of a stream for one step each: so many that they have enough rows, and cut where they have too many."""
    several: list[_Part] = []
    for piece in chain.from_iterable(part.cut(rows) for part in parts):
        several.append(piece)
        if sum(map(len, several)) >= rows:
            yield several
            several = []
    if several:
        yield several


def _together(parts: list[_Part]) -> tuple[Columns, Integers, Integers]:
    """The rows of several parts: columns and lineages."""
    found = [part.run.rows(part.start, part.end) for part in parts]
    firsts = np.cumsum([0, *(len(part) for part in parts[:-1])]).tolist()
    columns = {name: _joined_column([rows.columns[name] for rows in found]) for name in found[0].columns}
    arrivals = [part.arrival for part in parts if part.arrival is not None]
    if arrivals:
        columns[PLACE] = pa.array(np.concatenate([part.places for part in parts]))
        columns[ARRIVAL] = pa.array(np.concatenate(arrivals))
    row = np.concatenate([rows.row + first for rows, first in zip(found, firsts, strict=True)])
    return columns, row, np.concatenate([rows.role for rows in found])


def _joined_column(pieces: list[pa.Array | pa.ChunkedArray]) -> pa.Array | pa.ChunkedArray:
    if len(pieces) == 1:
        return pieces[0]
    arrays = [piece for column in pieces for piece in getattr(column, "chunks", [column])]
    return pa.chunked_array(arrays, pieces[0].type).unify_dictionaries()
