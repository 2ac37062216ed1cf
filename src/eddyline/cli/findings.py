"""Findings: what is wrong with a query or a file, where, and what to do; the same for people and for machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eddyline.cli.output import Output
from eddyline.errors import QueryError, Span

ERROR: Final = "error"  # the query is refused, or an entry of a file cannot be read
WARNING: Final = "warning"  # accepted, but surely not what was meant
NOTE: Final = "note"  # accepted, and worth knowing
FAILURE: Final = "failure"  # a file could not be read at all, or Eddyline itself failed

_STYLES: Final = {ERROR: "bold red", WARNING: "bold yellow", NOTE: "bold cyan", FAILURE: "bold red"}
_LONGEST_PICTURE: Final = 100
_MARGIN: Final = 10  # indentation and dots around the piece of a line that a picture shows


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about an entry of a file; `text` and `span` give the picture."""

    severity: str
    message: str
    file: str
    line: int | None = None
    column: int | None = None
    query: str | None = None
    hint: str | None = None
    text: str | None = None
    span: Span | None = None

    def as_json(self) -> dict[str, object]:
        """For machines: no picture."""
        return {
            "severity": self.severity,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "query": self.query,
            "message": self.message,
            "hint": self.hint,
        }

    def show(self, output: Output) -> None:
        """For people: place, message, picture, hint."""
        place = ":".join([self.file, *(str(n) for n in (self.line, self.column) if n is not None)])
        subject = "" if self.query is None else f'query "{self.query}": '
        output.line(f"{place}: {self.severity}", _STYLES[self.severity])
        output.line(f"  {subject}{self.message}")
        for line in picture(self.text, self.span, min(_LONGEST_PICTURE, output.width - _MARGIN)):
            output.line(f"  {line}")
        if self.hint is not None:
            output.line(f"  hint: {self.hint}")


def picture(text: str | None, span: Span | None, width: int) -> list[str]:
    """The line of a place with carets under it, in at most `width` characters; nothing without a place."""
    if text is None or span is None:
        return []

    class Narrow(QueryError):
        WIDTH = max(20, width)

    return str(Narrow("", sql=text, span=span)).split("\n")[2:]
