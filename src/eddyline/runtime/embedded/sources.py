"""Rows from files: batches of exactly a stream's columns and types, in order, with the place of every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.functions.zones import find_zone
from eddyline.model.catalog import Stream
from eddyline.runtime.embedded import columnar, csv_rows, json_rows
from eddyline.runtime.embedded.chunk import Chunk, FileReading
from eddyline.runtime.embedded.input_files import InputFile, input_files
from eddyline.runtime.embedded.rejects import Rejects

Integers = npt.NDArray[np.signedinteger]


class FileRows(NamedTuple):
    """Consecutive rows of one file. `first` is the number of the first one, counted from 0 in its file.

    Rejected rows have numbers too, so the row numbers may have gaps: `numbers` gives them where they have.
    """

    batch: pa.RecordBatch
    file: str
    first: int
    numbers: Integers | None = None

    @property
    def rows(self) -> Integers:
        """The number of every row of the batch in its file, counted from 0."""
        if self.numbers is not None:
            return self.numbers
        return np.arange(self.first, self.first + self.batch.num_rows)


class Progress(NamedTuple):
    """How far reading has come: rows read, bytes read and bytes in all, the latter None for standard input."""

    file: str
    rows: int
    bytes: int
    total: int | None


READERS: Final[dict[str, Callable[[FileReading], Iterator[Chunk]]]] = {
    "parquet": columnar.read_parquet,
    "arrow": columnar.read_arrow,
    "csv": csv_rows.read_csv,
    "tsv": csv_rows.read_csv,
    "jsonl": json_rows.read_json_lines,
}


def read(
    source: str,
    stream: Stream,
    *,
    format: str | None = None,
    rejects: Rejects | None = None,
    batch_rows: int = 65_536,
    time_zone: str = "UTC",
    on_progress: Callable[[Progress], None] | None = None,
) -> Iterator[FileRows]:
    """The rows of a file, of all files of a folder or of a glob, or of standard input ("-"), in pieces.

    The format is taken from the ending of a file unless it is given: parquet, arrow (file or stream), csv, tsv, jsonl;
    text may be a gzip file. A piece has at most `batch_rows` rows, and a whole file is never held in memory. Rows that
    cannot be read go to `rejects`; without it the first of them raises `FileError`, as does a file that is broken as
    a whole. Text that names no time zone is read in `time_zone`.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "quotes.csv"
    >>> _ = file.write_text("symbol,price\\nACME,9.5\\nZETA,cheap\\n")
    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> rejects = Rejects()
    >>> [piece.batch.to_pylist() for piece in read(str(file), quotes, rejects=rejects)]
    [[{'symbol': 'ACME', 'price': 9.5}]]
    >>> rejects.first[0].reason
    'price: "cheap" is not a double'
    """
    files = input_files(source, format)
    sizes = [input_file.size for input_file in files]
    total = sum(size for size in sizes if size is not None) if None not in sizes else None
    zone = find_zone(time_zone)
    assert zone is not None, f"the time zone {time_zone} was checked where it came in"
    rows = done = 0
    for input_file, size in zip(files, sizes, strict=True):
        for chunk in READERS[input_file.format](FileReading(input_file, stream, zone, rejects, batch_rows)):
            rows += chunk.batch.num_rows
            yield from _pieces(input_file, chunk, batch_rows)
            if on_progress is not None:
                on_progress(Progress(input_file.name, rows, done + chunk.bytes, total))
        done += size or 0
    if on_progress is not None:
        on_progress(Progress(files[-1].name, rows, done, total))


def _pieces(input_file: InputFile, chunk: Chunk, most: int) -> Iterator[FileRows]:
    for start in range(0, chunk.batch.num_rows, most):
        batch = chunk.batch.slice(start, most)
        if chunk.numbers is None:
            yield FileRows(batch, input_file.name, chunk.first + start)
        else:
            numbers = chunk.numbers[start : start + most]
            yield FileRows(batch, input_file.name, int(numbers[0]), numbers)
