"""Values that many queries have in common, by number, in the order in which they came; on disk they are texts.

number    0      1      2         3      4
          texts on disk           values in memory
          read when wanted        added since the set was opened
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import pyarrow as pa

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TextForm(Generic[T]):
    """How values are written as texts, and read again."""

    write: Callable[[T], str | None]
    read: Callable[[str | None], T]


class Distinct(Generic[T]):
    """Values, each once; those that were saved are read one by one, when somebody asks for them.

    >>> texts = pa.chunked_array([["1", "4"]])
    >>> squares = Distinct(TextForm(str, lambda text: int(text or "")), 2, lambda: texts)
    >>> squares.number(9), squares.number(4), squares[0], list(squares), squares.texts(1, 3)
    (2, 1, 1, [1, 4, 9], ['4', '9'])
    """

    def __init__(
        self,
        form: TextForm[T],
        saved: int = 0,
        read: Callable[[], pa.ChunkedArray] = lambda: pa.chunked_array([], pa.string()),
    ) -> None:
        """Those that were saved, so many, of which `read` gives the texts."""
        self._form = form
        self._first = saved  # the number of the first value that is not saved
        self._read_texts = read
        self._read: dict[int, T] = {}
        self._values: list[T] = []
        self._numbers: dict[T, int] = {}

    def number(self, value: T) -> int:
        """The number of a value; one thread at a time asks for those that may be new."""
        found = self._numbers.get(value)
        if found is None:
            found = self._saved_numbers.get(self._form.write(value)) if self._first else None
            if found is None:
                found = len(self)
                self._values.append(value)  # first: whoever finds the number finds the value
            self._numbers[value] = found
        return found

    def __getitem__(self, number: int) -> T:
        if number >= self._first:
            return self._values[number - self._first]
        if number not in self._read:
            self._read[number] = self._form.read(self._saved[number].as_py())
        return self._read[number]

    def __len__(self) -> int:
        return self._first + len(self._values)

    def __iter__(self) -> Iterator[T]:
        return (self[number] for number in range(len(self)))

    def texts(self, first: int, end: int) -> list[str | None]:
        """Consecutive values as texts; those that were saved are not read for it."""
        saved = self._saved[first:end].to_pylist()
        added = self._values[max(0, first - self._first) : max(0, end - self._first)]
        return [*saved, *map(self._form.write, added)]

    @cached_property
    def _saved(self) -> pa.ChunkedArray:
        return self._read_texts()

    @cached_property
    def _saved_numbers(self) -> dict[str | None, int]:
        return {text: number for number, text in enumerate(self._saved.to_pylist())}
