"""Long work that gives way between its steps: loops over many queries go through `paced`.

Whoever does such work beside others says once what is to happen between two steps (`giving_way`), in its own thread; the
loops need not know, and cost nothing where nobody has said anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")
_between: Final[ContextVar[Callable[[], None] | None]] = ContextVar("between", default=None)


def paced(items: Iterable[T]) -> Iterable[T]:
    """The items; before each of them the work gives way, if it is to.

    >>> turns = []
    >>> with giving_way(lambda: turns.append("turn")):
    ...     [item for item in paced("ab")]
    ['a', 'b']
    >>> turns, paced("ab")
    (['turn', 'turn'], 'ab')
    """
    between = _between.get()
    return items if between is None else _steps(items, between)


def _steps(items: Iterable[T], between: Callable[[], None]) -> Iterator[T]:
    for item in items:
        between()
        yield item


@contextmanager
def giving_way(between: Callable[[], None]) -> Iterator[None]:
    """A stretch of work in this thread that calls `between` between its steps."""
    before = _between.set(between)
    try:
        yield
    finally:
        _between.reset(before)
