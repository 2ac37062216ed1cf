"""Findings: what is wrong with a query or a file, where, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eddyline.errors import Span

ERROR: Final = "error"  # the query is refused, or an entry of a file cannot be read
WARNING: Final = "warning"  # accepted, but surely not what was meant
NOTE: Final = "note"  # accepted, and worth knowing
FAILURE: Final = "failure"  # a file could not be read at all, or Eddyline itself failed


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
