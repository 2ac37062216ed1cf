"""What the kept tuples of a partner stream lack to be joined with one new tuple: how many are left after each check.

    kept ─► key ─► window ─► came since the join was added ─► conditions of its side ─► residual

Nothing is joined or changed by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import numbers
from eddyline.functions.zones import Zone
from eddyline.join.joined import Held
from eddyline.join.keys import Codes, hashed, keys_of, same_values
from eddyline.join.segment import Segment
from eddyline.join.watermark import Watermark, clock_of, judge
from eddyline.model.arrays import Flags
from eddyline.model.expression import Column, Expression, columns_of
from eddyline.model.join import virtual_column
from eddyline.model.roles import Roles

CHECKS: Final = ("key", "window", "standing", "side", "residual")  # in this order

Row = Mapping[str, pa.Array | pa.ChunkedArray]
Check = Callable[[npt.NDArray[np.int64]], Flags]  # of some tuples, by their places
Passed = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Miss:
    """A tuple that is no partner, and what is kept of it.

    check       the first that it fails, one of `CHECKS`
    time        its event time
    residual    what the residual says of it, where that is what fails
    columns     one row of each
    """

    check: str
    time: int
    residual: bool | None
    columns: Mapping[str, pa.Array]


@dataclass(frozen=True, eq=False)
class Partners:
    """The partners of one new tuple in one role.

    left        how many tuples are kept, and how many are left after each of `CHECKS`
    positions   of those that are left in the end
    miss        if there are none, the one that fails at the latest check, of several the nearest in time
    """

    left: tuple[int, ...]
    positions: Codes
    miss: Miss | None


NO_PARTNERS: Final = Partners((0,) * (len(CHECKS) + 1), np.empty(0, np.int64), None)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a tuple that has an event time would be left out of joins: it is late, or ahead; and by how much, in units."""

    reason: str
    distance: int


def left_out(watermark: Watermark, row: Evaluation, now: int, zone: Zone) -> LeftOut | None:
    """Why the only tuple of an evaluation, which has an event time, would be left out; `now` as for `clock_of`."""
    times = watermark.times
    clock = clock_of(times, now, zone)
    judged = judge(watermark, row.values(Column(times.column, times.type)), clock)
    if not judged.left_out:
        return None
    (reason,) = judged.left_out
    limit = watermark.value() if reason == "late" else clock + (times.ahead or 0)
    assert limit is not None, "nothing is late without a watermark"
    return LeftOut(reason, abs(int(judged.times[0]) - limit))


class Nearness(NamedTuple):
    """How near a tuple is to being a partner, the nearest coming first; of several the one that came last.

    outside, distance   of the window, and of the event times
    age, place          its position below 0, and where it stands among those that were looked at
    """

    checks_left: int
    outside: int
    distance: int
    age: int
    place: int


def passed_checks(count: int, checks: Iterable[Check]) -> Passed:
    """How many of `CHECKS` each of some tuples passes before the first that it fails."""
    passed = np.zeros(count, np.int8)
    places = np.arange(count)
    for check in checks:
        places = places[check(places)]
        passed[places] += 1
    return passed


def nearest(passed: Passed, outside: Codes, distance: Codes, positions: Codes) -> list[Nearness]:
    """The nearest of the tuples that are no partners, if there are any."""
    missed = np.flatnonzero(passed < len(CHECKS))
    if not len(missed):
        return []
    most = int(passed[missed].max())
    missed = missed[passed[missed] == most]
    place = int(missed[np.lexsort((-positions[missed], distance[missed], outside[missed]))[0]])
    measures = int(outside[place]), int(distance[place]), -int(positions[place])
    return [Nearness(len(CHECKS) - most, *measures, place)]


