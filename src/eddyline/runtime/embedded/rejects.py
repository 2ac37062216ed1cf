"""Rows that cannot be read: counted, the first ones remembered, all of them written to a file of JSON lines."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Final, NamedTuple

from eddyline.errors import FileError

REMEMBERED: Final = 5  # of the rejected rows are kept to be shown
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
        """For machines; text that is no UTF-8 stands under `bytes`, in base 64, so that nothing of it is lost."""
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


class Rejects:
    """Takes rejected rows. The file is made when the first one comes, or at once; without a file they are only counted.

    >>> with Rejects() as rejects:
    ...     rejects.add(Reject("quotes.csv", 3, 2, 'price: "abc" is not a double', b"ACME,abc"))
    >>> rejects.count, str(rejects.first[0])
    (1, 'quotes.csv, line 3: price: "abc" is not a double: ACME,abc')
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        at_once: bool = False,
        on_reject: Callable[[Reject], None] | None = None,
    ) -> None:
        self.path = None if path is None else Path(path)
        self.count = 0
        self.first: list[Reject] = []
        self._file: IO[str] | None = None
        self._on_reject = on_reject
        if at_once and self.path is not None:
            self._open(self.path)

    def add(self, reject: Reject) -> None:
        """Note one row."""
        self.count += 1
        if len(self.first) < REMEMBERED:
            self.first.append(reject)
        if self._on_reject is not None:
            self._on_reject(reject)
        if self.path is not None:
            self._open(self.path).write(json.dumps(reject.as_json()) + "\n")

    def _open(self, path: Path) -> IO[str]:
        if self._file is None:
            try:
                self._file = path.open("w", encoding="ascii")
            except OSError as error:
                raise FileError(f'the file of rejects "{path}" cannot be written: {error.strerror}') from None
        return self._file

    def close(self) -> None:
        """End the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Rejects:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def refuse(rejects: Rejects | None, reject: Reject) -> None:
    """Note a rejected row, or raise where there is nobody to take it."""
    if rejects is None:
        raise FileError(str(reject), hint="correct the row, or have such rows collected in a file of rejects")
    rejects.add(reject)
