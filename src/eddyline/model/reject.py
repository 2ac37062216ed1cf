"""A row that could not be read: where it stands and why."""

from __future__ import annotations

import base64
from typing import Final, NamedTuple

_SHOWN: Final = 100  # characters of a row's text in a message


class Reject(NamedTuple):
    """A row that cannot be read. `line` and `row` count from one; a file of columns has no lines."""

    file: str
    line: int | None
    row: int
    reason: str
    text: bytes = b""

    @property
    def place(self) -> str:
        """Where the row stands, as people write it."""
        where = f"row {self.row}" if self.line is None else f"line {self.line}"
        return f"{'standard input' if self.file == '-' else self.file}, {where}"

    def __str__(self) -> str:
        text = self.text[: 4 * _SHOWN].decode("utf-8", "backslashreplace").strip()
        shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
        return f"{self.place}: {self.reason}" + (f": {shown}" if shown else "")

    def as_json(self) -> dict[str, object]:
        """For machines; text that is not valid UTF-8 stands under `bytes`, in base 64, so that nothing of it is lost."""
        record: dict[str, object] = {
            "file": self.file,
            "line": self.line,
            "row": self.row,
            "reason": self.reason,
        }
        try:
            return record | {"text": self.text.decode()}
        except UnicodeDecodeError:
            return record | {"bytes": base64.b64encode(self.text).decode()}