class Search:
    """Looks for the partners of one new tuple, which has an event time and takes this role, among what is kept.

    arrived     the position of the first tuple of the partner stream that came when the join stood
    """

    def __init__(
        self, row: Row, role: int, roles: Roles, arrived: int, times: Column, held: Held, time_zone: str
    ) -> None:
        self._row, self._held, self._time_zone = row, held, time_zone
        self._evaluation = Evaluation(row, time_zone=time_zone, rows=1)
        self._time = int(numbers(self._evaluation.values(times))[0])
        self._arrived = arrived
        self._partner = partner = int(roles.partner[role])
        self._is_free = bool(roles.free[partner])
        self._window = int(roles.low[partner]), int(roles.high[partner])
        self._side = int(roles.side[partner])
        self._residual = roles.residuals[roles.residual[partner]] if roles.residual[partner] >= 0 else None
        self._key, self._partner_key = roles.stems[roles.stem[role]], roles.stems[roles.stem[partner]]
        keys = keys_of(self._key, self._evaluation, 1)
        self._code = int(keys.codes[0]) if keys.valid is None or keys.valid[0] else None

    def partners(self, segments: Iterable[Segment]) -> Partners:
        """All of them."""
        left = np.zeros(len(CHECKS) + 1, np.int64)
        positions: list[Codes] = [np.empty(0, np.int64)]
        misses = []
        for segment in segments:
            tuples, passed = segment.tuples, self._passed(segment)
            left += [np.count_nonzero(passed >= check) for check in range(len(left))]
            positions.append(tuples.positions[passed == len(CHECKS)])
            distance = np.abs(tuples.times - self._time)
            for found in nearest(passed, self._outside(tuples.times), distance, tuples.positions):
                misses.append((found, int(tuples.times[found.place])))
        miss = self._miss(*min(misses)) if misses and not left[-1] else None
        return Partners(tuple(left.tolist()), np.sort(np.concatenate(positions)), miss)

    def _passed(self, segment: Segment) -> Passed:
        tuples = segment.tuples
        checks: tuple[Check, ...] = (
            lambda places: self._have_same_key(tuples.keys[places], tuples.positions[places]),
            lambda places: self._outside(tuples.times[places]) == 0,
            lambda places: tuples.positions[places] >= self._arrived,
            lambda places: self._have_role(segment, places),
            lambda places: np.array([v is True for v in self._residuals(tuples.positions[places])], np.bool_),
        )
        return passed_checks(len(tuples), checks)

    def _have_same_key(self, codes: Codes, positions: Codes) -> Flags:
        """Whether tuples have the same code, and where that does not say everything the same key."""
        if self._code is None:
            return np.zeros(len(codes), np.bool_)
        same: Flags = codes == self._code
        if hashed(self._key, np.array([self._code])).any():
            same[same] = self._have_equal_values(positions[same])
        return same

    def _have_equal_values(self, positions: Codes) -> Flags:
        repeated = pa.array(np.zeros(len(positions), np.int64))
        left = [self._evaluation.values(expression).take(repeated) for expression in self._key.expressions]
        expressions = self._partner_key.expressions
        names = sorted(set[str]().union(*map(columns_of, expressions)))
        columns = dict(zip(names, self._held.columns(names, positions), strict=True))
        evaluation = Evaluation(columns, time_zone=self._time_zone, rows=len(positions))
        return same_values(self._key, left, [evaluation.values(expression) for expression in expressions])

    def _outside(self, times: Codes) -> Codes:
        """How far event times lie outside of the window."""
        low, high = self._window
        difference = times - self._time
        outside: Codes = np.maximum(np.maximum(low - difference, difference - high), 0)
        return outside

    def _have_role(self, segment: Segment, places: npt.NDArray[np.int64]) -> Flags:
        tuples = segment.tuples
        lists = (tuples.lists[tuples.begins[place] : tuples.ends[place]] for place in places.tolist())
        return np.array([self._is_free or self._partner in lineage for lineage in lists], np.bool_)

    def _residuals(self, positions: Codes) -> list[bool | None]:
        """What the residual says of tuples."""
        residual, count = self._residual, len(positions)
        if residual is None or not count:
            return [True] * count
        repeated = pa.array(np.zeros(count, np.int64))
        columns: dict[str, pa.Array] = {}
        for side, alias in enumerate(residual.aliases):
            names = _names_of(residual.expression, alias)
            theirs = side == self._side
            own = [] if theirs else [_array(self._row[name]).take(repeated) for name in names]
            values = self._held.columns(names, positions) if theirs else own
            columns.update(zip([virtual_column(alias, name) for name in names], values, strict=True))
        evaluation = Evaluation(columns, time_zone=self._time_zone, rows=count)
        found: list[bool | None] = evaluation.values(residual.expression).to_pylist()
        return found

    def _miss(self, found: Nearness, time: int) -> Miss:
        check, position = CHECKS[-found.checks_left], -found.age
        residual = self._residuals(np.array([position]))[0] if check == "residual" else None
        return Miss(check, time, residual, self._held.kept(position))


def _names_of(expression: Expression, alias: str) -> list[str]:
    prefix = virtual_column(alias, "")
    return sorted(name.removeprefix(prefix) for name in columns_of(expression) if name.startswith(prefix))


def _array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
