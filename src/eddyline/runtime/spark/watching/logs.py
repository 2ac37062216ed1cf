"""Structured logs: one JSON object per line, to standard error or to a file of bounded size, with secrets masked."""

from __future__ import annotations

import json
import logging
import logging.handlers
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from eddyline.errors import FileError
from eddyline.runtime.spark.base.secrets import masked

MOST_BYTES: Final = 16 * 1024 * 1024
KEPT: Final = 3  # full files beside the present one
LOGGER: Final = "eddyline"  # our own records and no others: Spark has its own log


def event(logger: logging.Logger, text: str, /, *, level: int = logging.INFO, **fields: object) -> None:
    """Log something that happened, with its particulars as fields of the record."""
    logger.log(level, text, extra={"fields": fields})


@contextmanager
def structured(
    path: Path | str | None = None, *, level: int = logging.INFO, secrets: Iterable[str] = ()
) -> Iterator[None]:
    """Have all records of Eddyline written as lines of JSON, for as long as the context lasts."""
    logger = logging.getLogger(LOGGER)
    handler = _handler(path)
    handler.setFormatter(JsonLogFormatter(secrets))
    before, passed_on = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        logger.propagate = passed_on
        handler.close()


def _handler(path: Path | str | None) -> logging.Handler:
    if path is None:
        return logging.StreamHandler()
    try:
        return logging.handlers.RotatingFileHandler(
            path, maxBytes=MOST_BYTES, backupCount=KEPT, encoding="utf-8", errors="backslashreplace"
        )
    except OSError as error:
        raise FileError(f'"{path}" cannot take the log: {error.strerror}') from None


class JsonLogFormatter(logging.Formatter):
    """Records as JSON: when, how grave, from where, what, the fields of the event, and the error if there was one.

    >>> record = logging.LogRecord(
    ...     "eddyline.demo", logging.INFO, "", 0, "to %s", ("kafka://u:hush@host",), None
    ... )
    >>> json.loads(JsonLogFormatter(["hush"]).format(record))["message"]
    'to kafka://u:***@host'
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line = {**getattr(record, "fields", {}), **line}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
            line["trace"] = self.formatException(record.exc_info)
        text = json.dumps(self._masked(line), ensure_ascii=False, separators=(",", ":"))
        if text.isprintable():
            return text
        # A terminal may show the log, and must not obey what stands in it.
        return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)

    def _masked(self, value: Any) -> Any:
        """The value without any secret, however deep, and as JSON can have it."""
        if isinstance(value, Mapping):
            return {str(self._masked(str(name))): self._masked(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._masked(inner) for inner in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        return masked(value.isoformat() if isinstance(value, datetime) else str(value), self._secrets)
