"""Which expressions can fail in the conditions of a version's queries, and how many queries have each.

Failures are counted for each distinct expression of a stream once, and not query by query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eddyline.model.expression import Expression
from eddyline.standing.columns import Columns

Counted = Mapping[str, Mapping[Expression, int]]  # by stream, then by expression: how many queries have it


def recounted(before: Counted, columns: Columns, leaving: Iterable[int], coming: Iterable[int]) -> Counted:
    """With some queries less and some more, given by dense id; most queries have nothing that can fail."""
    after: dict[str, dict[Expression, int]] = {}
    for dense_ids, step in ((leaving, -1), (coming, 1)):
        for dense in dense_ids:
            parts = columns.fallible(dense)
            if not parts:
                continue
            name = columns.selection(dense)[0].name
            users = after.setdefault(name, dict(before.get(name, {})))
            for part in parts:
                users[part] = users.get(part, 0) + step
                if not users[part]:
                    del users[part]
    return {**before, **after} if after else before
