"""Results that the job which makes them also writes: no other job has to read them again, and nothing is kept for one.

    out/_staging/source=<source>/<attempt>/rows/...                        rows of the only sink,
                                           rows/__eddyline_part=0/...      or those of the first of several
                                           rows/__eddyline_part=1/...      and of the second
                                           summaries/0                     what the first task has counted

Only for sinks whose files can be the same but for their place: folders of Parquet files on one file system, with the same
columns. All is written below the first sink's folder, where no reader looks. Each sink then puts its own rows in their
place, as it does with rows that were written for it alone. What cannot be had this way (dead letters, keys that need the
counts of all tasks) is made by the other way, in which results are kept and every sink reads them.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pyarrow import parquet

from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.sinks.files import FileSink
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.sinks.storage import MOVED_ONCE, spark_address
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from eddyline.runtime.spark.sinks.base import Sink


@dataclass(frozen=True)
class WrittenTogether:
    """The rows of a batch for some sinks, in the order of their numbers in `PART`; `typed` are the columns of all."""

    sinks: tuple[FileSink, ...]
    typed: TypedList | None
    batch: Batch
    folder: Path

    @property
    def parts(self) -> tuple[str, ...]:
        """The column that says for which sink a row is, where there are several."""
        return (PART,) if len(self.sinks) > 1 else ()

    @property
    def summaries(self) -> Path:
        """Where tasks put what they have counted (`put_summary`)."""
        return self.folder / "summaries"

    def selected_names(self) -> tuple[str, ...] | None:
        """What the selected columns are called in the files; None where no query of the batch selects just these."""
        if self.typed is None or not self.typed.numbers:
            return None
        return self.sinks[0].selected_names(self.typed, self.parts)

    def prepare(self) -> None:
        """Remove what killed attempts left, and make room for the tasks."""
        self.sinks[0].remove_leftovers(self.batch)
        self.summaries.mkdir(parents=True)

    def write(self, rows: DataFrame) -> None:
        """Write all rows, which have the columns of files."""
        # That a task which was run twice has not moved its rows twice is seen when they are counted.
        self.sinks[0].write_shaped(rows, self.batch, spark_address(self._rows), self.parts, MOVED_ONCE)

    def counted(self) -> list[str]:
        """What the tasks have counted."""
        return [
            path.read_text(encoding="utf-8") for path in self.summaries.iterdir() if path.name.isdecimal()
        ]

    def rows(self, part: int) -> int:
        """How many rows of a sink were written."""
        files = sorted(self._of_sink(part).rglob("*.parquet"))
        return sum(int(parquet.read_metadata(path).num_rows) for path in files)

    def _of_sink(self, part: int) -> Path:
        """The folder with the rows of a sink, if it has some."""
        return self._rows / f"{PART}={part}" if self.parts else self._rows

    def hand_over(self, part: int, typed: TypedList | None) -> None:
        """Have a sink put its rows in their place; `typed` are its columns."""
        self.sinks[part].take(self._of_sink(part), self.batch, typed)

    def remove(self) -> None:
        """Remove what is left."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _rows(self) -> Path:
        return self.folder / "rows"


def written_together(
    sinks: Sequence[Sink], typed: Sequence[TypedList | None], batch: Batch
) -> WrittenTogether | None:
    """How the rows of a batch can be written for all of these sinks by one job; None where they cannot."""
    own = [sink for sink in sinks if isinstance(sink, FileSink)]
    layouts = {sink.layout_key(batch) for sink in own}
    if len(own) < len(sinks) or len(layouts) != 1 or None in layouts:
        return None
    folder = own[0].local_staging(batch)
    if folder is None or any(not _fit(typed[0], other) for other in typed):
        return None
    if typed[0] is not None and PART in map(str.lower, typed[0].names):
        return None  # it would have another name here than in rows that are written for one sink
    return WrittenTogether(tuple(own), reduce(_both, typed), batch, folder)


def put_summary(folder: Path, task: int, text: str) -> None:
    """Put what a task has counted where `counted` finds it, whole, and in place of what another attempt has put.

    It need not outlast the machine: a batch that was not delivered is made again.
    """
    draft = folder / f".{task}.{uuid4().hex}"
    draft.write_text(text, encoding="utf-8")
    draft.replace(folder / str(task))


def _fit(one: TypedList | None, other: TypedList | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.same(other) and one.beside_payload == other.beside_payload


def _both(one: TypedList | None, other: TypedList | None) -> TypedList | None:
    """The same columns for the SELECT lists of two sinks."""
    if one is None or other is None:
        return None
    return replace(one, numbers=tuple(sorted({*one.numbers, *other.numbers})))
