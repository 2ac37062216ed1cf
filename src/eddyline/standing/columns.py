"""What goes with queries besides id and text, as columns by dense id.

    dense id       0    1    2    3        a query's row in the table of its set, which other sets number otherwise
    number         7    8   12   13        its own for ever; results, records and counters that last carry it
    revision       1    1    2    1
    shadow                   x             its matches are counted and not delivered
    destination    0    0    0    1   ──►  Distinct: None, "alerts"
    select         0    0    1    0   ──►  Distinct: SELECT lists
    fallible       0    0    0    1   ──►  Distinct: what can fail in conditions

Versions that grow out of one another share the arrays. Cells are written once, beyond the size of every version that was
given away; whoever changes one (`changed`), or grows a version that is not the newest, gets arrays of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from eddyline.functions.evaluate import fallible
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression
from eddyline.model.predicate import conditions_of
from eddyline.model.query import NormalQuery, Output

KINDS: Final[Mapping[str, Any]] = {
    "number": np.int64,
    "revision": np.int32,
    "shadow": np.bool_,
    "destination": np.int32,
    "select": np.int32,
    "fallible": np.int32,
}
FIRST_ROOM: Final = 64

Integers = npt.NDArray[np.signedinteger[Any]]
T = TypeVar("T")
Selection = tuple[Stream, tuple[Output, ...]]
Parts = tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Attributes:
    """What the owner of a set says of a query; without a `number` the set gives it the next one."""

    number: int | None = None
    revision: int = 1
    shadow: bool = False
    destination: str | None = None


NO_ATTRIBUTES: Final = Attributes()


class Distinct(Generic[T]):
    """Values that many queries have in common, by number, in the order in which they came.

    >>> texts: Distinct[str] = Distinct()
    >>> texts.number("a"), texts.number("b"), texts.number("a"), texts[1], len(texts)
    (0, 1, 0, 'b', 2)
    """

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._values = list(values)
        self._numbers = {value: number for number, value in enumerate(self._values)}

    def number(self, value: T) -> int:
        """The number of a value; one thread at a time asks for those that may be new."""
        found = self._numbers.get(value)
        if found is None:
            found = len(self._values)
            self._values.append(value)  # first: whoever finds the number finds the value
            self._numbers[value] = found
        return found

    def __getitem__(self, number: int) -> T:
        return self._values[number]

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[T]:
        return iter(self._values)


@dataclass(frozen=True, slots=True)
class Shared:
    """The distinct values that columns point to; they only grow, so that all versions of a set share them."""

    destinations: Distinct[str | None] = field(default_factory=Distinct)
    selections: Distinct[Selection] = field(default_factory=Distinct)
    fallibles: Distinct[Parts] = field(default_factory=Distinct)
    _parts: dict[Expression, Parts] = field(default_factory=dict, repr=False)

    def parts(self, query: NormalQuery) -> Parts:
        """The largest parts of a query's conditions that can fail, each once."""
        found: dict[Expression, None] = {}
        for condition in conditions_of(query.predicate):
            known = self._parts.get(condition.subject)
            if known is None:
                known = self._parts[condition.subject] = fallible(condition.subject)
            if known:
                found.update(dict.fromkeys(known))
        return tuple(found)


class Columns:
    """The columns, with room at their end; `given` is the next number of a set that numbers its queries itself."""

    def __init__(self, shared: Shared | None = None, room: int = FIRST_ROOM) -> None:
        self.shared = Shared() if shared is None else shared
        self.size = 0
        self.given = 0
        self._growing = threading.Lock()
        self._arrays = {name: np.zeros(room, kind) for name, kind in KINDS.items()}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column; what stands behind the size of a version means nothing to it."""
        return self._arrays[name]

    def selection(self, dense: int) -> Selection:
        """The stream that a query reads, and what it selects."""
        return self.shared.selections[int(self._arrays["select"][dense])]

    def fallible(self, dense: int) -> Parts:
        """What can fail in a query's conditions."""
        return self.shared.fallibles[int(self._arrays["fallible"][dense])]

    def attributes(self, dense: int) -> Attributes:
        """What the owner of the set said of a query."""
        number, revision, shadow, destination = (
            self._arrays[name][dense].item() for name in ("number", "revision", "shadow", "destination")
        )
        return Attributes(number, revision, shadow, self.shared.destinations[destination])

    def grown(
        self, size: int, streams: Mapping[str, Stream], added: Sequence[tuple[NormalQuery, Attributes]]
    ) -> Columns:
        """With more rows behind the first `size`: these columns, if nobody else has added to them, or else a copy."""
        with self._growing:
            columns = self if size == self.size else self.taken(np.arange(size))
            columns._append(streams, added)
            return columns

    def _append(self, streams: Mapping[str, Stream], added: Sequence[tuple[NormalQuery, Attributes]]) -> None:
        shared, end = self.shared, self.size + len(added)
        if end > len(self._arrays["number"]):
            # Readers go on with the arrays that they hold, in which nothing of theirs is missing.
            self._arrays = {name: _longer(array, 2 * end) for name, array in self._arrays.items()}
        for dense, (query, attributes) in enumerate(added, self.size):
            row = self._arrays
            row["number"][dense] = self.given if attributes.number is None else attributes.number
            row["revision"][dense] = attributes.revision
            row["shadow"][dense] = attributes.shadow
            row["destination"][dense] = shared.destinations.number(attributes.destination)
            row["select"][dense] = shared.selections.number((streams[query.stream], query.outputs))
            row["fallible"][dense] = shared.fallibles.number(shared.parts(query))
            self.given += 1
        self.size = end

    def changed(self, size: int, changes: Iterable[tuple[int, Attributes]]) -> Columns:
        """A copy of the first rows, some with another state and destination."""
        columns = self.taken(np.arange(size))
        for dense, attributes in changes:
            columns["shadow"][dense] = attributes.shadow
            columns["destination"][dense] = self.shared.destinations.number(attributes.destination)
        return columns

    def taken(self, rows: Integers, shared: Shared | None = None) -> Columns:
        """A copy of some rows."""
        columns = Columns(self.shared if shared is None else shared, room=0)
        columns._arrays = {name: array[rows] for name, array in self._arrays.items()}
        columns.size, columns.given = len(rows), self.given
        return columns

    def compacted(self, rows: Integers) -> Columns:
        """A copy of some rows, and of those distinct values alone that they point to."""
        shared = Shared()
        columns = self.taken(rows, shared)
        columns._renumber("destination", self.shared.destinations, shared.destinations)
        columns._renumber("select", self.shared.selections, shared.selections)
        columns._renumber("fallible", self.shared.fallibles, shared.fallibles)
        return columns

    def _renumber(self, name: str, before: Distinct[T], after: Distinct[T]) -> None:
        met, where = np.unique(self._arrays[name], return_inverse=True)
        numbers = [after.number(before[number]) for number in met.tolist()]
        self._arrays[name] = np.array(numbers, np.int32)[where]


def _longer(array: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    longer = np.zeros(room, array.dtype)
    longer[: len(array)] = array
    return longer
