"""Everything that finds matches, under one signature: published test sets run through all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pyarrow as pa

from eddyline import reference
from eddyline.model.catalog import Stream
from eddyline.model.matches import Matches
from eddyline.model.query import Query
from eddyline.queryset import QuerySet

Matcher = Callable[[Sequence[Query], pa.RecordBatch, Stream], Matches]

MATCHERS: Final[dict[str, Matcher]] = {
    "reference": lambda queries, batch, stream: reference.match(queries, batch, streams=[stream]),
    "queryset": lambda queries, batch, stream: QuerySet.build(queries, streams=[stream]).match(batch),
}
