"""Text in blocks of whole lines: bounded memory, right line numbers, overlong lines told apart."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Final, NamedTuple

from eddyline.errors import FileError

BLOCK: Final = 1 << 21  # bytes of text that are converted at once
LONGEST: Final = 1 << 25  # bytes of the longest row that is read
_KEPT: Final = 1_000  # bytes of an overlong row that are shown
_OTHER: Final = {
    codecs.BOM_UTF16_LE: "UTF-16 text",
    codecs.BOM_UTF16_BE: "UTF-16 text",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive",
    b"(\xb5/\xfd": "a Zstandard archive",
    b"BZh": "a bzip2 archive",
}


class Block(NamedTuple):
    """Whole rows as bytes, and the number of the first line, from one; `too_long` is the length of a row left out."""

    data: bytes
    line: int
    too_long: int = 0


FindEnd = Callable[[bytes, bool], int]


def blocks(file: IO[bytes], name: str, find_end: FindEnd, *, returns: bool = True) -> Iterator[Block]:
    """Cut a text into blocks.

    `find_end(data, at_end)` says how many of the bytes are whole rows; at the end of the text all of them have to be.
    `returns` says whether a carriage return alone ends a line.
    """
    size, longest = BLOCK, LONGEST
    rest = _start(file, name, size)
    line = 1
    at_end = False
    while not at_end:
        more = _read(file, name, size)
        at_end = not more
        data = rest + more
        end = find_end(data, at_end)
        if end:
            yield Block(data[:end], line)
            line += count_lines(data[:end], returns)
        rest = data[end:]
        if len(rest) > longest:
            end = line_end(rest, returns=returns)
            if end and end <= longest:  # a quote that is never closed: its line alone is given up
                yield Block(rest[:end], line)
                rest = rest[end:]
            else:
                kept, length, rest, at_end = _skip_line(file, name, rest, size, returns)
                yield Block(kept, line, length)
            line += 1


def _start(file: IO[bytes], name: str, size: int) -> bytes:
    data = _read(file, name, max(size, 4))
    for start, kind in _OTHER.items():
        if data.startswith(start):
            raise FileError(f'"{name}" is {kind}, and UTF-8 text is wanted', hint="save it as UTF-8 text")
    return data.removeprefix(codecs.BOM_UTF8)


def _read(file: IO[bytes], name: str, size: int) -> bytes:
    try:
        return file.read(size)
    except (EOFError, zlib.error, OSError) as error:
        reason = "its compressed text ends too early" if isinstance(error, EOFError) else error
        raise FileError(
            f'"{name}" cannot be read to its end: {reason}', hint="the rows before this place are fine"
        ) from None


def _skip_line(
    file: IO[bytes], name: str, data: bytes, size: int, returns: bool
) -> tuple[bytes, int, bytes, bool]:
    """The start of a line, its length, what follows it, and whether the text is over."""
    kept, length = data[:_KEPT], 0
    while True:
        end = line_end(data, returns=returns)
        if end:
            return kept, length + end, data[end:], False
        length += len(data)
        data = _read(file, name, size)
        if not data:
            return kept, length, b"", True


def line_end(data: bytes, start: int = 0, *, returns: bool = True) -> int:
    r"""Where the line that starts at `start` ends, its line break included; 0 if it does not.

    >>> line_end(b"ab\r\nc"), line_end(b"ab")
    (4, 0)
    """
    feed, back = data.find(b"\n", start), data.find(b"\r", start) if returns else -1
    if back >= 0 and (feed < 0 or back < feed):
        return back + 2 if feed == back + 1 else back + 1
    return feed + 1


def count_lines(data: bytes, returns: bool = True) -> int:
    r"""The number of line breaks, of whatever kind.

    >>> count_lines(b"a\nb\r\nc\rd")
    3
    """
    feeds, backs = data.count(b"\n"), data.count(b"\r") if returns else 0
    return feeds + backs - data.count(b"\r\n") if backs else feeds
