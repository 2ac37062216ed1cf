"""Relations between queries, given as SQL: implied, equivalent, disjoint, never true; with proof, row or reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eddyline.implication.search import Budget
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.relations.pair import Pair
from eddyline.relations.relation import Related, Relation


def implies(
    a: str,
    b: str,
    *,
    streams: Stream | Sequence[Stream],
    given: Iterable[str] = (),
    budget: Budget | None = None,
    time_zone: str = "UTC",
    join_window: Length | None = None,
) -> Relation:
    """Whether every row that satisfies `a` satisfies `b`: verdict "implied", "not implied" or "unknown".

    `a` and `b` are SELECT statements over one stream, or joins of the same streams: then a row is a pair, with a row for each
    alias of `a`, and `join_window` is the window of joins that name none. `given` are conditions that no row violates (as of CHECK and NOT
    NULL: they are true or NULL for every row). `budget` limits the search; what it cannot decide is "unknown".

    >>> import pyarrow as pa
    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> cheap = "SELECT * FROM quotes WHERE price < 10"
    >>> cheap_fx = "SELECT * FROM quotes WHERE symbol = 'EUR' AND price < 5"
    >>> print(implies(cheap_fx, cheap, streams=quotes))
    the first query implies the second query
      price in (-inf, 5.0) and symbol in {'EUR'}   lies in   price in (-inf, 10.0)
    >>> found = implies(cheap, cheap_fx, streams=quotes)
    >>> found.verdict, bool(found), dict(found.row)
    ('not implied', False, {'symbol': '', 'price': 0.0})
    """
    return Pair.of(a, b, streams, given, budget, time_zone, join_window).implies()


def equivalent(
    a: str,
    b: str,
    *,
    streams: Stream | Sequence[Stream],
    given: Iterable[str] = (),
    budget: Budget | None = None,
    time_zone: str = "UTC",
    join_window: Length | None = None,
) -> Relation:
    """Whether both queries are satisfied by the same rows: verdict "equivalent", "not equivalent" or "unknown".

    >>> import pyarrow as pa
    >>> quotes = Stream("quotes", pa.schema([("price", pa.int32())]))
    >>> one, other = (
    ...     "SELECT * FROM quotes WHERE NOT price <= 3",
    ...     "SELECT price FROM quotes WHERE price + 1 > 4",
    ... )
    >>> equivalent(one, other, streams=quotes).verdict
    'not equivalent'
    >>> print(equivalent(one, other, streams=quotes))
    the first query and the second query are not equivalent
      row {price: 2147483647} satisfies only the first query (checked)
    """
    return Pair.of(a, b, streams, given, budget, time_zone, join_window).equivalent()


def disjoint(
    a: str,
    b: str,
    *,
    streams: Stream | Sequence[Stream],
    given: Iterable[str] = (),
    budget: Budget | None = None,
    time_zone: str = "UTC",
    join_window: Length | None = None,
) -> Relation:
    """Whether no row satisfies both queries: verdict "disjoint", "not disjoint" or "unknown"."""
    return Pair.of(a, b, streams, given, budget, time_zone, join_window).disjoint()


def never_true(
    a: str,
    *,
    streams: Stream | Sequence[Stream],
    given: Iterable[str] = (),
    budget: Budget | None = None,
    time_zone: str = "UTC",
    join_window: Length | None = None,
) -> Relation:
    """Whether no row at all satisfies a query: verdict "never true", "not never true" or "unknown"."""
    return Pair.of(a, a, streams, given, budget, time_zone, join_window).never_true()


def relate(
    a: str,
    b: str,
    *,
    streams: Stream | Sequence[Stream],
    given: Iterable[str] = (),
    budget: Budget | None = None,
    time_zone: str = "UTC",
    join_window: Length | None = None,
) -> Related:
    """What two queries have to do with each other: equivalent, one implies the other, disjoint, overlapping, or unknown.

    >>> import pyarrow as pa
    >>> quotes = Stream("quotes", pa.schema([("price", pa.int32())]))
    >>> relate(
    ...     "SELECT * FROM quotes WHERE price < 3", "SELECT * FROM quotes WHERE price > 1", streams=quotes
    ... ).verdict
    'overlapping'
    """
    return Pair.of(a, b, streams, given, budget, time_zone, join_window).relate()
