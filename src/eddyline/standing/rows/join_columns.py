"""What the joins of a set come to, as columns by dense id: which rows are roles, of which join, in which SteM.

    dense id     0        1         2         3         4
    row          query    join      role 0.0  role 0.1  query        a join's roles stand right behind it
    owner       -1        1         1         1        -1            the join; a join owns itself

Versions that grow out of one another share the arrays, as they do with other columns: cells are written once, beyond the
size of every version that was given away. `Roles` is what the join stage gets of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from eddyline.functions.evaluate import fallible
from eddyline.model.arrays import Flags, Integers
from eddyline.model.expression import Expression
from eddyline.model.join import Branch, KeyPart, Normal, NormalJoin, Source, source_columns
from eddyline.model.predicate import ALWAYS
from eddyline.model.query import NormalQuery, Output
from eddyline.model.roles import Residual, Roles, StemKey, role_row

KINDS: Final[Mapping[str, Any]] = {
    "owner": np.int32,
    "partner": np.int32,
    "side": np.int8,
    "stem": np.int32,
    "low": np.int64,
    "high": np.int64,
    "residual": np.int32,
    "free": np.bool_,
}
_NOTHING: Final = {
    "owner": -1,
    "partner": -1,
    "stem": -1,
    "residual": -1,
}  # in rows that take no part in joins
FIRST_ROOM: Final = 64

T = TypeVar("T")
Array = npt.NDArray[Any]


def roles_of(join: NormalJoin) -> Iterator[NormalQuery]:
    """The roles of a join as queries of their streams, in the order of their rows."""
    for branch in range(len(join.branches)):
        yield join.role(branch, 0)
        yield join.role(branch, 1)


class _Numbered(Generic[T]):
    """Values by number, each once; they only grow, until those that are still needed are numbered anew."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}

    def number(self, value: T) -> int:
        found = self._numbers.get(value)
        if found is None:
            found = len(self.values)
            self.values.append(value)  # first: whoever finds the number finds the value
            self._numbers[value] = found
        return found

    def renumbered(self, numbers: Integers) -> tuple[_Numbered[T], Integers]:
        """The values that some numbers stand for and no others, and these numbers anew; -1 stands for none."""
        found = _Numbered[T]()
        used = np.unique(numbers[numbers >= 0])
        for number in used.tolist():
            found.number(self.values[number])
        return found, np.where(numbers >= 0, np.searchsorted(used, numbers), -1).astype(np.int32)


