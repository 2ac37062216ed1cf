"""What was done to a registry: every refusal at its place, streams that are declared otherwise, then the sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NoReturn

import typer

from eddyline.cli.output.findings import exit_code, show_finding
from eddyline.cli.output.terminal import Exit, Printer, print_json
from eddyline.model.catalog import Stream
from eddyline.registry import KEEP
from eddyline.registry.values import what_differs
from eddyline.service.changes import ChangeOutcome
from eddyline.service.files.event_times import SETTINGS, window_text
from eddyline.service.findings import NOTE

MOST_NOTES: Final = 20  # that are shown: thousands of imported queries may be covered by others


def tell(outcome: ChangeOutcome, *, as_json: bool) -> NoReturn:
    """Print it, and end the command with its exit code."""
    if as_json:
        print_json(outcome.as_json())
    else:
        _show(outcome, Printer())
    raise typer.Exit(exit_code(outcome.findings))


def _show(outcome: ChangeOutcome, output: Printer) -> None:
    notes = [finding for finding in outcome.findings if finding.severity == NOTE]
    hidden = {id(finding) for finding in notes[MOST_NOTES:]}
    for finding in outcome.findings:
        if id(finding) not in hidden:
            show_finding(finding, output)
            output.line()
    if hidden:
        output.line(f"{len(hidden):,} more notes: --json has all of them")
    for before, after in () if outcome.change is None else outcome.change.streams:
        if before is not None:  # a new one was asked for by name
            output.line(_redeclared(before, after))
    parts = [f"{count:,} {name}" for name, count in outcome.counts.items() if count]
    parts += [] if outcome.join_window is KEEP else [window_text(outcome.join_window)]
    parts += [f"{len(notes):,} {'note' if len(notes) == 1 else 'notes'}"] if notes else []
    done = ", ".join(parts) or "nothing changed"
    style = "green" if exit_code(outcome.findings) is Exit.FINE else "bold"
    output.line(f"{outcome.where}, version {outcome.version}: {done}", style)


def _redeclared(before: Stream, after: Stream | None) -> str:
    if after is None:
        return f"stream {before.name} is no longer declared"
    changes = ", ".join(_changes(before, after)) or what_differs(before, after)
    return f"stream {after.name} was redeclared: {changes}"


def _changes(before: Stream, after: Stream) -> Iterator[str]:
    old, new = (
        {field.name: str(stream.types.get(field.name, field.type)) for field in stream.schema}
        for stream in (before, after)
    )
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield f"column {name} {old.get(name, 'none')} -> {new.get(name, 'none')}"
    for setting in SETTINGS:
        was, is_now = getattr(before, setting), getattr(after, setting)
        if was != is_now:
            yield f"{setting.replace('_', ' ')} {'none' if was is None else was} -> {'none' if is_now is None else is_now}"
