"""Which queries a segment cannot be made of: looked for when making one of many has failed."""

from __future__ import annotations

from collections.abc import Iterable

from eddyline.config import IndexSettings
from eddyline.errors import PASSED_ON, InternalError, QueryError
from eddyline.execute.segment import SegmentExecutor
from eddyline.index.segment import build_segment
from eddyline.model.query import NormalQuery


def find_uncompilable(
    members: Iterable[tuple[int, NormalQuery]], settings: IndexSettings
) -> dict[int, QueryError]:
    """The queries of which not even a segment of one can be made, by number, each with the reason."""
    found: dict[int, QueryError] = {}
    for number, query in members:
        try:
            segment = build_segment(query.stream, [query], settings)
            SegmentExecutor(segment, settings.order).prepare()
        except PASSED_ON:
            raise
        except Exception as error:
            found[number] = InternalError(error, query.id, query.sql)
    return found
