"""Files of queries written from a registry, in forms that `query import` reads back unchanged."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from eddyline.errors import FileError
from eddyline.registry import Entry, State
from eddyline.runtime.embedded.pipes import STANDARD_INPUT
from eddyline.service.files.queries import fits_sql_file
from eddyline.service.records import record_of


def _json_lines(entries: Iterable[Entry]) -> Iterator[str]:
    for entry in entries:
        yield json.dumps(record_of(entry)) + "\n"


def _json_array(entries: Iterable[Entry]) -> Iterator[str]:
    yield "["
    for place, entry in enumerate(entries):
        yield ("," if place else "") + "\n" + json.dumps(record_of(entry))
    yield "\n]\n"


def _csv(entries: Iterable[Entry]) -> Iterator[str]:
    yield _csv_line(("id", "sql", "state", "tags", "owner", "destination", "metadata"))
    for entry in entries:
        yield _csv_line(
            (
                entry.id,
                entry.sql,
                entry.state.value,
                ",".join(entry.tags),
                entry.owner or "",
                entry.destination or "",
                json.dumps(entry.metadata) if entry.metadata else "",
            )
        )


def _csv_line(values: Iterable[str]) -> str:
    """Values as a line; the writer's own line end makes it quote text that has either of its two characters."""
    row = io.StringIO(newline="")
    csv.writer(row, lineterminator="\r\n").writerow(values)
    return row.getvalue().removesuffix("\r\n") + "\n"


def _sql(entries: Iterable[Entry]) -> Iterator[str]:
    for entry in entries:
        if not fits_sql_file(entry.sql):
            raise FileError(
                f'the text of query "{entry.id}" cannot stand in a .sql file: it has a line "-- name:" or a second '
                "statement in it",
                hint="export to .jsonl",
            )
        yield "\n".join([*_sql_head(entry), "", entry.sql, "", ""])


def _sql_head(entry: Entry) -> Iterator[str]:
    yield f"-- name: {entry.id}"
    if entry.state is not State.ENABLED:
        yield f"-- state: {entry.state}"
    if entry.tags:
        yield f"-- tags: {', '.join(entry.tags)}"
    for name in ("owner", "destination"):
        if getattr(entry, name) is not None:
            yield f"-- {name}: {getattr(entry, name)}"
    if entry.metadata:
        yield f"-- metadata: {json.dumps(entry.metadata)}"


_WRITERS: Final[dict[str, Callable[[Iterable[Entry]], Iterator[str]]]] = {
    "jsonl": _json_lines,
    "ndjson": _json_lines,
    "json": _json_array,
    "csv": _csv,
    "sql": _sql,
}
FORMATS: Final = tuple(_WRITERS)


def query_texts(entries: Iterable[Entry], path: str, form: str | None = None) -> Iterator[str]:
    """The text of a file of queries, piece by piece; `form` if the file's ending does not say it."""
    if form is None:
        form = "jsonl" if path == STANDARD_INPUT else Path(path).suffix.lower().removeprefix(".")
    if form not in _WRITERS:
        raise FileError(
            f'"{path}" does not say in which form queries shall be written',
            hint="end its name in .jsonl, .sql, .csv or .json, or say --format",
        )
    return _WRITERS[form](entries)


def write_queries(entries: Iterable[Entry], path: str, form: str | None = None) -> None:
    """Write queries to a file, all or none of them."""
    texts = query_texts(entries, path, form)
    if Path(path).exists() and not Path(path).is_file():  # a pipe or a device
        with Path(path).open("wb") as file:
            file.writelines(text.encode() for text in texts)
    else:
        _write_whole(Path(path), texts)


def _write_whole(path: Path, texts: Iterable[str]) -> None:
    """Under another name first, so that a file is never half of one."""
    try:
        number, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise FileError(f'"{path}" cannot be written: {error.strerror}') from None
    try:
        with os.fdopen(number, "wb") as file:
            file.writelines(text.encode() for text in texts)
        mask = os.umask(0)
        os.umask(mask)
        Path(draft).chmod(0o666 & ~mask)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
