"""What was done to a registry: every refusal at its place, then the sum."""

from __future__ import annotations

from typing import NoReturn

import typer

from eddyline.cli.output.findings import exit_code, show_finding
from eddyline.cli.output.terminal import Exit, Printer, print_json
from eddyline.registry import KEEP
from eddyline.service.changes import ChangeOutcome
from eddyline.service.files.event_times import window_text
from eddyline.service.findings import NOTE


def tell(outcome: ChangeOutcome, *, as_json: bool) -> NoReturn:
    """Print it, and end the command with its exit code."""
    if as_json:
        print_json(outcome.as_json())
    else:
        _show(outcome, Printer())
    raise typer.Exit(exit_code(outcome.findings))


def _show(outcome: ChangeOutcome, output: Printer) -> None:
    for finding in outcome.findings:
        show_finding(finding, output)
        output.line()
    parts = [f"{count:,} {name}" for name, count in outcome.counts.items() if count]
    parts += [] if outcome.join_window is KEEP else [window_text(outcome.join_window)]
    notes = sum(finding.severity == NOTE for finding in outcome.findings)
    parts += [f"{notes:,} {'note' if notes == 1 else 'notes'}"] if notes else []
    done = ", ".join(parts) or "nothing changed"
    style = "green" if exit_code(outcome.findings) is Exit.FINE else "bold"
    output.line(f"{outcome.where}, version {outcome.version}: {done}", style)
