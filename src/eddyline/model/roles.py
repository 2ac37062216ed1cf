"""The roles of a standing set's joins, as columns: what the join stage wants to know of them.

A *role* is one side of one branch of one join. It is compiled as a query of its stream; a tuple's *lineage* is the list of
the roles that it satisfies. Roles have dense ids in the same table as queries, so that one match of a batch finds both:

    dense id     0        1         2         3         4
    row          query    join      role 0.0  role 0.1  query     a join's roles stand right behind it: see `role_row`
    partner     -1       -1         3         2        -1
    query       -1        1         1         1        -1        the join that it belongs to; a join belongs to itself
    side         0        0         0         1         0        which source of the join it is
    stem        -1       -1         0         1        -1        the SteM that its tuples are kept in
    low, high                      -5e6..0   0..5e6             bounds of its own event time less its partner's
    residual    -1       -1        -1        -1        -1        what remains to be checked of a pair
    free         .        .         .         x         .        no condition of its own: in no lineage, satisfied by all
    alive        x        x         x         x         x

A SteM keeps the tuples of one stream by one key, for all roles that join the stream by this key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from eddyline.model.arrays import Flags, Integers
from eddyline.model.expression import Expression

Row = TypeVar("Row", int, Integers)


def role_row(join: Row, branch: int, side: int) -> Row:
    """The dense id of a role, given that of its join, or of several joins.

    >>> role_row(1, 0, 0), role_row(1, 0, 1), role_row(1, 1, 0)
    (2, 3, 4)
    """
    return join + 1 + 2 * branch + side


@dataclass(frozen=True, slots=True)
class StemKey:
    """What a SteM is known by: a stream, and the expressions over its columns whose values are the key.

    A tuple with NULL in a part that is not null-safe has no partner, and is not kept.
    """

    stream: str
    expressions: tuple[Expression, ...]
    null_safe: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Residual:
    """What a pair has to satisfy beside sides, key and window; over the virtual source of these aliases."""

    expression: Expression
    aliases: tuple[str, str]


@dataclass(frozen=True, eq=False)
class Roles:
    """The roles of one version. All arrays are as long as its table has rows, or longer; what stands behind means nothing.

    size        how many rows the table has
    epoch       in one of them dense ids mean the same
    stems, residuals        by the numbers that the columns of these names have
    payload     by stream, the columns that SELECT lists and residuals of joins read: what is kept of a tuple
    """

    size: int
    epoch: int
    partner: npt.NDArray[np.int32]
    query: npt.NDArray[np.int32]
    side: npt.NDArray[np.int8]
    stem: npt.NDArray[np.int32]
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    residual: npt.NDArray[np.int32]
    free: Flags
    alive: Flags
    stems: Sequence[StemKey]
    residuals: Sequence[Residual]
    payload: Mapping[str, tuple[str, ...]]
