"""What runs in Spark's Python workers: Arrow batches in, the queries of each row out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.expression import Call
from eddyline.model.matches import Matches
from eddyline.runtime.spark.dataframe.gathering import BatchSizer, gathered
from eddyline.runtime.spark.transport.shipping import Shipment

Ids = Literal["id", "number"]
Counts = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class MatchWork:
    """What a worker is asked for: the queries of a stream, over these columns, as `ids`, one row per match if exploded.

    Behind the columns come the values of `externals`, which Spark has computed.
    """

    shipment: Shipment
    stream: str
    columns: tuple[str, ...]
    ids: Ids
    _: KW_ONLY
    explode: bool
    keep_unmatched: bool
    externals: tuple[Call, ...] = ()


def query_lists(work: MatchWork, batches: Iterator[pa.Array | Sequence[pa.Array]]) -> Iterator[pa.Array]:
    """For the columns of each batch (one comes alone) a list of queries for every row."""
    queries = work.shipment.open()
    for given in batches:
        arrays = [given] if isinstance(given, pa.Array) else list(given)
        found = queries.match(_named_columns(arrays, work), stream=work.stream, known=_known(arrays, work))
        starts, number = found.lists()
        yield _lists(starts, _values(found, number, work.ids))


def matching_rows(
    work: MatchWork, places: Sequence[int], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The rows of each batch that match, their queries behind the other columns; `places` are those of `work.columns`."""
    queries = work.shipment.open()
    sizer = BatchSizer()
    for batch in gathered(batches, sizer):
        arrays = [batch.column(place) for place in places]
        found = queries.match(_named_columns(arrays, work), stream=work.stream, known=_known(arrays, work))
        result = _exploded(batch, found, work) if work.explode else _listed(batch, found, work)
        sizer.learn(batch.num_rows, result.num_rows if work.explode else len(result.column(-1).values))
        yield result


def _listed(batch: pa.RecordBatch, found: Matches, work: MatchWork) -> pa.RecordBatch:
    """Each row with all of its queries."""
    starts, number = found.lists()
    values = _values(found, number, work.ids)
    row = np.flatnonzero(starts[1:] != starts[:-1])
    if work.keep_unmatched or len(row) == batch.num_rows:
        return _beside(batch, _lists(starts, values))
    return _beside(batch.take(pa.array(row)), _lists(np.append(starts[row], starts[-1]), values))


def _exploded(batch: pa.RecordBatch, found: Matches, work: MatchWork) -> pa.RecordBatch:
    """A row for each of its queries."""
    row, number = found.pair_arrays()
    values = _values(found, number, work.ids)
    if work.keep_unmatched:
        row, values = _with_unmatched(row, values, batch.num_rows)
    return _beside(batch.take(pa.array(row)), values)


def _named_columns(arrays: list[pa.Array], work: MatchWork) -> pa.RecordBatch:
    """The arrays as the stream's columns; others stay, without a name, to say how many rows there are."""
    rest = len(arrays) - len(work.columns)
    return pa.RecordBatch.from_arrays(arrays, names=[*work.columns, *[""] * rest])


def _known(arrays: list[pa.Array], work: MatchWork) -> dict[Call, pa.Array]:
    return dict(zip(work.externals, arrays[len(work.columns) :], strict=False))


def _values(found: Matches, numbers: Counts, ids: Ids) -> pa.Array:
    return pa.array(numbers, pa.int32()) if ids == "number" else found.ids_of(numbers)


def _lists(starts: Counts, values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), values)


def _with_unmatched(row: Counts, values: pa.Array, rows: int) -> tuple[Counts, pa.Array]:
    """Pairs with one more, without a query, for every row that has none."""
    missing = np.flatnonzero(np.bincount(row, minlength=rows) == 0)
    row = np.concatenate([row, missing])
    order = np.argsort(row, kind="stable")
    return row[order], pa.concat_arrays([values, pa.nulls(len(missing), values.type)]).take(pa.array(order))


def _beside(batch: pa.RecordBatch, values: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([*batch.columns, values], names=[*batch.schema.names, "queries"])
