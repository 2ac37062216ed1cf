"""What workers and the driver ask of a version besides matching: revision, state, destination, SELECT list, what can fail."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from eddyline.model.arrays import Flags, Integers
from eddyline.project.made_select_lists import MadeSelectLists
from eddyline.project.select_list import SelectList
from eddyline.runtime.spark.versions.fallible import Fallible
from eddyline.standing.version import Version

if TYPE_CHECKING:
    from eddyline.runtime.spark.transport.shipping import Shipment

MAX_OPEN: Final = 4  # versions that a process keeps open


_open: OrderedDict[str, Deliverables] = OrderedDict()
_opening: Final = Lock()


class Deliverables:
    """The columns of a version by dense id; what stands at those of removed queries means nothing.

    Nothing is read before it is asked for.
    """

    def __init__(self, standing: Version) -> None:
        self._standing = standing
        self._columns = standing.table.columns
        self._select_lists = MadeSelectLists(standing.compiler.time_zone)
        self._fallible_in: dict[str, Fallible] = {}

    @property
    def version(self) -> int:
        """The registry's number of the version."""
        return self._standing.version

    @property
    def ids(self) -> pa.Array:
        """The query's id."""
        return self._standing.table.ids

    @property
    def revision(self) -> Integers:
        """Which text of the query it is, counted from one."""
        return self._columns["revision"]

    @property
    def number(self) -> Integers:
        """The number that the registry gave to this text of the query."""
        return self._columns["number"]

    @property
    def shadow(self) -> Flags:
        """Whether its matches are counted and not delivered."""
        return self._columns["shadow"]

    @property
    def destination(self) -> Integers:
        """Where its results go: a place in `destinations`."""
        return self._columns["destination"]

    @property
    def destinations(self) -> list[str | None]:
        """The distinct destinations; None for queries that name none."""
        return list(self._columns.shared.destinations)

    @property
    def select(self) -> Integers:
        """What it selects: the number of a SELECT list."""
        return self._columns["select"]

    def select_list(self, number: int) -> SelectList:
        """The SELECT list of a number."""
        return self._select_lists.numbered(self._columns.shared, number)

    def select_list_of(self, query: int) -> SelectList:
        """The SELECT list of a query."""
        return self._select_lists.of(self._columns, query)

    def of_stream(self, stream: str) -> Integers:
        """The dense ids of the queries over a stream."""
        return self._standing.of_stream(stream)

    def fallible_in(self, stream: str) -> Fallible:
        """What can fail in the conditions of the queries over a stream."""
        found = self._fallible_in.get(stream)
        if found is None:
            found = self._fallible_in[stream] = Fallible(self._standing, stream)
        return found


def open_deliverables(shipment: Shipment) -> Deliverables:
    """What goes with a compiled version that was shipped; the newest few stay open."""
    with _opening:
        found = _open.get(shipment.key)
        if found is None:
            found = _open[shipment.key] = Deliverables(shipment.open().standing())
            while len(_open) > MAX_OPEN:
                _open.popitem(last=False)
        _open.move_to_end(shipment.key)
        return found
