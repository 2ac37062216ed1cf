"""What goes with queries besides id and text, as columns by dense id.

    dense id       0    1    2    3        a query's row in the table of its set, which other sets number otherwise
    number         7    8   12   13        its own for ever; results, records and counters that last carry it
    revision       1    1    2    1
    shadow                   x             its matches are counted and not delivered
    destination    0    0    0    1   ──►  Distinct: None, "alerts"
    select         0    0    1    0   ──►  Distinct: SELECT lists
    fallible       0    0    0    1   ──►  Distinct: what can fail in conditions

Versions that grow out of one another share the arrays. Cells are written once, beyond the size of every version that was
given away; whoever changes one (`changed`), or grows a version that is not the newest, gets arrays of its own. Columns of a
set that was opened are read when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.model.join import Normal
from eddyline.standing.rows.distinct import Distinct
from eddyline.standing.rows.shared import Parts, Selection, Shared

KINDS: Final[Mapping[str, Any]] = {
    "number": np.int64,
    "revision": np.int32,
    "shadow": np.bool_,
    "destination": np.int32,
    "select": np.int32,
    "fallible": np.int32,
}
FIRST_ROOM: Final = 64

Array = npt.NDArray[Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attributes:
    """What the owner of a set says of a query; without a `number` the set gives it the next one."""

    number: int | None = None
    revision: int = 1
    shadow: bool = False
    destination: str | None = None


NO_ATTRIBUTES: Final = Attributes()
ROLE: Final = Attributes(revision=0)  # of one side of a join: no query, so it has no revision of its own


# A query in normal form, what its owner says of it, and what its SELECT list is over.
NewRow = tuple[Normal, Attributes, Stream]


class Columns:
    """The columns, with room at their end; `given` is the next number of a set that numbers its queries itself."""

    def __init__(self, shared: Shared | None = None) -> None:
        self.shared = Shared() if shared is None else shared
        self.size = 0
        self.given = 0
        self._arrays: dict[str, Array] = {}
        self._read: Callable[[str], Array] = lambda name: np.zeros(FIRST_ROOM, KINDS[name])

    @staticmethod
    def opened(shared: Shared, size: int, given: int, read: Callable[[str], Array]) -> Columns:
        """Columns that were saved; `read` gives one of them by name, as long as there are rows."""
        columns = Columns(shared)
        columns.size, columns.given, columns._read = size, given, read
        return columns

    def __getitem__(self, name: str) -> Array:
        """A column; what stands behind the size of a version means nothing to it."""
        found = self._arrays.get(name)
        return self._arrays.setdefault(name, self._read(name)) if found is None else found

    def selection(self, dense: int) -> Selection:
        """The stream that a query reads, and what it selects."""
        return self.shared.selections[int(self["select"][dense])]

    def fallible(self, dense: int) -> Parts:
        """What can fail in a query's conditions."""
        return self.shared.fallibles[int(self["fallible"][dense])]

    def attributes(self, dense: int) -> Attributes:
        """What the owner of the set said of a query."""
        number, revision, shadow, destination = (
            self[name][dense].item() for name in ("number", "revision", "shadow", "destination")
        )
        return Attributes(number, revision, shadow, self.shared.destinations[destination])

    def grown(self, size: int, added: Sequence[NewRow]) -> Columns:
        """With more rows behind the first `size`: these columns, if nobody else has added to them, or else others."""
        with self.shared.growing:
            columns = self if size == self.size else self._first(size)
            columns._append(added)
            return columns

    def _append(self, added: Sequence[NewRow]) -> None:
        shared, end = self.shared, self.size + len(added)
        arrays = {name: self[name] for name in KINDS}
        if end > len(arrays["number"]):
            # Readers go on with the arrays that they hold, in which nothing of theirs is missing.
            self._arrays = arrays = {name: _longer(array, 2 * end) for name, array in arrays.items()}
        for dense, (query, attributes, stream) in enumerate(added, self.size):
            arrays["number"][dense] = self.given if attributes.number is None else attributes.number
            arrays["revision"][dense] = attributes.revision
            arrays["shadow"][dense] = attributes.shadow
            arrays["destination"][dense] = shared.destinations.number(attributes.destination)
            arrays["select"][dense] = shared.selections.number((stream, query.outputs))
            arrays["fallible"][dense] = shared.fallibles.number(shared.parts(query))
            self.given += 1
        self.size = end

    def changed(self, size: int, changes: Iterable[tuple[int, Attributes]]) -> Columns:
        """The first rows, some with another state and destination."""
        with self.shared.growing:
            columns = self._first(size)
            shadow, destination = self["shadow"][:size].copy(), self["destination"][:size].copy()
            for dense, attributes in changes:
                shadow[dense] = attributes.shadow
                destination[dense] = self.shared.destinations.number(attributes.destination)
            columns._arrays |= {"shadow": shadow, "destination": destination}
            return columns

    def _first(self, size: int) -> Columns:
        """The first rows. They have no room at their end: who adds to them moves into arrays of its own."""
        columns = Columns(self.shared)
        columns._arrays = {name: self[name][:size] for name in KINDS}
        columns.size, columns.given = size, self.given
        return columns

    def compacted(self, rows: Integers) -> Columns:
        """A copy of some rows, and of those distinct values alone that they point to."""
        columns = Columns()
        columns._arrays = {name: self[name][rows] for name in KINDS}
        columns.size, columns.given = len(rows), self.given
        columns._renumber("destination", self.shared.destinations, columns.shared.destinations)
        columns._renumber("select", self.shared.selections, columns.shared.selections)
        columns._renumber("fallible", self.shared.fallibles, columns.shared.fallibles)
        return columns

    def _renumber(self, name: str, before: Distinct[T], after: Distinct[T]) -> None:
        met, where = np.unique(self._arrays[name], return_inverse=True)
        numbers = [after.number(before[number]) for number in met.tolist()]
        self._arrays[name] = np.array(numbers, np.int32)[where]


def _longer(array: Array, room: int) -> Array:
    longer = np.zeros(room, array.dtype)
    longer[: len(array)] = array
    return longer
