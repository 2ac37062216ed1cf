"""Arrays and columns in files, memory-mapped: they come into memory when they are looked at, and may go again.

A file loses its name as soon as it is mapped. So it takes room on the disk as long as somebody looks at it, and is gone
with the process, also if that is killed.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.errors import FileError

Array = npt.NDArray[Any]

_ALIGNED: Final = 64  # bytes, as Arrow wants it, and vectors like it


@dataclass(frozen=True, slots=True)
class Folder:
    """Where files of joins go."""

    path: Path

    def check(self) -> None:
        """Make the folder and write a file to it: whoever set it learns at once that it will not do, not under load."""
        with self._file() as file:
            file.write(b"\0")
            file.flush()

    def arrays(self, arrays: Sequence[Array]) -> list[Array]:
        """The same arrays in one file. What is written into them stays in this process."""
        offsets, size = [], 0
        for array in arrays:
            offsets.append(size)
            size += -(-array.nbytes // _ALIGNED) * _ALIGNED
        with self._file() as file:
            for array, offset in zip(arrays, offsets, strict=True):
                file.seek(offset)
                file.write(array.tobytes())
            file.truncate(max(size, 1))
            file.flush()
            # A copy-on-write map: arrays that cannot be written to would have every kernel compiled once more.
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        return [
            np.frombuffer(mapped, array.dtype, array.size, offset)
            for array, offset in zip(arrays, offsets, strict=True)
        ]

    def columns(self, columns: Sequence[pa.Array]) -> list[pa.Array]:
        """The same columns, all of one length, in one file."""
        batch = pa.RecordBatch.from_arrays(list(columns), names=[str(place) for place in range(len(columns))])
        with self._file() as file:
            with pa.ipc.new_file(file, batch.schema) as writer:
                writer.write_batch(batch)
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        found = pa.ipc.open_file(pa.py_buffer(mapped)).get_batch(0)
        return list(found.columns)

    @contextmanager
    def _file(self) -> Iterator[IO[bytes]]:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path) as file:
                yield file
        except OSError as error:
            raise FileError(
                f'no file for tuples of joins can be written to "{self.path}": {error.strerror or error}',
                hint="give JoinSettings another folder",
            ) from error
