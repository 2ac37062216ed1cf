"""The columns that joins read of a stream's batches: event time, keys, and what is kept of a tuple for its partners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression, columns_of
from eddyline.model.join import NormalJoin, source_columns
from eddyline.model.roles import Roles, StemKey
from eddyline.standing.tolerant_reader import TolerantReader
from eddyline.standing.version import Version


class JoinReading(TolerantReader):
    """Reads what a version's joins want of a stream's batches; without any such join there is nothing to read."""

    def __init__(self, version: Version, stream: Stream) -> None:
        self._version, self._stream = version, stream
        needed = columns_needed(version.roles, stream) if version.roles is not None else ()
        super().__init__(stream, needed, self._is_needed)

    def __bool__(self) -> bool:
        return bool(self.used)

    def _is_needed(self, names: Iterable[str]) -> bool:
        return not self._wanted().isdisjoint(names)

    def _wanted(self) -> set[str]:
        """The columns that joins read which are in force, found the long way: by looking at all of them."""
        version, stream = self._version, self._stream
        assert version.table.joins is not None and stream.event_time is not None, (
            "there are joins to read for"
        )
        found = {stream.event_time}
        for dense in version.table.alive_joins.tolist():
            join = version.normal_form(dense)
            assert isinstance(join, NormalJoin), "only joins own themselves"
            found |= set(_columns_of_join(join, stream.name))
        return found


def _columns_of_join(join: NormalJoin, stream: str) -> Iterator[str]:
    for side, source in enumerate(join.sources):
        if source.stream != stream:
            continue
        for branch in join.branches:
            for part in branch.keys:
                yield from columns_of(part.expressions[side])
        for expression in _of_virtual_source(join):
            yield from source_columns(expression, source.alias)


def _of_virtual_source(join: NormalJoin) -> Iterator[Expression]:
    yield from (output.expression for output in join.outputs)
    yield from (branch.residual for branch in join.branches if branch.residual is not None)


def stems_in_use(roles: Roles) -> list[StemKey]:
    """The SteMs that joins use which are in force."""
    own = roles.stem[: roles.size][roles.alive[: roles.size]]
    return [roles.stems[number] for number in np.flatnonzero(np.bincount(own)).tolist()]


def columns_needed(roles: Roles, stream: Stream) -> tuple[str, ...]:
    """The columns that joins read of a stream's tuples; none if no join reads the stream."""
    stems = [stem for stem in stems_in_use(roles) if stem.stream == stream.name]
    if not stems or stream.event_time is None:
        return ()
    keys = [
        name for stem in stems for expression in stem.expressions for name in sorted(columns_of(expression))
    ]
    return tuple(dict.fromkeys([stream.event_time, *keys, *roles.payload.get(stream.name, ())]))
