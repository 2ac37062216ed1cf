"""Numbers for the rows of all files that a job reads, from which the file and the row of each are found again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eddyline.model.arrays import Integers
from eddyline.runtime.embedded.sources import FileRows


class FilePlaces:
    """Rows are numbered as they are read, on from one file to the next, so that the order of numbers is theirs.

    >>> places = FilePlaces()
    >>> batch = pa.record_batch({"price": [5.0, 6.0]})
    >>> numbers = [places.of("quotes", FileRows(batch, file, 0)).tolist() for file in ("a.csv", "b.csv")]
    >>> numbers, places.files([1, 2]).to_pylist(), places.rows([1, 2]).tolist()
    ([[0, 1], [2, 3]], ['a.csv', 'b.csv'], [1, 0])
    """

    def __init__(self) -> None:
        self._read: list[tuple[str, str]] = []  # stream and file, as they come
        self._starts: list[int] = []
        self._end = 0

    def of(self, stream: str, piece: FileRows) -> Integers:
        """The numbers of the rows of a piece, the next one of its file."""
        if not self._read or self._read[-1] != (stream, piece.file):
            self._read.append((stream, piece.file))
            self._starts.append(self._end)
        numbers = piece.rows + self._starts[-1]
        self._end = max(self._end, int(numbers[-1]) + 1) if len(numbers) else self._end
        return numbers

    def files(self, numbers: Integers) -> pa.Array:
        """The names of the files that rows are in."""
        names = pa.array([file for _, file in self._read], pa.string())
        return names.take(pa.array(self._file_of(numbers)))

    def rows(self, numbers: Integers) -> Integers:
        """The numbers of rows in their files, counted from 0."""
        return np.asarray(numbers) - np.array(self._starts, np.int64)[self._file_of(numbers)]

    def _file_of(self, numbers: Integers) -> Integers:
        found: Integers = np.searchsorted(self._starts, numbers, side="right") - 1
        return found
