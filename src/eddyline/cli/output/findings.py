"""Findings for people: place, message, picture, hint; and the exit code that they make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eddyline.cli.output.terminal import Exit, Printer
from eddyline.errors import QueryError, Span
from eddyline.service.findings import ERROR, FAILURE, NOTE, WARNING, Finding

_STYLES: Final = {ERROR: "bold red", WARNING: "bold yellow", NOTE: "bold cyan", FAILURE: "bold red"}
_LONGEST_PICTURE: Final = 100
_MARGIN: Final = 10  # indentation and dots around the piece of a line that a picture shows


def show_finding(finding: Finding, output: Printer) -> None:
    """One finding."""
    place = ":".join([finding.file, *(str(n) for n in (finding.line, finding.column) if n is not None)])
    subject = "" if finding.query is None else f'query "{finding.query}": '
    output.line(f"{place}: {finding.severity}", _STYLES[finding.severity])
    output.line(f"  {subject}{finding.message}")
    for line in picture(finding.text, finding.span, min(_LONGEST_PICTURE, output.width - _MARGIN)):
        output.line(f"  {line}")
    if finding.hint is not None:
        output.line(f"  hint: {finding.hint}")


def exit_code(findings: Iterable[Finding]) -> Exit:
    """What findings make of a command: a note makes nothing."""
    severities = {finding.severity for finding in findings}
    if FAILURE in severities:
        return Exit.FAILURE
    return Exit.FINDINGS if severities & {ERROR, WARNING} else Exit.FINE


def picture(text: str | None, span: Span | None, width: int) -> list[str]:
    """The line of a place with carets under it, in at most `width` characters; nothing without a place."""
    if text is None or span is None:
        return []

    class Narrow(QueryError):
        WIDTH = max(20, width)

    return str(Narrow("", sql=text, span=span)).split("\n")[2:]
