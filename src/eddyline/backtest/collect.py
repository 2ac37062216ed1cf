"""Rows of a history to a tally: matched in blocks, so that the pairs held at once stay few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from eddyline.backtest.rows import Stretch
from eddyline.backtest.settings import Settings, within
from eddyline.backtest.tally import Tally
from eddyline.model.arrays import Integers
from eddyline.queryset import QuerySet
from eddyline.standing.version import Known

_FEWEST: Final = 512  # rows of a block that is not cut further


def collect(
    tally: Tally, queries: QuerySet, stretch: Stretch, settings: Settings, known: Known | None = None
) -> None:
    """Add the matches of some consecutive rows; `known` as for `QuerySet.blocks`."""
    positions, placed = tally.axis.positions(stretch.batch, stretch.ordinal + 1)
    for start, size, row, number in _blocks(queries, stretch.batch, settings, known or {}):
        flags = None if placed is None else placed[start : start + size]
        tally.add(stretch, start, size, (row, number), (positions[start : start + size], flags))
    tally.keep(stretch)


def _blocks(
    queries: QuerySet, batch: pa.RecordBatch, settings: Settings, known: Known, offset: int = 0
) -> Iterator[tuple[int, int, Integers, Integers]]:
    """Blocks with few enough matches: first row, number of rows, and pairs with rows counted from the first."""
    rows = within(settings.block_rows, 1 << 31, len(queries), least=_FEWEST)
    if offset or batch.num_rows < rows:
        rows = max(1, min(rows, batch.num_rows))
    for found in queries.blocks(batch, rows=rows, known=known):
        first, size = found.first, len(found.row_range)
        if len(found) > settings.block_matches and size > _FEWEST:
            half = (size + 1) // 2
            for start in (first, first + half):
                length = min(half, first + size - start)
                values = {call: column.slice(start, length) for call, column in known.items()}
                yield from _blocks(queries, batch.slice(start, length), settings, values, offset + start)
            continue
        row, number = found.pair_arrays()
        yield offset + first, size, row - first, number
