"""Why one row matches a query or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from eddyline.errors import EddylineError
from eddyline.execute.reading.batch import ColumnReader
from eddyline.execute.why import Why, decide
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.odd_text import ordered_values
from eddyline.model.catalog import Stream
from eddyline.model.expression import columns_of as attributes_of
from eddyline.model.predicate import conditions_of
from eddyline.model.query import NormalQuery
from eddyline.sql.render import render


def why_of(query: NormalQuery, stream: Stream, row: Mapping[str, Any] | Any) -> Why:
    """Why a tuple, given as a mapping or as a batch of one row, matches a query or not."""
    if isinstance(row, Mapping):
        schema = pa.schema([field for field in stream.schema if field.name in row])
        row = pa.RecordBatch.from_pylist([dict(row)], schema=schema)
    subjects = dict.fromkeys(condition.subject for condition in conditions_of(query.predicate))
    used = dict.fromkeys(name for subject in subjects for name in sorted(attributes_of(subject)))
    columns, rows = ColumnReader(stream, used).read(row)
    if rows != 1:
        raise EddylineError(f"why looks at one row, not at {rows}", hint="slice the batch: batch.slice(i, 1)")
    evaluation = Evaluation(columns, time_zone=query.time_zone, rows=1)
    values = {one: ordered_values(evaluation.values(one), one.type)[0] for one in subjects}
    return decide(query.predicate, values, render)
