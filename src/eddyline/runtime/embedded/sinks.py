"""Tables to files and to standard output; a file appears under its name only when it is whole."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Protocol

import pyarrow as pa
from pyarrow import csv

from eddyline.delivery.json_text import csv_columns, json_lines, unique
from eddyline.errors import FileError
from eddyline.runtime.embedded.input_files import FORMATS, KNOWN

STANDARD_OUTPUT: Final = "-"
ROW_GROUP: Final = 1 << 18  # rows that are gathered before a Parquet or Arrow file gets them


class TableWriter(Protocol):
    """Takes tables of one schema."""

    def write(self, table: pa.Table) -> None:
        """More rows."""

    def close(self) -> None:
        """No more rows."""

    def abandon(self) -> None:
        """No more rows, and those so far are not to be taken for all."""


class Target:
    """Where bytes go: a file that is called `.NAME.partial` until it is whole, or standard output.

    Leaving the `with` block by an error leaves no file, and one of the same name as it was.
    """

    def __init__(self, where: str | Path) -> None:
        self.is_standard_output = str(where) == STANDARD_OUTPUT
        self.path = Path(where)
        self._partial = self.path.with_name(f".{self.path.name}.partial")
        self.file = self._open()

    def _open(self) -> IO[bytes]:
        if self.is_standard_output:
            sys.stdout.flush()
            return sys.stdout.buffer
        try:
            return self._partial.open("wb")
        except OSError as error:
            raise FileError(f'the file "{self.path}" cannot be written: {error.strerror}') from None

    def keep(self) -> None:
        """The file is whole."""
        self.file.flush()
        if not self.is_standard_output:
            self.file.close()
            self._partial.replace(self.path)

    def discard(self) -> None:
        """The file is not whole, and never will be."""
        if not self.is_standard_output:
            self.file.close()
            self._partial.unlink(missing_ok=True)


class JsonLines:
    """One object per line."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, table: pa.Table) -> None:
        """More rows."""
        self.write_lines(json_lines(table))

    def write_lines(self, lines: pa.Array) -> None:
        """Rows that are text already."""
        if len(lines):
            self._file.write("\n".join(lines.to_pylist()).encode() + b"\n")

    def close(self) -> None:
        """Nothing is held back."""

    def abandon(self) -> None:
        """Lines are what they are."""


class Csv:
    """A header, then one line per row."""

    def __init__(self, file: IO[bytes], schema: pa.Schema, delimiter: str) -> None:
        self._file = file
        self._delimiter = delimiter
        self._write(schema.empty_table(), header=True)

    def write(self, table: pa.Table) -> None:
        """More rows."""
        self._write(table, header=False)

    def _write(self, table: pa.Table, *, header: bool) -> None:
        buffer = io.BytesIO()
        options = csv.WriteOptions(include_header=header, delimiter=self._delimiter, quoting_style="needed")
        csv.write_csv(csv_columns(table), buffer, options)
        self._file.write(buffer.getvalue())

    def close(self) -> None:
        """Nothing is held back."""

    def abandon(self) -> None:
        """Lines are what they are."""


class Batches:
    """Parquet and Arrow: rows are gathered to pieces of a good size."""

    def __init__(self, file: IO[bytes], schema: pa.Schema, writer: Any) -> None:
        self._schema = pa.schema(
            [field.with_name(name) for field, name in zip(schema, unique(schema.names), strict=True)]
        )
        self._writer = writer(file, self._schema)
        self._held: list[pa.Table] = []

    def write(self, table: pa.Table) -> None:
        """More rows."""
        self._held.append(pa.table(table.columns, schema=self._schema))
        if sum(held.num_rows for held in self._held) >= ROW_GROUP:
            self._pass_on()

    def _pass_on(self) -> None:
        if self._held:
            self._writer.write_table(pa.concat_tables(self._held).combine_chunks())
            self._held.clear()

    def close(self) -> None:
        """Write what is held back, and the end of the file."""
        self._pass_on()
        self._writer.close()

    def abandon(self) -> None:
        """No end is written: a writer of Parquet would do so by itself when it is collected."""
        if hasattr(self._writer, "is_open"):
            self._writer.is_open = False


def _parquet(file: IO[bytes], schema: pa.Schema) -> Any:
    from pyarrow import parquet

    return parquet.ParquetWriter(file, schema, compression="zstd")


class OutputFile:
    """A file of a format and schema, as a context: left without an error it is there and whole, otherwise not at all."""

    def __init__(self, where: str | Path, schema: pa.Schema, format: str | None = None) -> None:
        self.format = format or sink_format(str(where))
        self._target = Target(where)
        self._zipped = (
            gzip.GzipFile(fileobj=self._target.file, mode="wb", mtime=0, filename="")
            if str(where).lower().endswith(".gz")
            else None
        )
        file: IO[bytes] = self._target.file if self._zipped is None else self._zipped  # type: ignore[assignment]
        try:
            self.sink = self._make(file, schema)
        except BaseException:
            self._target.discard()
            raise

    def _make(self, file: IO[bytes], schema: pa.Schema) -> TableWriter:
        if self.format == "jsonl":
            return JsonLines(file)
        if self.format in ("csv", "tsv"):
            return Csv(file, schema, "," if self.format == "csv" else "\t")
        if self.format == "parquet":
            return Batches(file, schema, _parquet)
        streamed = self._target.is_standard_output or self._target.path.suffix.lower() == ".arrows"
        return Batches(file, schema, pa.ipc.new_stream if streamed else pa.ipc.new_file)

    def __enter__(self) -> OutputFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.sink.abandon()
            self._target.discard()
            return
        try:
            self.sink.close()
            if self._zipped is not None:
                self._zipped.close()
            self._target.keep()
        except BaseException:
            self._target.discard()
            raise


def sink_format(name: str) -> str:
    """The format that a file's ending names; standard output is JSON lines.

    >>> sink_format("matches.csv.gz"), sink_format("-")
    ('csv', 'jsonl')
    """
    if name == STANDARD_OUTPUT:
        return "jsonl"
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    zipped = bool(suffixes) and suffixes[-1] == ".gz"
    found = FORMATS.get(suffixes[-2 if zipped else -1]) if len(suffixes) > zipped else None
    if found is None or (zipped and found not in ("csv", "tsv", "jsonl")):
        raise FileError(f'the ending of "{name}" does not say in which form to write it', hint=KNOWN)
    return found
