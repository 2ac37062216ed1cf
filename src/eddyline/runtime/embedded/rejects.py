"""Rows that cannot be read: counted, the first ones remembered, all of them written to a file of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from eddyline.errors import FileError
from eddyline.model.reject import Reject

REMEMBERED: Final = 5  # of the rejected rows are kept to be shown


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
