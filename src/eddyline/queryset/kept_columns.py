"""Which columns of rows are kept for joins, beside those that keys are computed from: as many as the results show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum, auto

import numpy as np

from eddyline.model.catalog import Stream
from eddyline.model.join import source_columns
from eddyline.model.roles import Roles


class Kept(Enum):
    """What is wanted of the rows of a pair, beside what decides whether it is one."""

    NOTHING = auto()
    SELECTED = auto()  # what SELECT lists read
    EVERYTHING = auto()


def keeping(roles: Roles, kept: Kept, streams: Iterable[Stream]) -> Roles:
    """The same roles, that much being kept of tuples."""
    if kept is Kept.SELECTED:
        return roles
    if kept is Kept.EVERYTHING:
        return replace(roles, payload={stream.name: tuple(stream.schema.names) for stream in streams})
    found: dict[str, dict[str, None]] = {}
    checked = np.flatnonzero(roles.alive[: roles.size] & (roles.residual[: roles.size] >= 0))
    columns = (roles.residual[checked], roles.side[checked], roles.stem[checked])
    for number, side, stem in dict.fromkeys(zip(*(column.tolist() for column in columns), strict=True)):
        residual = roles.residuals[number]
        known = found.setdefault(roles.stems[stem].stream, {})
        known.update(dict.fromkeys(source_columns(residual.expression, residual.aliases[side])))
    return replace(roles, payload={stream: tuple(names) for stream, names in found.items()})
