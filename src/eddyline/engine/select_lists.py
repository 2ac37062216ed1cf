"""Which SELECT list each of some queries has: matches of many queries by list, to be written as tables of one schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.engine.projections import Projection, Projections
from eddyline.model.catalog import Stream
from eddyline.model.query import NormalQuery

Integers = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class SelectLists:
    """Query `ids[i]` has the list `projections[places[i]]`, which `firsts[places[i]]` was the first query to have."""

    ids: pa.Array
    places: Integers
    projections: tuple[Projection, ...]
    firsts: tuple[str, ...]

    @staticmethod
    def of(
        queries: Iterable[NormalQuery], streams: Iterable[Stream], hidden: Iterable[str] = ()
    ) -> SelectLists:
        """The lists of queries, less the hidden ones."""
        by_name = {stream.name: stream for stream in streams}
        known, left_out = Projections(), set(hidden)
        firsts: dict[Projection, str] = {}
        numbers: dict[Projection, int] = {}
        places: list[int] = []
        ids: list[str] = []
        for query in queries:
            if query.id in left_out:
                continue
            projection = known.take(by_name[query.stream], query.outputs, query.time_zone)
            firsts.setdefault(projection, query.id)
            ids.append(query.id)
            places.append(numbers.setdefault(projection, len(numbers)))
        return SelectLists(
            pa.array(ids, pa.string()), np.array(places, np.int64), tuple(firsts), tuple(firsts.values())
        )

    def split(self, ids: pa.Array) -> Iterator[tuple[int, Integers]]:
        """For matches, given by the ids of their queries: the place of each list met, and which matches have it."""
        codes = np.asarray(pc.index_in(ids, self.ids).fill_null(-1))
        wanted = codes >= 0
        if wanted.any():
            places = np.where(wanted, self.places[np.maximum(codes, 0)], -1)
            for place in np.unique(places[wanted]).tolist():
                yield place, np.flatnonzero(places == place)
