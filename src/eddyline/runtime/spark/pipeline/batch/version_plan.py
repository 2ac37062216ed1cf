"""What the driver has to know of a version to plan its batches: columns to be sent, SELECT lists of each sink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from eddyline.delivery.router import Router
from eddyline.model.arrays import Integers
from eddyline.model.expression import Call
from eddyline.project.select_list import SelectList
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.transport.shipping import Shipment
from eddyline.runtime.spark.versions import Deliverables


@dataclass(frozen=True)
class VersionPlan:
    """A version, opened: its queries, and what goes with them. All is found out when it is first asked for."""

    shipment: Shipment
    queries: QuerySet
    table: Deliverables
    router: Router

    @cached_property
    def numbers(self) -> Integers:
        """The numbers of the queries that stand."""
        return self.queries.numbers

    def of_stream(self, stream: str) -> Integers:
        """The numbers of the queries over a stream."""
        return self.table.of_stream(stream)

    @cached_property
    def _by_stream(self) -> Mapping[str, list[SelectList]]:
        found: dict[str, list[SelectList]] = {}
        for number in np.unique(self.table.select[self.numbers]).tolist():
            select = self.table.select_list(number)
            found.setdefault(select.stream.name, []).append(select)
        return found

    def lists_of(self, stream: str) -> list[SelectList]:
        """The SELECT lists of the queries over a stream."""
        return self._by_stream.get(stream, [])

    def columns(self, stream: str) -> set[str]:
        """The columns of a stream that conditions or SELECT lists read."""
        selected = [select.columns for select in self.lists_of(stream)]
        return {*self.queries.columns_read(stream), *(name for names in selected for name in names)}

    def externals(self, stream: str) -> tuple[Call, ...]:
        """The calls in conditions and SELECT lists of a stream that only Spark can compute."""
        selected = [call for select in self.lists_of(stream) for call in select.externals]
        return tuple(dict.fromkeys([*self.queries.externals(stream), *selected]))

    @cached_property
    def select_lists(self) -> Mapping[str, Mapping[int, pa.Schema]]:
        """By sink the SELECT lists of the queries that deliver to it, by number."""
        delivered = self.numbers[~self.table.shadow[self.numbers]]
        pairs = np.stack([self.table.destination[delivered], self.table.select[delivered]])
        found: dict[str, dict[int, pa.Schema]] = {}
        destinations = self.table.destinations
        for destination, number in np.unique(pairs, axis=1).T.tolist():
            sink = self.router.find(destinations[destination]).sink
            if sink is not None:
                found.setdefault(sink, {})[number] = self.table.select_list(number).schema
        return found

    @cached_property
    def sinks(self) -> tuple[str, ...]:
        """The sinks that destinations of queries lead to."""
        found = [self.router.find(destination).sink for destination in self.table.destinations]
        return tuple(dict.fromkeys(sink for sink in found if sink is not None))

    def without_sink(self) -> dict[str, str]:
        """The queries whose results find no way, and why."""
        routes = [self.router.find(destination) for destination in self.table.destinations]
        lost = np.array([route.sink is None for route in routes], np.bool_)
        numbers = self.numbers[~self.table.shadow[self.numbers]]
        chosen = numbers[lost[self.table.destination[numbers]]] if len(lost) else numbers[:0]
        ids = self.table.ids.take(pa.array(chosen)).to_pylist()
        reasons = [routes[code].reason or "" for code in self.table.destination[chosen].tolist()]
        return dict(zip(ids, reasons, strict=True))
