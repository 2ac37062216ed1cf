"""Many texts by number that stay in Arrow memory, or on disk, until somebody wants them as Python texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import pyarrow as pa


class Texts(Sequence[str]):
    """A column of texts, loaded when the first of them is asked for.

    >>> texts = Texts(lambda: pa.chunked_array([["a"], ["b", "c"]]), 3)
    >>> len(texts), texts[1], texts[1:], list(texts)
    (3, 'b', ['b', 'c'], ['a', 'b', 'c'])
    """

    def __init__(self, load: Callable[[], pa.ChunkedArray], size: int) -> None:
        self._load = load
        self._size = size

    @cached_property
    def column(self) -> pa.ChunkedArray:
        """The column, in as many pieces as it came in."""
        return self._load()

    @cached_property
    def array(self) -> pa.Array:
        """The column in one piece."""
        joined = self.column.combine_chunks()
        return pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return self.column.to_pylist()[place]
        return self.column[place].as_py()

    def __iter__(self) -> Iterator[str]:
        return iter(self.column.to_pylist())
