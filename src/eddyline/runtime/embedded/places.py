"""Where rows come from: a file, a folder, a glob or standard input, each file with its format."""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from eddyline.errors import FileError

STANDARD_INPUT: Final = "-"
HEAD: Final = 1 << 20  # bytes from the start of a file that its format and types are guessed from
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


class Place(NamedTuple):
    """One file, or standard input; `format` is parquet, arrow, csv, tsv or jsonl."""

    name: str
    format: str

    @property
    def is_standard_input(self) -> bool:
        """Whether the rows come through a pipe."""
        return self.name == STANDARD_INPUT

    @property
    def size(self) -> int | None:
        """Bytes of the file, None where nobody can know."""
        return (
            None
            if self.is_standard_input or not Path(self.name).is_file()
            else Path(self.name).stat().st_size
        )


def places(source: str, format: str | None = None) -> list[Place]:
    """The files of a source in the order of their names.

    In a folder and below it, names that start with a dot or an underscore are no data; any other file has to have a
    known ending, so that none is left out unnoticed.
    """
    if format is not None and format not in FORMATS.values():
        raise FileError(
            f'"{format}" is no format of rows', hint=f"known are {', '.join(dict.fromkeys(FORMATS.values()))}"
        )
    if source == STANDARD_INPUT:
        return [Place(source, format or _sniff(_standard_input().head(), "standard input"))]
    path = Path(source)
    try:
        if path.is_dir():
            return [Place(str(file), format or format_of(str(file))) for file in _inside(path)]
        if not path.exists() and glob.has_magic(source):
            return [Place(file, format or format_of(file)) for file in _matching(source)]
        if not path.exists():
            raise FileError(f'there is no file "{source}"')
    except (OSError, ValueError) as error:
        raise FileError(f'"{source}" cannot be read: {getattr(error, "strerror", None) or error}') from None
    return [Place(source, format or format_of(source))]


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
    """The format that a file's ending names, else the one that its first bytes show.

    >>> format_of("history/2026-01-05.csv.gz")
    'csv'
    """
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in FORMATS:
        return FORMATS[suffixes[-1]]
    head = _head_of(name)
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


def _head_of(name: str) -> bytes:
    with open_bytes(name) as file:
        return file.read(16)


class _Pipe(io.RawIOBase):
    """Standard input that can be looked at before it is read."""

    def __init__(self, raw: IO[bytes]) -> None:
        self.raw = raw
        self._seen = b""

    def head(self) -> bytes:
        """The first bytes, at most `HEAD`; they are read again afterwards."""
        while len(self._seen) < HEAD:
            more = self.raw.read(HEAD - len(self._seen))
            if not more:
                break
            self._seen += more
        return self._seen

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def close(self) -> None:
        """Standard input stays open: it may be read in two steps."""

    def readinto(self, buffer: object) -> int:
        """Fill a buffer, with what was looked at first."""
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._seen[: len(view)] or self.raw.read1(len(view))  # type: ignore[attr-defined]
        self._seen = self._seen[len(data) :]
        view[: len(data)] = data
        return len(data)


_pipes: dict[int, _Pipe] = {}


def _standard_input() -> _Pipe:
    raw = sys.stdin.buffer
    pipe = _pipes.get(id(raw))
    if pipe is None or pipe.raw is not raw:
        _pipes.clear()
        pipe = _pipes[id(raw)] = _Pipe(raw)
    return pipe


def open_bytes(name: str) -> io.BufferedReader:
    """A file, or standard input, as bytes."""
    if name == STANDARD_INPUT:
        return io.BufferedReader(_standard_input(), 1 << 16)
    try:
        return Path(name).open("rb")
    except PermissionError:
        raise FileError(f'the file "{name}" may not be read', hint="look at its permissions") from None
    except (OSError, ValueError) as error:
        raise FileError(
            f'the file "{name}" cannot be read: {getattr(error, "strerror", None) or error}'
        ) from None


def start_of(place: Place) -> bytes:
    """The first bytes of a file or pipe; reading starts from the beginning all the same."""
    if place.is_standard_input:
        return _standard_input().head()
    with open_bytes(place.name) as file:
        return file.read(HEAD)


def head(place: Place) -> bytes:
    """The first bytes of a text, unpacked."""
    data = start_of(place)
    if data.startswith(_GZIP):
        try:
            return gzip.GzipFile(fileobj=io.BytesIO(data)).read1(HEAD)
        except (OSError, EOFError) as error:
            raise FileError(f'"{place.name}" is no whole gzip file: {error}') from None
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
