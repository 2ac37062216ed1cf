"""Sets of standing queries: compiled, matched, changed, explained, saved."""

from eddyline.queryset.queryset import QuerySet, open_set

__all__ = ["QuerySet", "open_set"]
