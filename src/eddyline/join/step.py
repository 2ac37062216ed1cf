"""One step of a join stage: what the new tuples of one stream find, part by part, and what is to be kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.errors import PASSED_ON
from eddyline.functions.evaluate import Evaluation
from eddyline.join.joined import Held, Joined, ordered, unordered
from eddyline.join.keys import Codes, Keys, hashed, may_be_hashed, same_values
from eddyline.join.links import owned
from eddyline.join.payload import Chunk
from eddyline.join.probe import Found
from eddyline.join.residual import Shapes, evaluate_shape
from eddyline.join.segment import Segment
from eddyline.join.watermark import Judged
from eddyline.model.arrays import Flags, Integers
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression, columns_of
from eddyline.model.roles import Roles


@dataclass(eq=False)
class NewTuples:
    """The tuples of a batch, as a step sees them; the SteMs of their stream are known by number.

    base        position of the first row
    keys        by SteM, of all rows
    segments    by SteM, of those rows that it will keep
    chunk       columns of the rows that any SteM will keep; None if there are none
    failed      joins whose keys could not be evaluated, by dense id
    """

    stream: Stream
    base: int
    rows: int
    evaluation: Evaluation
    judged: Judged | None = None
    keys: dict[int, Keys] = field(default_factory=dict)
    segments: dict[int, Segment] = field(default_factory=dict)
    chunk: Chunk | None = None
    failed: dict[int, Exception] = field(default_factory=dict)

    @property
    def left_out(self) -> dict[str, int]:
        """How many rows are left out of joins, by reason."""
        return {} if self.judged is None else self.judged.left_out


class Step:
    """The pairs of one step, in parts that come one after the other in the order of rows; mostly it is one, or none.

    The state is unchanged until it is told to take the step over: a failure before that changes nothing.

    left_out    rows that are left out of joins, by reason
    failures    rows, or pairs, for which operations of a key or of a residual failed; complete at the end
    failed      joins that could not be evaluated for some pairs, which are missing, by dense id; complete at the end
    """

    def __init__(
        self,
        new: NewTuples,
        found: Iterator[Found],
        check: Checks,
        held: Mapping[str, Held],
        commit: Callable[[], None],
    ) -> None:
        self.left_out = new.left_out
        self.failures: dict[Expression, int] = check.failures
        self.failed: dict[int, Exception] = check.failed
        self._new = new
        self._found = found
        self._check = check
        self._held = held
        self._commit = commit

    @property
    def roles(self) -> Roles:
        """What the step knows of the joins."""
        return self._check.roles

    def pairs(self, *, in_order: bool = True) -> Iterator[Joined]:
        """All pairs, each once; to be asked for once. Those of a part come in the order of delivery, or in any."""
        for found in self._found:
            pairs = self._check.satisfied(found)
            if len(pairs):
                yield self._joined(pairs, ordered if in_order else unordered)

    def take_over(self) -> None:
        """Have the state keep the new tuples for partners to come; once, when all pairs were given."""
        self._commit()

    def _joined(self, found: Found, columns: Callable[..., tuple[Codes, ...]]) -> Joined:
        roles = self._check.roles
        query, side = owned(roles.query, np.int32), owned(roles.side, np.int8)
        row, of, *positions = columns(found, query, side, self._new.base)
        return Joined(row, of, (positions[0], positions[1]), self._held)


class Checks:
    """What pairs have to pass once their codes, windows and lineages agree: keys by value, and residuals."""

    def __init__(
        self, new: NewTuples, roles: Roles, shapes: Shapes, held: Mapping[str, Held], time_zone: str
    ) -> None:
        self.roles = roles
        self.failures: dict[Expression, int] = {}
        self.failed = new.failed
        self._new = new
        self._shapes = shapes
        self._held = held
        self._time_zone = time_zone

    def satisfied(self, found: Found) -> Found:
        """The pairs that pass."""
        return self._residuals_hold(self._keys_agree(found))

    def _keys_agree(self, found: Found) -> Found:
        roles, agree = self.roles, None
        for number, keys in self._new.keys.items():
            key = roles.stems[number]
            if may_be_hashed(key) and hashed(key, keys.codes).any():
                mine = np.flatnonzero(roles.stem[roles.partner[found.roles]] == number)
                mine = mine[hashed(key, keys.codes[found.rows[mine]])]
                for partner, which in _groups(roles.stem[found.roles[mine]]):
                    agree = np.ones(len(found), np.bool_) if agree is None else agree
                    agree[mine[which]] = self._same_keys(number, partner, found, mine[which])
        return found if agree is None else _picked(found, agree)

    def _same_keys(self, number: int, partner: int, found: Found, which: Integers) -> Flags:
        key, other = self.roles.stems[number], self.roles.stems[partner]
        rows = pa.array(found.rows[which])
        left = [self._new.evaluation.values(expression).take(rows) for expression in key.expressions]
        names = sorted(set().union(*(columns_of(expression) for expression in other.expressions)))
        columns = self._held[other.stream].columns(names, found.positions[which])
        evaluation = Evaluation(
            dict(zip(names, columns, strict=True)), time_zone=self._time_zone, rows=len(which)
        )
        right = [evaluation.values(expression) for expression in other.expressions]
        return same_values(key, left, right)

    def _residuals_hold(self, found: Found) -> Found:
        if not len(self.roles.residuals):
            return found
        numbers = self.roles.residual[found.roles]
        asked = np.flatnonzero(numbers >= 0)
        if not len(asked):
            return found
        holds = np.ones(len(found), np.bool_)
        shapes, members = self._shapes.places(self.roles.residuals, numbers[asked])
        first, second = self._stems(found.roles[asked])
        for (shape, *stems), which in _groups_of(shapes, first, second):
            holds[asked[which]] = self._evaluated(found, asked[which], int(shape), members[which], stems)
        return _picked(found, holds)

    def _stems(self, roles: Integers) -> tuple[Integers, Integers]:
        """The SteMs of the tuples of source 0 and of source 1."""
        own, other = self.roles.stem[roles], self.roles.stem[self.roles.partner[roles]]
        is_first = self.roles.side[roles] == 0
        return np.where(is_first, own, other), np.where(is_first, other, own)

    def _evaluated(
        self, found: Found, which: Integers, number: int, members: Integers, stems: list[int]
    ) -> Flags:
        shape, roles = self._shapes[number], found.roles[which]
        columns = []
        for source, stem in enumerate(stems):
            held = self._held[self.roles.stems[stem].stream]
            earlier, later = found.positions[which], found.rows[which] + np.int64(self._new.base)
            names = shape.names(source)
            values = held.columns(names, np.where(self.roles.side[roles] == source, earlier, later))
            columns.append(dict(zip(names, values, strict=True)))
        try:
            verdict = evaluate_shape(shape, members, columns, self._time_zone)
        except PASSED_ON:
            raise
        except Exception as error:  # whatever one residual does, the other joins go on
            self.failed.update(dict.fromkeys(self.roles.query[roles].tolist(), error))
            return np.zeros(len(which), np.bool_)
        self._count(self.roles.residual[roles], verdict.failed)
        return verdict.holds

    def _count(self, residuals: Integers, failed: Integers) -> None:
        some = np.flatnonzero(failed)
        for number, which in _groups(residuals[some]):
            expression = self.roles.residuals[number].expression
            self.failures[expression] = self.failures.get(expression, 0) + int(failed[some[which]].sum())


def _picked(found: Found, which: Flags) -> Found:
    return Found(found.rows[which], found.positions[which], found.roles[which])


def _groups(numbers: Integers) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Where each distinct number stands."""
    if len(numbers) and (numbers == numbers[0]).all():
        yield int(numbers[0]), np.arange(len(numbers))
        return
    for number in np.unique(numbers).tolist():
        yield number, np.flatnonzero(numbers == number)


def _groups_of(*columns: Integers) -> Iterator[tuple[tuple[int, ...], npt.NDArray[np.int64]]]:
    """Where each distinct combination stands."""
    first, *rest = columns
    for number, which in _groups(first):
        if not rest:
            yield (number,), which
        for others, among in _groups_of(*(column[which] for column in rest)) if rest else ():
            yield (number, *others), which[among]
