"""What readers of the formats take and give: one file to be read, and rows of it that could be read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.functions.zones import Zone
from eddyline.model.catalog import Stream
from eddyline.model.reject import Reject
from eddyline.runtime.embedded.input_files import InputFile
from eddyline.runtime.embedded.rejects import Rejects, refuse

Mask = npt.NDArray[np.bool_]


class FileReading(NamedTuple):
    """One file, the stream that its rows belong to, and who takes the rows that cannot be read."""

    input_file: InputFile
    stream: Stream
    zone: Zone
    rejects: Rejects | None
    batch_rows: int

    def reject(self, row: int, reason: str, *, line: int | None = None, text: bytes = b"") -> None:
        """Refuse one row, numbered from 0."""
        refuse(self.rejects, Reject(self.input_file.name, line, row + 1, reason, text))


class Chunk(NamedTuple):
    """Rows of the stream's schema; the number of the first one, or of each where some were rejected; bytes read so far."""

    batch: pa.RecordBatch
    first: int
    bytes: int
    numbers: npt.NDArray[np.signedinteger] | None = None


def native(data: bytes) -> pa.BufferReader:
    """Bytes for Arrow's readers of text, none of them Python's.

    Their threads let go of the source some time later. With an object of Python's that needs the interpreter, and aborts
    the process if that is about to end.

    >>> native(b"a,b").read()
    b'a,b'
    """
    copy = pa.BufferOutputStream()
    copy.write(data)
    return pa.BufferReader(copy.getvalue())


def without(batch: pa.RecordBatch, first: int, bad: Mask, bytes: int) -> Chunk:
    """The rows of a batch that are not bad, the first of them being row `first` of the file."""
    if not bad.any():
        return Chunk(batch, first, bytes)
    good = np.flatnonzero(~bad)
    return Chunk(batch.take(pa.array(good)), first, bytes, good + first)
