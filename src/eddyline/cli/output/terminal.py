"""What commands print: rich tables on a terminal, plain text in a pipe, JSON for machines; and the exit codes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

SIDE_BY_SIDE: Final = 2  # spaces between the columns of a plain table
# rows up to which a terminal gets a ruled table: laying it out takes a millisecond a row
MOST_RULED: Final = 1_000


# What a bug of ours looks like; the commands' own exits and usage errors are none of these.
BUGS: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
)


class Exit(IntEnum):
    """What a command's exit code says; the last two are those of a shell for SIGINT and SIGPIPE."""

    FINE = 0
    FINDINGS = 1
    USAGE = 2
    FAILURE = 3
    SPARK_GONE = 4  # the same command, started again, goes on
    BATCH_STOPPED = 5  # by a request to stop, after its time was up; it runs again at the next start
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave the exit code to the outermost command."""
        raise BrokenPipeError


class Printer:
    """Prints to standard output, or to standard error; styles and tables only where a terminal reads it."""

    def __init__(self, *, errors: bool = False) -> None:
        file = sys.stderr if errors else sys.stdout
        self._console = _Console(file=file, highlight=False, markup=False, emoji=False)

    @property
    def console(self) -> Console:
        """Rich's own, for what changes in place."""
        return self._console

    @property
    def is_terminal(self) -> bool:
        """Whether a terminal reads along that can move its cursor."""
        return self._console.is_terminal and not self._console.is_dumb_terminal

    @property
    def width(self) -> int:
        """Columns that a line may have; a pipe takes any number."""
        return self._console.width if self._console.is_terminal else 1_000

    def line(self, text: str = "", style: str = "") -> None:
        """One line, or several, exactly as given: the terminal may wrap it, nobody else does."""
        self._console.print(Text(shown(text), style=style), soft_wrap=True)

    def paragraph(self, text: str) -> None:
        """Running text, wrapped at words on a terminal."""
        self._console.print(Text(shown(text)), soft_wrap=not self._console.is_terminal)

    def heading(self, text: str) -> None:
        """A line that starts a part."""
        self.line()
        self.line(text, "bold")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
        """Rows under a head; the columns numbered in `right` are set flush right."""
        cells = [[shown(cell) for cell in row] for row in rows]
        if self._console.is_terminal and len(rows) <= MOST_RULED:
            self._rich_table(head, cells, right)
        else:
            self._plain_table(head, cells, right)

    def _rich_table(self, head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> None:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for number, name in enumerate(head):
            table.add_column(name, justify="right" if number in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*[Text(cell) for cell in row])
        self._console.print(table)

    def _plain_table(self, head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> None:
        lines = [head, *rows]
        widths = [max(len(line[number]) for line in lines) for number in range(len(head))]
        between = " " * SIDE_BY_SIDE
        for line in lines:
            cells = [
                cell.rjust(width) if number in right else cell.ljust(width)
                for number, (cell, width) in enumerate(zip(line, widths, strict=True))
            ]
            self._console.file.write(between.join(cells).rstrip() + "\n")


def shown(text: str) -> str:
    r"""Text that a terminal shows and never obeys: what is not printable appears as an escape.

    >>> shown("a\tb\x1b[2J")
    'a    b\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" else "    " if c == "\t" else c.encode("unicode_escape").decode()
        for c in text
    )


def print_json(value: object) -> None:
    """One JSON document on standard output; its text is ASCII, so that every pipe takes it."""
    print(json.dumps(value, indent=2))


def complain(text: str) -> None:
    """A message for people, on standard error, after what was printed before."""
    sys.stdout.flush()
    console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
    console.print(
        Text("error: ", style="bold red").append(shown(text), style="not bold default"), soft_wrap=True
    )


def note(text: str) -> None:
    """Something to know that is no result, on standard error, after what was printed before."""
    sys.stdout.flush()
    Printer(errors=True).line(text)


def counted(count: int, one: str, many: str) -> str:
    """A number of things in words.

    >>> counted(1, "query", "queries"), counted(12_000, "query", "queries")
    ('1 query', '12,000 queries')
    """
    return f"1 {one}" if count == 1 else f"{count:,} {many}"


def counted_rows(count: int) -> str:
    """A number of rows in words.

    >>> counted_rows(1), counted_rows(12_000)
    ('1 row', '12,000 rows')
    """
    return counted(count, "row", "rows")


def quiet_stdout() -> None:
    """Let what is still buffered go nowhere, so that the interpreter does not fail on it again at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # standard output is no file, as under a test runner
        return
