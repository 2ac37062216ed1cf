"""Where rows come from: a file, a folder, a glob or a pipe, each file with its format."""

from __future__ import annotations

import glob
import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from eddyline.errors import FileError
from eddyline.runtime.embedded.pipes import HEAD, STANDARD_INPUT, is_pipe, pipe_of

FORMATS: Final = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".arrows": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
TEXT: Final = ("csv", "tsv", "jsonl")
KNOWN: Final = "known are .parquet, .arrow, .csv, .tsv and .jsonl, the last three also with .gz"
_GZIP: Final = b"\x1f\x8b"


class InputFile(NamedTuple):
    """A file or pipe that rows come from; `format` is parquet, arrow, csv, tsv or jsonl."""

    name: str
    format: str

    @property
    def is_pipe(self) -> bool:
        """Whether the rows come through a pipe, and so only once."""
        return is_pipe(self.name)

    @property
    def size(self) -> int | None:
        """Bytes of the file, None where nobody can know."""
        return Path(self.name).stat().st_size if Path(self.name).is_file() else None


def input_files(source: str, format: str | None = None) -> list[InputFile]:
    """The files of a source in the order of their names.

    In a folder and below it, names that start with a dot or an underscore are no data; any other file has to have a
    known ending, so that none is left out unnoticed.
    """
    if format is not None and format not in FORMATS.values():
        raise FileError(
            f'"{format}" is no format of rows', hint=f"known are {', '.join(dict.fromkeys(FORMATS.values()))}"
        )
    if source == STANDARD_INPUT:
        return [InputFile(source, format or format_of(source))]
    path = Path(source)
    try:
        if path.is_dir():
            return [InputFile(str(file), format or format_of(str(file))) for file in _inside(path)]
        if not path.exists() and glob.has_magic(source):
            return [InputFile(file, format or format_of(file)) for file in _matching(source)]
        if not path.exists():
            raise FileError(f'there is no file "{source}"')
    except (OSError, ValueError) as error:
        raise FileError(f'"{source}" cannot be read: {getattr(error, "strerror", None) or error}') from None
    return [InputFile(source, format or format_of(source))]


def _inside(folder: Path) -> list[Path]:
    files = list(_below(folder, ()))
    if not files:
        raise FileError(f'the folder "{folder}" holds no file of rows', hint=KNOWN)
    return sorted(files, key=lambda file: file.parts)


def _below(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    """The files in a folder and in those inside it, also where a link leads to."""
    real = folder.resolve()
    if real in above:
        raise FileError(f'the folder "{folder}" is inside of itself', hint="take the link away that leads up")
    for entry in folder.iterdir():
        if entry.name[0] in "._":
            continue
        if entry.is_dir():
            yield from _below(entry, (*above, real))
        elif entry.is_file():
            yield entry
        else:
            raise FileError(
                f'"{entry}" is neither a file nor a folder', hint="it may be a link that leads nowhere"
            )


def _matching(pattern: str) -> list[str]:
    """The files that fit a pattern, and those of folders that do."""
    found = glob.glob(pattern, recursive=True)  # noqa: PTH207  pathlib knows no pattern that starts with a slash
    files: dict[str, None] = {}
    for path in map(Path, found):
        files.update((str(file), None) for file in (_below(path, ()) if path.is_dir() else [path]))
    if not files:
        raise FileError(f'no file matches "{pattern}"')
    return sorted(files, key=lambda file: Path(file).parts)


def format_of(name: str) -> str:
    """The format that a file's ending names, else the one that its first bytes show: a pipe may have no ending.

    >>> format_of("history/2026-01-05.csv.gz")
    'csv'
    """
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in FORMATS:
        return FORMATS[suffixes[-1]]
    if is_pipe(name):
        return _sniff(pipe_of(name).head(), "standard input" if name == STANDARD_INPUT else f'"{name}"')
    with open_bytes(name) as file:
        head = file.read(16)
    for start, format in _BINARY.items():
        if head.startswith(start):
            return format
    raise FileError(f'the ending of "{name}" does not say in which form its rows are', hint=KNOWN)


_BINARY: Final = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}


def _sniff(head: bytes, name: str) -> str:
    if head.startswith(_GZIP):
        head = gzip.GzipFile(fileobj=io.BytesIO(head)).read1(HEAD)
    for start, format in _BINARY.items():
        if head.startswith(start):
            return format
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise FileError(f"{name} is empty, so its format cannot be seen", hint="say it with a format")
    return "jsonl" if text[:1] in b"{[" else "csv"


def open_bytes(name: str) -> io.BufferedReader:
    """A file or pipe as bytes, from its start."""
    try:
        return pipe_of(name).take() if is_pipe(name) else Path(name).open("rb")
    except PermissionError:
        raise FileError(f'the file "{name}" may not be read', hint="look at its permissions") from None
    except (OSError, ValueError) as error:
        raise FileError(
            f'the file "{name}" cannot be read: {getattr(error, "strerror", None) or error}'
        ) from None


def start_of(input_file: InputFile) -> bytes:
    """The first bytes of a file or pipe; reading starts from the beginning all the same."""
    if input_file.is_pipe:
        return pipe_of(input_file.name).head()
    with open_bytes(input_file.name) as file:
        return file.read(HEAD)


def head(input_file: InputFile) -> bytes:
    """The first bytes of a text, unpacked."""
    data = start_of(input_file)
    if data.startswith(_GZIP):
        try:
            return gzip.GzipFile(fileobj=io.BytesIO(data)).read1(HEAD)
        except (OSError, EOFError) as error:
            raise FileError(f'"{input_file.name}" is no whole gzip file: {error}') from None
    return data


def unpacked(file: io.BufferedReader, name: str) -> IO[bytes]:
    """The text inside a file: unzipped where it is a gzip file."""
    start = file.peek(2)[:2]
    if start == _GZIP:
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    if start and name.lower().endswith(".gz"):
        raise FileError(f'"{name}" is no gzip file', hint="take .gz off its name if it is not compressed")
    return file


def position(file: IO[bytes]) -> int:
    """How far a file on disk has been read; 0 for a pipe."""
    try:
        return os.lseek(file.fileno(), 0, os.SEEK_CUR)
    except (OSError, io.UnsupportedOperation):
        return 0
