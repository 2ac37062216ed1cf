"""A subject's domain cut at all constants that any query compares it with.

    constants            20        50
    regions    (-inf,20) {20} (20,50) {50} (50,+inf)   NaN   NULL
    ids             0      1     2      3      4         5     6

Every condition on the subject is then a set of ids, usually one range of them: NaN comes right after +inf, where Spark
orders it, so that `x > 50` is one range too. Types without NaN have no id for it.

Whole numbers whose constants lie close together may go by *offsets* instead, which cost a subtraction and no look-up:

    constants            20        50
    ids       ..19: 0   20: 1   21: 2  ...  50: 31   51..: 32   NULL: 33
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.model.regions import Cut, Regions

Range = tuple[int, int]
Ids = npt.NDArray[np.int64]
_WHOLE: Final = frozenset(
    {t.BOOLEAN, *t.INTEGRAL, t.DATE, t.TIMESTAMP, t.TIMESTAMP_NTZ, t.DAY_TIME, t.YEAR_MONTH}
)


def codes(kind: t.DataType, values: Sequence[Any]) -> npt.NDArray[Any] | None:
    """Constants as numbers in the same order: 64-bit integers or doubles; None for types that have no such form.

    >>> from decimal import Decimal
    >>> codes(t.DecimalType(5, 2), [Decimal("1.50")]).tolist(), codes(t.STRING, ["a"])
    ([150], None)
    """
    if kind in _WHOLE:
        return np.array(values, np.int64)
    if t.is_fractional(kind):
        return np.array(values, np.float64)
    if isinstance(kind, t.DecimalType) and kind.precision <= 18:
        return np.array([int(value.scaleb(kind.scale)) for value in values], np.int64)
    return None


@dataclass(frozen=True, slots=True)
class Cutting:
    """The regions of one subject; constants are codes where the type has them, else the values themselves.

    Invariant: constants ascend strictly. Invariant: region 2i + 1 is exactly {constants[i]}.
    """

    subject: Expression
    constants: npt.NDArray[Any] | tuple[Any, ...]
    points_only: bool = False
    _place: dict[Any, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_value = isinstance(self.constants, tuple)
        places = {value: i for i, value in enumerate(self.constants)} if by_value else {}
        object.__setattr__(self, "_place", places)

    @property
    def nan(self) -> int:
        """Id of the NaN region, for types that have NaN."""
        return 2 * len(self.constants) + 1

    @property
    def null(self) -> int:
        """Id of the NULL region, the last one."""
        return self.nan + t.is_fractional(self.subject.type)

    @property
    def size(self) -> int:
        """Number of regions, NULL and NaN included."""
        return self.null + 1

    @property
    def bytes(self) -> int:
        """Memory of the constants, texts counted by their characters."""
        if isinstance(self.constants, tuple):
            return sum(len(str(value)) + 8 for value in self.constants)
        return self.constants.nbytes

    @property
    def id_type(self) -> npt.DTypeLike:
        """The narrowest unsigned type that holds an id."""
        return np.uint8 if self.size <= 2**8 else np.uint16 if self.size <= 2**16 else np.uint32

    @property
    def regions(self) -> int:
        """Number of regions as the constants make them, whatever the ids are."""
        return 2 * len(self.constants) + 2 + t.is_fractional(self.subject.type)

    def ranges(self, regions: Regions) -> tuple[Range, ...]:
        """A set of values as ranges of ids, both ends included.

        >>> from eddyline.model.expression import Column
        >>> cutting = cut(Column("a", t.INT), [Regions.points([20, 50])])
        >>> cutting.ranges(Regions.above(20, closed=False)), cutting.ranges(~Regions.points([20]))
        (((2, 4),), ((0, 0), (2, 5)))
        """
        ids = self.ids_of(regions.cuts).tolist()
        edges = [0, *ids] if regions.inside else ids
        if len(edges) % 2:
            edges.append(self.nan)
        found = [(low, high - 1) for low, high in zip(edges[0::2], edges[1::2], strict=True)]
        if regions.nan and self.nan != self.null:
            found.append((self.nan, self.nan))
        if regions.null:
            found.append((self.null, self.null))
        return tuple(_merged(found))

    def ids_of(self, cuts: Sequence[Cut]) -> Ids:
        """For each cut the first id above it."""
        values = [value for value, _ in cuts]
        sides = np.array([side for _, side in cuts], np.int64)
        coded = codes(self.subject.type, values) if not isinstance(self.constants, tuple) else None
        if coded is None:
            places = np.array([self._place[value] for value in values], np.int64)
        else:
            places = np.searchsorted(np.asarray(self.constants), coded)
        return 2 * places + 1 + sides


@dataclass(frozen=True, slots=True)
class Offsets(Cutting):
    """Ids that count whole numbers from the one below the least constant; all below it have 0, all above the last one."""

    @property
    def nan(self) -> int:
        """Id after the last one of a number, which is NULL's."""
        return int(self.constants[-1]) - int(self.constants[0]) + 3

    def ids_of(self, cuts: Sequence[Cut]) -> Ids:
        """For each cut the first id above it."""
        coded = codes(self.subject.type, [value for value, _ in cuts])
        assert coded is not None, "only whole numbers have offsets"
        sides = np.array([side for _, side in cuts], np.int64)
        return np.asarray(coded - int(self.constants[0]) + 1 + sides, np.int64)


def narrowest(cutting: Cutting) -> Cutting:
    """The same cutting by offsets, if its ids need no more bytes so.

    >>> from eddyline.model.expression import Column
    >>> cutting = narrowest(cut(Column("a", t.INT), [Regions.points([20, 50])]))
    >>> cutting.size, cutting.ranges(Regions.above(20, closed=False))
    (34, ((2, 32),))
    """
    if isinstance(cutting.constants, tuple) or not len(cutting.constants):
        return cutting
    whole = cutting.constants.dtype == np.int64
    if not whole or max(abs(int(cutting.constants[0])), abs(int(cutting.constants[-1]))) >= 2**62:
        return cutting
    offsets = Offsets(cutting.subject, cutting.constants, cutting.points_only)
    fits = np.dtype(offsets.id_type).itemsize <= np.dtype(cutting.id_type).itemsize
    return offsets if fits and offsets.size <= 2**16 else cutting


def _merged(ranges: list[Range]) -> Iterable[Range]:
    """Ranges with touching ones joined."""
    current: Range | None = None
    for low, high in ranges:
        if current is not None and current[1] + 1 == low:
            current = (current[0], high)
        else:
            if current is not None:
                yield current
            current = (low, high)
    if current is not None:
        yield current


def cut(subject: Expression, sets: Iterable[Regions]) -> Cutting:
    """The coarsest cutting that tells all the given sets apart by ids."""
    values: list[Any] = []
    points_only = True
    for regions in sets:
        values += [value for value, _ in regions.cuts]
        points_only = points_only and is_points(regions)
    coded = codes(subject.type, values)
    if coded is None:
        return Cutting(subject, tuple(sorted(set(values))), points_only)
    return Cutting(subject, np.unique(coded), points_only)


def is_points(regions: Regions) -> bool:
    """Whether a set, or its complement, consists of single values.

    >>> is_points(~Regions.points([1, 5])), is_points(Regions.below(3, closed=True))
    (True, False)
    """
    cuts = regions.cuts
    return len(cuts) % 2 == 0 and all(cuts[i][0] == cuts[i + 1][0] for i in range(0, len(cuts), 2))
