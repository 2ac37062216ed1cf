"""A cached property that is computed once, also where several threads ask for it first at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self, TypeVar, overload

Value = TypeVar("Value")


class once(cached_property[Value]):
    """For values that keep state: two threads must not learn with one of them each.

    Python's own cached_property computes twice since 3.12 if two threads meet. Once there is a value, it is found in the
    object itself, and nothing here is called any more.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        super().__init__(compute)
        self._computing = threading.RLock()  # one value may ask for another

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        with self._computing:
            return super().__get__(instance, owner)
