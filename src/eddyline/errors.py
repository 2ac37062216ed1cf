"""The one tree of errors: every message states a fact, shows the place, and hints at what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


class EddylineError(Exception):
    """A mistake of the user or of the surroundings, not a bug in Eddyline (those are assertions).

    >>> str(EddylineError('stream "ticks" is not known', hint='did you mean "tick"?'))
    'stream "ticks" is not known\\nhint: did you mean "tick"?'
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the keyword arguments when an error crosses a process boundary."""
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(kind: type[EddylineError], args: tuple[object, ...], state: dict[str, object]) -> EddylineError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class SetupError(EddylineError):
    """Something that the machine needs is missing: Java, Spark, a writable folder."""


class SchemaError(EddylineError):
    """A stream's schema or a batch does not fit."""


class SettingsError(EddylineError):
    """A setting has a value that makes no sense; the message names those that do."""


class LedgerError(AssertionError):
    """Sums that must agree do not: a bug in Eddyline, raised rather than a query skipped in silence."""


class UsageError(EddylineError):
    """What was asked for says too little or contradicts itself: wrong usage of a command, a bad request to a server."""


class FileError(EddylineError):
    """A file of queries, rows or settings cannot be read as what it should be."""


class BrokenFileError(FileError):
    """A file of a pipeline's source cannot be read as rows of the stream, and the source is strict."""


class OwnershipError(FileError):
    """Another process has taken over what this one owned, and this one must not go on."""


class PipelineError(EddylineError):
    """A pipeline has stopped by itself: a source failed too often, or in a way that does not pass."""


class SparkGoneError(PipelineError):
    """Spark has gone away under a pipeline: its Java process ended, or its session was stopped. A new process mends it."""


class SinkError(EddylineError):
    """A sink cannot be opened as it is: settings that say too little, or an output that belongs to another pipeline."""


class DeliveryError(EddylineError):
    """Results could not be handed to a sink; nothing says that they were not, so they are delivered again."""


class FullDiskError(DeliveryError):
    """There is no room left where results go."""


class RegistryError(EddylineError):
    """A registry cannot be opened, read or changed: locked, full, read-only, damaged, or not a registry at all."""


class NameRefusedError(RegistryError):
    """An id, a tag, an author, a reason or another text that somebody gave is not one that is kept."""


class ConflictError(RegistryError):
    """Somebody else changed the registry first; nothing was written."""


class RefusedError(RegistryError):
    """Some edits of a change are refused, so that none was made; `problems` has the reason for each."""

    def __init__(self, problems: Sequence[QueryError], edits: int) -> None:
        shown = str(problems[0]).replace("\n", "\n  ")
        # Without an edit it is streams or the join window that were to change, under queries that stand.
        what = f"{edits} edits are" if edits else "the registered queries would be"
        super().__init__(f"{len(problems)} of {what} refused, so nothing was changed\n  {shown}")
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of SQL text: offsets in characters, `end` exclusive."""

    start: int
    end: int


class QueryError(EddylineError):
    """A query that is not accepted, with the place in its text.

    >>> print(
    ...     QueryError(
    ...         'stream "t" has no column "prise"',
    ...         sql="SELECT * FROM t WHERE prise > 3",
    ...         span=Span(22, 27),
    ...         hint='did you mean "price"?',
    ...     )
    ... )
    stream "t" has no column "prise"
      line 1, column 23
      SELECT * FROM t WHERE prise > 3
                            ^^^^^
    hint: did you mean "price"?
    """

    WIDTH = 100  # longest piece of a line that a message shows

    def __init__(
        self,
        message: str,
        *,
        sql: str | None = None,
        span: Span | None = None,
        hint: str | None = None,
        query: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.sql = sql
        self.span = span
        self.query = query

    @property
    def line(self) -> int | None:
        """Line of the place, counted from one."""
        return None if self._place is None else self._place[0]

    @property
    def column(self) -> int | None:
        """Column of the place, counted from one in characters."""
        return None if self._place is None else self._place[1]

    @property
    def _place(self) -> tuple[int, int] | None:
        if self.sql is None or self.span is None:
            return None
        before = self.sql[: self.span.start]
        return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1

    def __str__(self) -> str:
        lines = [self.message]
        if self.query is not None:
            lines[0] = f'query "{self.query}": {self.message}'
        if self._place is not None:
            lines += self._picture(*self._place)
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def _picture(self, line: int, column: int) -> list[str]:
        """The line of the place with carets under it, cut to WIDTH around the place."""
        assert self.sql is not None and self.span is not None, "a picture needs a place"
        text = "".join(c if c.isprintable() else " " for c in self.sql.split("\n")[line - 1])
        start = column - 1
        length = max(1, min(self.span.end - self.span.start, len(text) - start))
        cut = max(0, start - self.WIDTH // 2)
        shown = text[cut : cut + self.WIDTH]
        carets = "^" * max(1, min(length, len(shown) - (start - cut)))
        lead, tail = ("..." if cut else ""), ("..." if cut + self.WIDTH < len(text) else "")
        pad = " " * (len(lead) + start - cut)
        return [f"  line {line}, column {column}", f"  {lead}{shown}{tail}", f"  {pad}{carets}"]


class IdError(QueryError, NameRefusedError):
    """An id that no query may have, whoever is asked to take it: a set, an engine or a registry."""


class UnknownQueryError(EddylineError, KeyError):
    """An id that no query has.

    >>> try:
    ...     raise UnknownQueryError('there is no query "cheep"', hint='did you mean "cheap"?')
    ... except KeyError as error:
    ...     print(error)
    there is no query "cheep"
    hint: did you mean "cheap"?
    """


class InternalError(QueryError):
    """A query at which Eddyline itself fails. To its user it is one that is not accepted: all others go on.

    >>> print(InternalError(AssertionError("no such thing"), "q", "SELECT * FROM t"))
    query "q": internal error: AssertionError: no such thing
    hint: this is a bug in Eddyline, please report it with the text of the query
    """

    def __init__(self, error: Exception, query: str, sql: str) -> None:
        super().__init__(
            f"internal error: {type(error).__name__}: {error}",
            sql=sql,
            query=query,
            hint="this is a bug in Eddyline, please report it with the text of the query",
        )
        self.__cause__ = error


# Where one query must not stop the others, these are raised all the same: users have to see their own mistakes, and
# nothing that could be tried instead would find more memory.
PASSED_ON: Final = (EddylineError, MemoryError)
