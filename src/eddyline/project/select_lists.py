"""Which SELECT list each of some queries has, and the tables of results that name a file and a row, or two of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.model.join import Normal, NormalJoin, virtual_source
from eddyline.project.select_list import SelectList, SharedSelectLists
from eddyline.project.stage import QueryColumns, Selected

LEAD: Final = pa.schema([("query", pa.string()), ("file", pa.string()), ("row", pa.int64())])
# Of a join: file and row of its first source, and of the second one.
PAIR_LEAD: Final = pa.schema([*LEAD, ("with_file", pa.string()), ("with_row", pa.int64())])


@dataclass(frozen=True)
class SelectLists:
    """Query `ids[i]` has the list `lists[places[i]]`, which `firsts[places[i]]` was the first query to have.

    A list's place is its `number`. `leads` are the columns in front of each.
    """

    ids: pa.Array
    places: Integers
    lists: tuple[SelectList, ...]
    firsts: tuple[str, ...]
    leads: tuple[pa.Schema, ...]

    @staticmethod
    def of(queries: Iterable[Normal], streams: Iterable[Stream], hidden: Iterable[str] = ()) -> SelectLists:
        """The lists of queries, less the hidden ones."""
        by_name = {stream.name: stream for stream in streams}
        known, left_out = SharedSelectLists(), set(hidden)
        firsts: dict[SelectList, str] = {}
        leads: dict[SelectList, pa.Schema] = {}
        places: list[int] = []
        ids: list[str] = []
        for query in queries:
            if query.id in left_out:
                continue
            stream, lead = _over(query, by_name)
            found = known.take(stream, query.outputs, query.time_zone)
            firsts.setdefault(found, query.id)
            leads.setdefault(found, lead)
            ids.append(query.id)
            places.append(found.number)
        return SelectLists(
            pa.array(ids, pa.string()),
            np.array(places, np.int64),
            tuple(firsts),
            tuple(firsts.values()),
            tuple(leads.values()),
        )

    def of_set(self, ids: pa.Array) -> QueryColumns:
        """As columns for a set whose queries have these ids, by number; queries that have no list here are shadows."""
        codes = np.asarray(pc.index_in(ids.cast(pa.string()), self.ids).fill_null(-1))
        select = np.where(codes >= 0, np.append(self.places, -1)[codes], -1)
        return QueryColumns(select, select < 0, lambda query: self.lists[select[query]])


def _over(query: Normal, streams: Mapping[str, Stream]) -> tuple[Stream, pa.Schema]:
    """What a SELECT list is over, and the columns in front of it."""
    if isinstance(query, NormalJoin):
        return virtual_source(query.sources, streams), PAIR_LEAD
    return streams[query.stream], LEAD


def file_lead(ids: pa.Array, file: str, rows: Integers) -> list[pa.Array]:
    """Query, file, and number of the row, counted from one as people count."""
    files = pa.repeat(pa.scalar(file, pa.string()), len(rows))
    return [ids.cast(pa.string()), files, pa.array(rows + 1, pa.int64())]


def file_table(selected: Selected, ids: pa.Array, file: str, rows: Integers) -> pa.Table:
    """Results as a table that says for each the query, the file, and the row in it, counted from 0."""
    return selected.table(LEAD, file_lead(ids, file, rows))
