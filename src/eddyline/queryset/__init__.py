"""Sets of standing queries: compiled, matched, changed, explained, saved."""

from eddyline.queryset.queryset import QuerySet

__all__ = ["QuerySet"]
