"""`query history`, `diff` and `rollback`: a registry's versions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from eddyline.cli.completion import query_ids
from eddyline.cli.options import AsJson, Author, Reason, RegistryOption
from eddyline.cli.output.changes import tell
from eddyline.cli.output.terminal import Printer, print_json
from eddyline.errors import EddylineError
from eddyline.model.event_time import Length
from eddyline.registry import Diff, Entry, Step, Version
from eddyline.service.changes import Signature, roll_back
from eddyline.service.files.event_times import times_text
from eddyline.service.records import diff_json, step_json, version_json
from eddyline.service.registries import DEFAULT, open_registry

_BESIDE: Final = ("state", "tags", "owner", "destination", "metadata", "spark_only", "same_as")


def history(
    id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="A query; all versions without.", autocompletion=query_ids),
    ] = None,
    registry: RegistryOption = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Show who changed what, when and why: one query, or the whole registry.

    \b
    Examples:
      eddyline query history
      eddyline query history cheap --json
    """
    with open_registry(registry) as opened:
        steps = opened.history(id) if id is not None else []
        versions = opened.versions() if id is None else []
    if id is not None and not steps:
        raise EddylineError(f'there was never a query "{id}"', hint="query list shows those that are there")
    if as_json and id is not None:
        print_json({"registry": opened.where, "id": id, "history": [step_json(step) for step in steps]})
    elif as_json:
        print_json({"registry": opened.where, "versions": [version_json(version) for version in versions]})
    elif id is not None:
        Printer().table(("version", "time", "author", "what", "reason"), step_rows(steps), right=(0,))
    else:
        head = ("version", "time", "author", "added", "changed", "removed", "reason")
        Printer().table(head, [_version_row(version) for version in versions], right=(0, 3, 4, 5))


def diff(
    old: Annotated[int, typer.Argument(metavar="OLD", help="A version; 0 is the empty registry.")],
    new: Annotated[
        int | None, typer.Argument(metavar="[NEW]", help="Another; the newest if not given.")
    ] = None,
    registry: RegistryOption = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Show what is different between two versions.

    \b
    Examples:
      eddyline query diff 3
      eddyline query diff 3 5 --json
    """
    with open_registry(registry) as opened:
        found = opened.diff(old, opened.version if new is None else new)
    if as_json:
        print_json({"registry": opened.where, **diff_json(found)})
    else:
        _show_diff(found, Printer())


def rollback(
    version: Annotated[int, typer.Argument(metavar="VERSION", help="The version that shall hold again.")],
    registry: RegistryOption = DEFAULT,
    author: Author = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Make a new version that holds what an earlier one held. Nothing is forgotten.

    \b
    Examples:
      eddyline query rollback 3 --reason "the new limits were wrong"
    """
    tell(roll_back(registry, version, Signature(author, reason)), as_json=as_json)


def step_rows(steps: Sequence[Step]) -> list[tuple[str, ...]]:
    """A query's history for people."""
    rows: list[tuple[str, ...]] = []
    before: Entry | None = None
    for step in steps:
        what: str = step.what
        if before is not None and step.entry is not None and what == "changed":
            what = ", ".join(_changes(before, step.entry))
        version = step.version
        rows.append((str(version.number), _time(version.at), version.author, what, version.reason))
        before = step.entry
    return rows


def _changes(old: Entry, new: Entry) -> list[str]:
    changes = [] if old.sql == new.sql else [f"text, revision {new.revision}"]
    for name in _BESIDE:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            changes.append(f"{name.replace('_', ' ')} {_value(before)} -> {_value(after)}")
    return changes or [f"revision {new.revision}"]


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(value) or "none"
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def _version_row(version: Version) -> tuple[str, ...]:
    counts = (f"{version.added:,}", f"{version.changed:,}", f"{version.removed:,}")
    return (str(version.number), _time(version.at), version.author, *counts, version.reason)


def _show_diff(found: Diff, output: Printer) -> None:
    for before, after in found.streams:
        stream = after or before
        assert stream is not None, "a stream is there before or after"
        word = "+" if before is None else "-" if after is None else "~"
        times = times_text(stream)
        declared = f"{stream.name} ({', '.join(stream.schema.names)})" + (f", {times}" if times else "")
        output.line(f"{word} stream {declared}", _STYLES[word])
    if found.join_window is not None:
        _show_windows(*found.join_window, output)
    for word, entries in (("-", found.removed), ("+", found.added)):
        for entry in entries:
            output.line(f"{word} {entry.id}", _STYLES[word])
            _indented(output, word, entry.sql)
    for old, new in found.changed:
        output.line(f"~ {new.id}: {', '.join(_changes(old, new))}", _STYLES["~"])
        if old.sql != new.sql:
            _indented(output, "-", old.sql)
            _indented(output, "+", new.sql)
    counts = f"{len(found.added):,} added, {len(found.changed):,} changed, {len(found.removed):,} removed"
    output.line(f"version {found.old} to {found.new}: {counts}", "bold")


def _show_windows(before: Length | None, after: Length | None, output: Printer) -> None:
    word = "+" if before is None else "-" if after is None else "~"
    values = [str(window) for window in (before, after) if window is not None]
    output.line(f"{word} join window {' -> '.join(values)}", _STYLES[word])


_STYLES: Final = {"+": "green", "-": "red", "~": "yellow"}


def _indented(output: Printer, word: str, text: str) -> None:
    for line in text.split("\n"):
        output.line(f"    {word} {line}", _STYLES[word])
