"""What is made of matches: pairs of row and query, or the rows that queries ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.delivery.json_text import json_lines
from eddyline.engine.projections import Integers, Projection
from eddyline.engine.select_lists import SelectLists
from eddyline.errors import FileError
from eddyline.model.catalog import Stream
from eddyline.model.matches import Matches
from eddyline.model.query import NormalQuery
from eddyline.runtime.embedded.sinks import JsonLines, Writer, sink_format
from eddyline.runtime.embedded.sources import Piece

LEAD: Final = pa.schema([("query", pa.string()), ("file", pa.string()), ("row", pa.int64())])


class Outlet(Protocol):
    """Takes the matches of one piece after the other."""

    def take(self, piece: Piece, matches: Matches) -> None:
        """Matches of a piece."""


def _lead(piece: Piece, ids: pa.Array, rows: Integers) -> list[pa.Array]:
    """Query, file, and number of the row, counted from one as people count."""
    files = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(rows), np.int32)), pa.array([piece.file]))
    return [ids.cast(pa.string()), files.dictionary_decode(), pa.array(piece.rows[rows] + 1, pa.int64())]


def _pairs(matches: Matches) -> tuple[Integers, pa.Array]:
    """Rows and ids of all pairs."""
    table = matches.pairs().combine_chunks()
    ids = table.column("query")
    plain = ids.chunk(0) if ids.num_chunks else pa.nulls(0, pa.string())
    rows = table.column("row")
    return np.asarray(rows.chunk(0)) if rows.num_chunks else np.empty(0, np.int64), plain


class Pairs:
    """Which query matched which row: columns `query`, `file`, `row`, by file and row."""

    def __init__(self, writer: Writer, hidden: Iterable[str] = ()) -> None:
        self._sink = writer.sink
        self._hidden = pa.array(list(hidden), pa.string())

    def take(self, piece: Piece, matches: Matches) -> None:
        """Matches of a piece."""
        rows, ids = _pairs(matches)
        table = pa.table(_lead(piece, ids, rows), schema=LEAD)
        if len(self._hidden):
            table = table.filter(pc.invert(pc.is_in(table.column(0), self._hidden)))
        if table.num_rows:
            self._sink.write(table)


class Rows:
    """The rows that queries ask for: `query`, `file`, `row`, then the columns of the SELECT list.

    As JSON lines all of them stand in one file, by row, then in the order of the queries. In other formats a file has
    one SELECT list; several make a folder of files, named by the first query of each.
    """

    def __init__(
        self,
        queries: Iterable[NormalQuery],
        streams: Iterable[Stream],
        where: str | Path,
        stack: ExitStack,
        *,
        format: str | None = None,
        hidden: Iterable[str] = (),
    ) -> None:
        self._lists = SelectLists.of(queries, streams, hidden)
        firsts = dict(zip(self._lists.projections, self._lists.firsts, strict=True))
        self._writers = _writers(firsts, where, format, stack)

    def take(self, piece: Piece, matches: Matches) -> None:
        """Matches of a piece."""
        rows, ids = _pairs(matches)
        found = list(self._lists.split(ids))
        if not found:
            return
        tables = [(place, chosen, self._table(place, piece, ids, rows, chosen)) for place, chosen in found]
        sink = self._writers[0].sink
        if isinstance(sink, JsonLines) and len(self._writers) == 1:
            order = np.argsort(np.concatenate([chosen for _, chosen, _ in tables]), kind="stable")
            lines = pa.concat_arrays([json_lines(table) for _, _, table in tables])
            sink.write_lines(lines.take(pa.array(order)) if len(tables) > 1 else lines)
            return
        for place, _, table in tables:
            self._writers[place if len(self._writers) > 1 else 0].sink.write(table)

    def _table(self, place: int, piece: Piece, ids: pa.Array, rows: Integers, chosen: Integers) -> pa.Table:
        projection = self._lists.projections[place]
        values = projection.apply(piece.batch, rows[chosen]).arrays
        columns = [*_lead(piece, ids.take(pa.array(chosen)), rows[chosen]), *values]
        return pa.table(columns, schema=_schema(projection))


def _schema(projection: Projection) -> pa.Schema:
    return pa.schema([*LEAD, *projection.schema])


def _writers(
    firsts: Mapping[Projection, str], where: str | Path, format: str | None, stack: ExitStack
) -> list[Writer]:
    schemas = [_schema(projection) for projection in firsts] or [LEAD]
    if is_folder(where):
        folder = Path(where)
        folder.mkdir(parents=True, exist_ok=True)
        names = file_names(list(firsts.values()))
        kind = format or "parquet"
        return [
            stack.enter_context(Writer(folder / f"{name}.{kind}", schema, kind))
            for name, schema in zip(names, schemas, strict=False)
        ]
    kind = format or sink_format(str(where))
    if kind != "jsonl" and len(set(map(str, schemas))) > 1:
        raise FileError(
            f"the queries have {len(firsts)} different SELECT lists, which one {kind} file cannot hold",
            hint="name a folder (out/) to get a file for each, or a .jsonl file",
        )
    return [stack.enter_context(Writer(where, schemas[0], kind))]


def is_folder(where: str | Path) -> bool:
    """Whether a place is a folder: it exists as one, or ends with a slash."""
    return str(where) != "-" and (str(where).endswith("/") or Path(where).is_dir())


def file_names(ids: Sequence[str]) -> list[str]:
    """Names of files after ids: letters, digits, `-`, `_` and `.` stay, and no two are the same.

    >>> file_names(["cheap", "a/b", "a b"])
    ['cheap', 'a_b', 'a_b_2']
    """
    taken: set[str] = set()
    names = []
    for id in ids:
        plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in id)[:100].lstrip("._") or "query"
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name.lower())
        names.append(name)
    return names
