"""The queries of a set that a DataFrame can be matched with: those of one stream. Joins are left out, and it is said."""

from __future__ import annotations

import warnings

from eddyline.errors import EddylineError
from eddyline.queryset import QuerySet


def selections_of(qs: QuerySet) -> QuerySet:
    """The set without its joins; numbers of queries stay the same."""
    joins = qs.joins
    if not joins:
        return qs
    named = f'"{joins[0]}"' if len(joins) == 1 else f'"{joins[0]}" and {len(joins) - 1} more'
    if len(joins) == len(qs):
        raise EddylineError(
            f"all queries of the set join streams ({named}), which is not done on a DataFrame",
            hint="joins are evaluated by Engine and QuerySet.join",
        )
    warnings.warn(
        f"joins are not evaluated on a DataFrame, and are left out: {named}", UserWarning, stacklevel=3
    )
    return qs.remove(joins)
