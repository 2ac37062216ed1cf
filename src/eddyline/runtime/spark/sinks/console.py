"""A few rows of each batch on standard output, for looking on."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, Final

from eddyline.runtime.spark.base.secrets import revealed
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.sinks.base import TextSink, delivering
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS: Final = "10"
WIDTH: Final = 60  # characters of a cell
SHOWN: Final = ("query_id", "tuple_key", "payload")


class ConsoleSink(TextSink):
    """Prints; the option `rows` says how many."""

    def __init__(self, settings: SinkSettings, out: IO[str] | None = None) -> None:
        super().__init__(settings)
        self._out = out

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Print how many rows there are, and some of them."""
        with delivering(self._settings, batch):
            count = rows.count()
            limit = int(revealed(self._settings.options.get("rows", ROWS)))
            some = rows.select(*SHOWN).orderBy(*SHOWN).limit(limit).collect() if count else []
        out = self._out or sys.stdout
        out.write(
            picture(f"{self.name}: {batch}, version {batch.version}", count, [list(row) for row in some])
        )
        out.flush()
        return count


def picture(title: str, count: int, rows: list[list[str | None]]) -> str:
    """A title, rows in columns, and how many there are besides.

    >>> print(picture("out: batch 1", 3, [["cheap", "{}", None]]), end="")
    out: batch 1: 3 results
      cheap  {}  -
      and 2 more
    """
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [f"{title}: {count} result{'' if count == 1 else 's'}"]
    for row in cells:
        aligned = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  " + "  ".join(aligned).rstrip())
    if count > len(rows):
        lines.append(f"  and {count - len(rows)} more")
    return "\n".join(lines) + "\n"


def _cell(value: str | None) -> str:
    if value is None:
        return "-"
    plain = "".join(c if c.isprintable() else " " for c in value)
    return plain if len(plain) <= WIDTH else plain[: WIDTH - 3] + "..."
