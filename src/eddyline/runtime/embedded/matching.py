"""Files against queries: every piece matched, counted, and handed to an outlet, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from eddyline.model.arrays import Integers
from eddyline.model.catalog import Stream
from eddyline.queryset import QuerySet
from eddyline.runtime.embedded.joins import FileJoins
from eddyline.runtime.embedded.outlets import MatchOutlet
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sources import FileRows, Progress, read

MOST_PAIRS: Final = 1 << 21  # pairs that are made at once, as far as the piece before tells
MOST_MASKS: Final = 1 << 28  # bits: rows times queries that are matched at once
FEWEST_ROWS: Final = 512


@dataclass
class Totals:
    """What came out of a run so far; pairs of joins are matches, too."""

    rows: int = 0
    matches: int = 0
    pairs: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, rows: int, counts: dict[str, int]) -> None:
        """Count the matches of some rows."""
        self.rows += rows
        self.matches += sum(counts.values())
        self.counts.update(counts)

    def add_pairs(self, counts: dict[str, int]) -> None:
        """Count pairs of joins."""
        self.pairs += sum(counts.values())
        self.add(0, counts)


def match_source(
    queries: QuerySet,
    source: str,
    stream: Stream,
    *,
    totals: Totals,
    outlet: MatchOutlet | None = None,
    rejects: Rejects | None = None,
    format: str | None = None,
    joins: FileJoins | None = None,
    threads: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> None:
    """Match all rows of a source; without an outlet they are only counted. `joins` takes those that it reads.

    >>> import tempfile, pathlib, pyarrow as pa
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "quotes.jsonl"
    >>> _ = file.write_text('{"price": 9.5}\\n{"price": 95}\\n')
    >>> quotes = Stream("quotes", pa.schema([("price", pa.float64())]))
    >>> queries = QuerySet.build({"cheap": "SELECT * FROM quotes WHERE price < 10"}, streams=[quotes])
    >>> totals = Totals()
    >>> match_source(queries, str(file), quotes, totals=totals)
    >>> totals.rows, totals.counts["cheap"]
    (2, 1)
    """
    pieces = read(
        source,
        stream,
        format=format,
        rejects=rejects,
        time_zone=queries.time_zone,
        on_progress=on_progress,
    )
    rows = _most_rows(queries)
    joins = joins if joins is not None and joins.reads(stream.name) else None
    for piece in pieces:
        if outlet is None and joins is None:
            for part in _cut(piece, rows):
                totals.add(
                    part.batch.num_rows, queries.count(part.batch, stream=stream.name, threads=threads)
                )
        else:
            rows = _deliver(queries, piece, stream, totals, outlet, joins, threads, rows)


def match_pairs(queries: QuerySet, joins: FileJoins, totals: Totals, outlet: MatchOutlet | None) -> None:
    """Join all rows that were taken from sources; without an outlet pairs are only counted."""
    if outlet is None:
        totals.add_pairs(_by_id(queries, joins.counts()))
        return
    for block in joins.pairs():
        totals.add_pairs(_by_id(queries, np.bincount(block.query)))
        outlet.take_pairs(block, joins.places, queries.names(block.query))


def _by_id(queries: QuerySet, counts: Integers) -> dict[str, int]:
    some = np.flatnonzero(counts)
    return dict(zip(queries.names(some).to_pylist(), counts[some].tolist(), strict=True))


def _most_rows(queries: QuerySet) -> int:
    return max(FEWEST_ROWS, MOST_MASKS // max(1, len(queries)))


def _deliver(
    queries: QuerySet,
    piece: FileRows,
    stream: Stream,
    totals: Totals,
    outlet: MatchOutlet | None,
    joins: FileJoins | None,
    threads: int,
    rows: int,
) -> int:
    """Match one piece, cut so that pairs stay few; gives the number of rows that is right for the next."""
    start, total = 0, piece.batch.num_rows
    while start < total:
        part = _part(piece, start, rows)
        start += part.batch.num_rows
        matches = queries.match(part.batch, stream=stream.name, threads=threads)
        totals.add(part.batch.num_rows, matches.counts())
        if joins is not None:
            joins.take(stream.name, part, matches)
        if outlet is not None:
            outlet.take(part, matches)
        by_pairs = MOST_PAIRS * part.batch.num_rows // max(1, len(matches))
        rows = max(FEWEST_ROWS, min(by_pairs, _most_rows(queries)))
    return rows


def _cut(piece: FileRows, rows: int) -> Iterator[FileRows]:
    for start in range(0, piece.batch.num_rows, rows):
        yield _part(piece, start, rows)


def _part(piece: FileRows, start: int, rows: int) -> FileRows:
    """Some rows of a piece."""
    if start == 0 and piece.batch.num_rows <= rows:
        return piece
    numbers = None if piece.numbers is None else piece.numbers[start : start + rows]
    first = piece.first + start if numbers is None else int(numbers[0])
    return FileRows(piece.batch.slice(start, rows), piece.file, first, numbers)
