"""Text of a file as UTF-8, with every place that is none: the rest of the file stays readable."""

from __future__ import annotations

import codecs
import re
import sys
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from eddyline.errors import FileError
from eddyline.runtime.embedded.pipes import STANDARD_INPUT

_BREAK = re.compile("\n")
_UNREADABLE = re.compile("[\x00\udc80-\udcff]")
_OTHER_FORMATS: Final = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    codecs.BOM_UTF16_LE: "UTF-16 text",
    codecs.BOM_UTF16_BE: "UTF-16 text",
}


@dataclass(frozen=True)
class TextFile:
    """The text of a file; a byte that is not valid UTF-8 stands in it as the surrogate U+DC00 + byte."""

    name: str
    text: str
    skipped: int = 0  # bytes before the text: a byte order mark

    def line_of(self, position: int) -> int:
        """Number of the line that a character stands in, from one."""
        return bisect_left(self._breaks, position) + 1

    @cached_property
    def _breaks(self) -> list[int]:
        return [match.start() for match in _BREAK.finditer(self.text)]

    @cached_property
    def unreadable(self) -> list[tuple[int, str]]:
        """Position and description of the first unreadable character of every line that has one."""
        found: dict[int, tuple[int, str]] = {}
        for match in _UNREADABLE.finditer(self.text):
            position = match.start()
            found.setdefault(self.line_of(position), (position, self._describe(position)))
        return list(found.values())

    def _describe(self, position: int) -> str:
        offset = self.skipped + len(self.text[:position].encode("utf-8", "surrogateescape"))
        character = self.text[position]
        if character == "\x00":
            return f"there is a NUL byte at byte {offset}"
        return f"the byte 0x{ord(character) - 0xDC00:02X} at byte {offset} is not UTF-8"


def read_text(path: str) -> TextFile:
    """Read a file, or standard input for "-"; `FileError` where there is nothing to read."""
    data, name = (
        (sys.stdin.buffer.read(), "standard input") if path == STANDARD_INPUT else (read_bytes(path), path)
    )
    for start, kind in _OTHER_FORMATS.items():
        if data.startswith(start):
            raise FileError(f'"{name}" is {kind}, and UTF-8 text is wanted', hint="save it as UTF-8 text")
    skipped = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    return TextFile(name, data[skipped:].decode("utf-8", "surrogateescape"), skipped)


def read_bytes(path: str) -> bytes:
    """All bytes of a file; `FileError` says why there are none."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(f'there is no file "{path}"') from None
    except IsADirectoryError:
        raise FileError(f'"{path}" is a folder, not a file', hint="name a file inside it") from None
    except PermissionError:
        raise FileError(f'the file "{path}" may not be read', hint="look at its permissions") from None
    except (OSError, ValueError) as error:
        raise FileError(
            f'the file "{path}" cannot be read: {getattr(error, "strerror", None) or error}'
        ) from None


def write_text(name: str, text: str) -> None:
    """Write a file, or say that it cannot be written."""
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f'the file "{name}" cannot be written: {error.strerror}') from None
