"""The rule that what is known of one column of a key holds for the other one, too.

    q.symbol = t.symbol AND q.symbol = 'A'        ->  t.symbol = 'A' as well

So both streams are filtered, and tuples that nobody can join are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Expression, columns_of, walk
from eddyline.normalize.joins.parts import KeyCondition, SideCondition
from eddyline.normalize.rewrite import with_columns

# What does not tell apart numbers that are equal: 0.0 and -0.0 are other texts, and other divisors.
_ONLY_COMPARES: Final = frozenset(
    {"eq", "null_safe_eq", "lt", "le", "gt", "ge", "in", "is_null", "isnan", "and", "or", "not"}
)


def copy_key_conditions(
    sides: Iterable[SideCondition], keys: Iterable[KeyCondition]
) -> tuple[SideCondition, ...]:
    """The conditions, and copies of those that read nothing but a column of a key, for the partner's column."""
    found = dict.fromkeys(sides)
    for key in keys:
        columns = [expression for expression in key.expressions if isinstance(expression, Column)]
        if len(columns) < 2:
            continue
        for side in tuple(found):
            own, partner = columns[side.source], columns[1 - side.source]
            if _is_about(side.expression, own):
                copy = with_columns(side.expression, {own.name: partner})
                found[SideCondition(1 - side.source, copy)] = None
    return tuple(found)


def _is_about(expression: Expression, column: Column) -> bool:
    if columns_of(expression) != {column.name}:
        return False
    calls = {node.function for node in walk(expression) if isinstance(node, Call) and columns_of(node)}
    return not t.is_fractional(column.type) or calls <= _ONLY_COMPARES