class _Shared:
    """What versions have in common besides rows; who adds to it holds `growing`."""

    def __init__(self) -> None:
        self.growing = threading.Lock()
        self.stems: _Numbered[StemKey] = _Numbered()
        self.residuals: _Numbered[Residual] = _Numbered()
        self.payload: dict[str, tuple[str, ...]] = {}

    def keep(self, sources: tuple[Source, Source], outputs: tuple[Output, ...]) -> None:
        """Have the columns kept that a SELECT list reads."""
        self._keep(_read_by_outputs(sources, outputs))

    def keep_for(self, sources: tuple[Source, Source], residual: Expression) -> None:
        """Have the columns kept that a residual reads."""
        self._keep(_read_by(sources, (residual,)))

    def _keep(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        for stream, names in columns.items():
            known = self.payload.get(stream, ())
            new = [name for name in names if name not in known]
            if new:
                self.payload = {**self.payload, stream: (*known, *new)}


class JoinColumns:
    """The columns of one version and of those that grow out of it, with room at their end."""

    def __init__(self, shared: _Shared | None = None) -> None:
        self.size = 0
        self._shared = _Shared() if shared is None else shared
        self._arrays = {name: _empty(name, FIRST_ROOM) for name in KINDS}

    @staticmethod
    def of(size: int) -> JoinColumns:
        """Columns for so many rows, none of which takes part in joins."""
        return JoinColumns().grown_to(size)

    def __getitem__(self, name: str) -> Array:
        """A column; what stands behind the size of a version means nothing to it."""
        return self._arrays[name]

    def grown(self, size: int, added: Sequence[Normal]) -> JoinColumns:
        """With rows for more queries behind the first `size`, each join followed by its roles."""
        with self._shared.growing:
            columns = self if size == self.size else self._first(size)
            end = size + sum(rows_for(normal) for normal in added)
            columns._make_room(end)
            for normal in added:
                if isinstance(normal, NormalJoin):
                    columns._enter(columns.size, normal)
                columns.size += rows_for(normal)
            return columns

    def grown_to(self, size: int) -> JoinColumns:
        """With rows up to some size that take no part in joins; for columns that nobody else has."""
        self._make_room(size)
        self.size = max(self.size, size)
        return self

    def owners(self, size: int) -> Integers:
        """The joins among the first rows, ascending."""
        found: Integers = np.flatnonzero(self._arrays["owner"][:size] == np.arange(size))
        return found

    def _make_room(self, end: int) -> None:
        if end > len(self._arrays["owner"]):
            # Readers go on with the arrays that they hold, in which nothing of theirs is missing.
            longer = {name: _empty(name, 2 * end) for name in KINDS}
            for name, array in longer.items():
                array[: self.size] = self._arrays[name][: self.size]
            self._arrays = longer

    def _enter(self, dense: int, join: NormalJoin) -> None:
        arrays = self._arrays
        end = dense + rows_for(join)
        arrays["owner"][dense:end] = dense
        self._shared.keep(join.sources, join.outputs)
        for number, branch in enumerate(join.branches):
            self._enter_branch(role_row(dense, number, 0), join, branch)

    def _enter_branch(self, first: int, join: NormalJoin, branch: Branch) -> None:
        arrays, shared = self._arrays, self._shared
        residual = -1
        if branch.residual is not None:
            aliases = (join.sources[0].alias, join.sources[1].alias)
            residual = shared.residuals.number(Residual(branch.residual, aliases))
            shared.keep_for(join.sources, branch.residual)
        window = branch.window
        bounds = ((-window.high, -window.low), (window.low, window.high))
        for side, stem in enumerate(stem_keys(join.sources, branch)):
            role = first + side
            arrays["partner"][role] = first + 1 - side
            arrays["side"][role] = side
            arrays["stem"][role] = shared.stems.number(stem)
            arrays["low"][role], arrays["high"][role] = bounds[side]
            arrays["residual"][role] = residual
            arrays["free"][role] = branch.sides[side] == ALWAYS

    def rows_of(self, dense: int) -> range:
        """The row of a query, and of its roles if it is a join."""
        owner = self._arrays["owner"]
        end = dense + 1
        while owner[dense] == dense and end < self.size and owner[end] == dense:
            end += 1
        return range(dense, end)

    def owner_of(self, dense: int) -> int:
        """The query that a row belongs to."""
        owner = int(self._arrays["owner"][dense])
        return dense if owner < 0 else owner

    def is_role(self, dense: int) -> bool:
        """Whether a row is that of a role."""
        return self._arrays["owner"][dense] not in (-1, dense)

    def is_compiled(self, dense: int) -> bool:
        """Whether a row stands in a segment: joins do not, their roles do, unless they have no condition."""
        owner = self._arrays["owner"][dense]
        return bool(owner == -1 or (owner != dense and not self._arrays["free"][dense]))

    def are_roles(self, size: int) -> Flags:
        """Which of the first rows are those of roles."""
        flags: Flags = self._arrays["partner"][:size] >= 0
        return flags

    def involved(self, size: int) -> Flags:
        """Which of the first rows are joins or roles: what matches of single streams do not show."""
        flags: Flags = self._arrays["owner"][:size] >= 0
        return flags

    def fallible(self, dense: int) -> tuple[Expression, ...]:
        """The keys and residuals of a join that can fail."""
        found: dict[Expression, None] = {}
        for role in self.rows_of(dense)[1:]:
            stem, residual = (int(self._arrays[name][role]) for name in ("stem", "residual"))
            found |= dict.fromkeys(self._shared.stems.values[stem].expressions)
            if residual >= 0:
                found[self._shared.residuals.values[residual].expression] = None
        return tuple([expression for expression in found if can_fail(expression)])

    def roles(self, size: int, epoch: int, gone: Flags | None) -> Roles:
        """What the join stage gets."""
        arrays = self._arrays
        alive = arrays["partner"][:size] >= 0
        if gone is not None:
            alive &= ~gone
        return Roles(
            size,
            epoch,
            arrays["partner"],
            arrays["owner"],
            arrays["side"],
            arrays["stem"],
            arrays["low"],
            arrays["high"],
            arrays["residual"],
            arrays["free"],
            alive,
            self._shared.stems.values,
            self._shared.residuals.values,
            self._shared.payload,
        )

    def _first(self, size: int) -> JoinColumns:
        """The first rows, in arrays of their own."""
        columns = JoinColumns(self._shared)
        columns.size = size
        columns._arrays = {name: array[:size].copy() for name, array in self._arrays.items()}
        return columns

    def compacted(self, rows: Integers, moved: Integers) -> JoinColumns:
        """A copy of some rows, whose new places `moved` has; partners and owners that are not among them are -1.

        SteMs and residuals that none of these rows has are forgotten, the others have new numbers.
        """
        arrays = {name: array[rows] for name, array in self._arrays.items()}
        for name in ("owner", "partner"):
            arrays[name] = np.where(arrays[name] >= 0, moved[arrays[name]], -1).astype(np.int32)
        shared = _Shared()
        shared.payload = self._shared.payload
        shared.stems, arrays["stem"] = self._shared.stems.renumbered(arrays["stem"])
        shared.residuals, arrays["residual"] = self._shared.residuals.renumbered(arrays["residual"])
        columns = JoinColumns(shared)
        columns.size, columns._arrays = len(rows), arrays
        return columns


@lru_cache(maxsize=4_096)
def can_fail(expression: Expression) -> bool:
    """Whether some operation of an expression can fail."""
    return bool(fallible(expression))


def rows_for(normal: Normal) -> int:
    """How many rows of a table a query takes."""
    return role_row(0, len(normal.branches), 0) if isinstance(normal, NormalJoin) else 1


def stem_keys(sources: tuple[Source, Source], branch: Branch) -> tuple[StemKey, StemKey]:
    """The SteMs in which a branch keeps the tuples of both sources."""
    keys = _in_one_order(sources, branch.keys)
    first, second = (
        StemKey(
            source.stream,
            tuple([part.expressions[side] for part in keys]),
            tuple([part.null_safe for part in keys]),
        )
        for side, source in enumerate(sources)
    )
    return first, second


def _empty(name: str, room: int) -> Array:
    return np.full(room, _NOTHING.get(name, 0), KINDS[name])


def _in_one_order(sources: tuple[Source, Source], keys: Iterable[KeyPart]) -> list[KeyPart]:
    """The parts of a key as all queries over these streams have them, so that they share their SteMs."""
    side = 0 if sources[0].stream <= sources[1].stream else 1
    return sorted(keys, key=lambda part: (repr(part.expressions[side]), repr(part.expressions[1 - side])))


@lru_cache(maxsize=4_096)
def _read_by_outputs(
    sources: tuple[Source, Source], outputs: tuple[Output, ...]
) -> Mapping[str, tuple[str, ...]]:
    return _read_by(sources, [output.expression for output in outputs])


def _read_by(
    sources: tuple[Source, Source], expressions: Sequence[Expression]
) -> Mapping[str, tuple[str, ...]]:
    """The columns that expressions over a virtual source read, by stream."""
    found: dict[str, tuple[str, ...]] = {}
    for source in sources:
        own = sorted(
            {name for expression in expressions for name in source_columns(expression, source.alias)}
        )
        found[source.stream] = (*found.get(source.stream, ()), *own)
    return found
