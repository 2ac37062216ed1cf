"""Results that the job which makes them also writes: no other job has to read them again, and nothing is kept for one.

    out/_staging/source=<source>/<attempt>/part=0/...       rows of the first sink
                                           part=1/...       rows of the second
                                           part=-2/...      summaries of the tasks, one row each

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
from typing import TYPE_CHECKING, Final

from pyarrow import parquet

from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.sinks.files import KEPT, FileSink
from eddyline.runtime.spark.sinks.shape import PART
from eddyline.runtime.spark.sinks.storage import spark_address
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from eddyline.runtime.spark.sinks.base import Sink

NEEDED: Final = (PART, *(name for name in KEPT if name != "version"), "payload")
"""The columns that the rows must have, beside the typed ones and what is the same in all rows of a batch."""
# What folders are called: selected columns keep the names that they have elsewhere.
_PARTS: Final = "__eddyline_part"


@dataclass(frozen=True)
class WrittenTogether:
    """The rows of a batch for some sinks, in the order of their numbers in `part`; `typed` are the columns of all."""

    sinks: tuple[FileSink, ...]
    typed: TypedList | None
    batch: Batch
    folder: Path

    def write(self, rows: DataFrame) -> None:
        """Write all rows; those of typed columns have them as the struct SELECTED."""
        first = self.sinks[0]
        first.remove_leftovers(self.batch)
        marked = rows.withColumnRenamed(PART, _PARTS)
        first.write_files(marked, self.batch, self.typed, spark_address(self.folder), (_PARTS,))

    def summaries(self, part: int) -> list[str]:
        """The payloads of the rows of a part that is no sink's."""
        texts = [parquet.ParquetFile(path).read(["payload"])["payload"] for path in self._files(part)]
        return [text for column in texts for text in column.to_pylist()]

    def rows(self, part: int) -> int:
        """How many rows of a part were written."""
        return sum(int(parquet.read_metadata(path).num_rows) for path in self._files(part))

    def deliver(self, part: int, rows: DataFrame, typed: TypedList | None) -> int | None:
        """Have a sink take its rows from here; `rows` are the same, for where they do not lie here any more."""
        return self.sinks[part].deliver(rows, self.batch, typed, self._part(part))

    def remove(self) -> None:
        """Remove what is left."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _part(self, part: int) -> Path:
        return self.folder / f"{_PARTS}={part}"

    def _files(self, part: int) -> list[Path]:
        return sorted(self._part(part).rglob("*.parquet"))


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
    return WrittenTogether(tuple(own), reduce(_both, typed), batch, folder)


def _fit(one: TypedList | None, other: TypedList | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.same(other) and one.beside_payload == other.beside_payload


def _both(one: TypedList | None, other: TypedList | None) -> TypedList | None:
    """The same columns for the SELECT lists of two sinks."""
    if one is None or other is None:
        return None
    return replace(one, numbers=tuple(sorted({*one.numbers, *other.numbers})))
