"""Numbers as people read them."""

from __future__ import annotations


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "query", "queries")
    ('1 row', '1,200 rows', '2 queries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def percent(part: int, whole: int) -> str:
    """A share; "0%" and "100%" only where they are exact.

    >>> percent(0, 5), percent(1, 3), percent(1, 10**6), percent(999_999, 10**6), percent(5, 5)
    ('0%', '33.3%', '<0.01%', '>99.9%', '100%')
    >>> percent(25, 10)
    '250.0%'
    """
    if not part or not whole:
        return "0%"
    if part == whole:
        return "100%"
    share = 100 * part / whole
    if share < 0.01:
        return "<0.01%"
    if 99.9 < share < 100:
        return ">99.9%"
    return f"{share:.2f}%" if share < 1 else f"{share:,.1f}%"
