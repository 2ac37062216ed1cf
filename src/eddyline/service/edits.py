"""Files of queries as edits of a registry: what stands beside a text is read, every problem keeps its place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from eddyline.errors import EddylineError, FileError, QueryError
from eddyline.model.query import Query
from eddyline.registry import Put
from eddyline.registry.values import state_of, tags_of
from eddyline.service.files.queries import ATTRIBUTES, FileEntry, read_queries
from eddyline.service.findings import ERROR, FAILURE, NOTE, Finding

# by the registry, so not read from files
GIVEN: Final = frozenset({"revision", "number", "spark_only", "same_as", "version"})


@dataclass(slots=True)
class Edits:
    """The edits of some files, with the place of each, and what could not be read."""

    edits: list[Put] = field(default_factory=list)
    places: dict[str, FileEntry] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def queries(self) -> list[Query]:
        """Ids and texts alone."""
        return [Query(edit.id, edit.sql) for edit in self.edits]

    def refuse(self, error: QueryError) -> None:
        """Note that a query is refused, at its place in its file."""
        assert error.query is not None, "a refused edit has an id"
        self.findings.append(self._finding(ERROR, error.query, error))

    def note(self, id: str, text: str) -> None:
        """Note something worth knowing about a query that went in."""
        self.findings.append(self._finding(NOTE, id, QueryError(text)))

    def _finding(self, severity: str, id: str, error: QueryError) -> Finding:
        entry = self.places.get(id)
        if entry is None:  # registered before, and hurt by a stream that changes
            return Finding(severity, error.message, "registry", query=id, hint=error.hint)
        return entry.finding(severity, error)


def read_edits(paths: Sequence[str]) -> Edits:
    """Read files of queries; an id that stands twice is a problem of its second place."""
    found = Edits()
    for path in paths:
        try:
            file = read_queries(path)
        except FileError as error:
            found.findings.append(Finding(FAILURE, error.message, path, hint=error.hint))
            continue
        found.findings += file.problems
        for entry in file.entries:
            _take(entry, found)
    return found


def edit_of(id: str, sql: str, attributes: Mapping[str, object], *, new: bool = False) -> Edits:
    """One query that stands in no file; `new` refuses an id that is taken."""
    return Edits(
        [Put(id, sql, new=new, **beside(attributes))], {id: FileEntry(Query(id, sql), "SQL", 1, sql)}
    )


def _take(entry: FileEntry, found: Edits) -> None:
    id = entry.query.id
    first = found.places.setdefault(id, entry)
    try:
        if first is not entry:
            message = f"the id is used before, at {first.file}:{first.line}"
            raise QueryError(message, hint="give one of the two another id")
        found.edits.append(Put(id, entry.query.sql, **beside(entry.attributes)))
    except EddylineError as error:
        found.findings.append(
            Finding(ERROR, error.message, entry.file, entry.line, query=id, hint=error.hint)
        )


def beside(attributes: Mapping[str, object]) -> dict[str, Any]:
    """What stands beside a text, as an edit takes it; names that are none of ours go into the metadata.

    >>> beside({"tags": "fx, eu", "owner": "", "team": "sales"})
    {'tags': ('eu', 'fx'), 'owner': None, 'metadata': {'team': 'sales'}}
    """
    said: dict[str, Any] = {
        name: _READERS[name](attributes[name]) for name in ATTRIBUTES if name in attributes
    }
    other = {
        name: value
        for name, value in attributes.items()
        if name not in ATTRIBUTES and name not in GIVEN and value != ""
    }
    if other:
        twice = next((name for name in other if name in said.get("metadata", {})), None)
        if twice is not None:
            raise FileError(f'"{twice}" stands in the metadata and beside it', hint="leave one of them out")
        said["metadata"] = {**said.get("metadata", {}), **other}
    return said


def _state(value: object) -> object:
    return state_of(str(value).lower() if value else "enabled")


def _tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tags_of(tag.strip() for tag in value.split(",") if tag.strip())
    if value is None or (isinstance(value, list) and all(isinstance(tag, str) for tag in value)):
        return tags_of(value or ())
    raise FileError("tags are a list of words", hint='["fx", "eu"], or fx,eu')


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    raise FileError(f"owner and destination are text, not {json.dumps(value)[:50]}")


def _metadata(value: object) -> Mapping[str, Any]:
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise FileError(f"the metadata is not JSON: {error}", hint='{"ticket": "OPS-7"}') from None
    if isinstance(value, dict):
        return value
    if value is None or value == "":
        return {}
    raise FileError("metadata is an object of names and values", hint='{"ticket": "OPS-7"}')


_READERS: Final = {
    "state": _state,
    "tags": _tags,
    "owner": _text,
    "destination": _text,
    "metadata": _metadata,
}
