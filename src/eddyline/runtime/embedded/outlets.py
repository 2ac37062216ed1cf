"""What is made of matches: which query matched which row, or which two, or what the queries select of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.delivery.json_text import json_lines
from eddyline.errors import FileError
from eddyline.model.arrays import Integers
from eddyline.model.join import Normal
from eddyline.model.matches import Matches
from eddyline.project.select_lists import LEAD, PAIR_LEAD, SelectLists, file_lead, file_table
from eddyline.project.stage import Results, Selected
from eddyline.queryset import QuerySet
from eddyline.runtime.embedded.joins import PairBlock
from eddyline.runtime.embedded.joins.file_places import FilePlaces
from eddyline.runtime.embedded.sinks import JsonLines, OutputFile, sink_format
from eddyline.runtime.embedded.sources import FileRows

LONGEST_NAME: Final = 100  # bytes of an id that a file is named after; endings and numbers come behind it


class MatchOutlet(Protocol):
    """Takes the matches of one piece after the other."""

    def take(self, piece: FileRows, matches: Matches) -> None:
        """Matches of a piece."""

    def take_pairs(self, block: PairBlock, places: FilePlaces, ids: pa.Array) -> None:
        """Pairs of rows, and the ids of the joins that they satisfy; these come when all pieces have come."""


class PairOutlet:
    """Which query matched which row: columns `query`, `file`, `row`, by file and row, and for joins those of `PAIR_LEAD`.

    In formats with one schema a file has all columns as soon as there are joins.
    """

    def __init__(self, writer: OutputFile, lead: pa.Schema = LEAD, hidden: Iterable[str] = ()) -> None:
        self._sink = writer.sink
        self._lead = None if writer.format == "jsonl" else lead
        self._hidden = pa.array(list(hidden), pa.string())

    def take(self, piece: FileRows, matches: Matches) -> None:
        """Matches of a piece."""
        row, number = matches.pair_arrays()
        lead = file_lead(matches.ids_of(number), piece.file, piece.rows[row])
        table = pa.Table.from_arrays(lead, schema=LEAD)
        for field in () if self._lead is None else list(self._lead)[len(LEAD) :]:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
        self._write(table)

    def take_pairs(self, block: PairBlock, places: FilePlaces, ids: pa.Array) -> None:
        """Pairs of rows."""
        self._write(pa.Table.from_arrays(_pair_lead(block, places, ids, block.pair), schema=PAIR_LEAD))

    def _write(self, table: pa.Table) -> None:
        if len(self._hidden):
            table = table.filter(pc.invert(pc.is_in(table.column(0), self._hidden)))
        if table.num_rows:
            self._sink.write(table)


class RowOutlet:
    """The rows that queries ask for: `query`, `file`, `row`, of joins two of each, then the columns of the SELECT list.

    As JSON lines all of them stand in one file, by row, then in the order of the queries. In other formats a file has
    one SELECT list; several make a folder of files, named by the first query of each.
    """

    def __init__(
        self,
        compiled: QuerySet,
        queries: Iterable[Normal],
        where: str | Path,
        stack: ExitStack,
        *,
        format: str | None = None,
        hidden: Iterable[str] = (),
    ) -> None:
        lists = SelectLists.of(queries, compiled.streams, hidden)
        self._columns = lists.of_set(compiled.names(np.arange(compiled.size)))
        self._writers = _writers(lists, where, format, stack)

    def take(self, piece: FileRows, matches: Matches) -> None:
        """Matches of a piece."""
        results = Results(self._columns, *matches.pair_arrays())
        self._write(
            [
                (s, file_table(s, matches.ids_of(s.query), piece.file, piece.rows[s.row]))
                for s in results.selected(piece.batch)
            ]
        )

    def take_pairs(self, block: PairBlock, places: FilePlaces, ids: pa.Array) -> None:
        """Pairs of rows."""
        results = Results(self._columns, block.pair, block.query)
        self._write(
            [
                (s, s.table(PAIR_LEAD, _pair_lead(block, places, ids.take(pa.array(s.place)), s.row)))
                for s in results.selected(block.rows)
            ]
        )

    def _write(self, found: list[tuple[Selected, pa.Table]]) -> None:
        """What was selected of some matches, for each SELECT list together."""
        if not found:
            return
        sink = self._writers[0].sink
        if isinstance(sink, JsonLines) and len(self._writers) == 1:
            order = np.argsort(np.concatenate([selected.place for selected, _ in found]), kind="stable")
            lines = pa.concat_arrays([json_lines(table) for _, table in found])
            sink.write_lines(lines.take(pa.array(order)) if len(found) > 1 else lines)
            return
        for selected, table in found:
            self._writers[selected.select.number if len(self._writers) > 1 else 0].sink.write(table)


def _pair_lead(block: PairBlock, places: FilePlaces, ids: pa.Array, pairs: Integers) -> list[pa.Array]:
    """The columns of `PAIR_LEAD`, for some of the pairs of a block; rows are counted from one."""
    columns = [ids.cast(pa.string())]
    for source in (0, 1):
        numbers = block.places(source)[pairs]
        columns += [places.files(numbers), pa.array(places.rows(numbers) + 1, pa.int64())]
    return columns


def _writers(lists: SelectLists, where: str | Path, format: str | None, stack: ExitStack) -> list[OutputFile]:
    schemas = [select.schema_behind(lead) for select, lead in zip(lists.lists, lists.leads, strict=True)] or [
        LEAD
    ]
    if is_folder(where):
        folder = Path(where)
        folder.mkdir(parents=True, exist_ok=True)
        names = file_names(lists.firsts)
        kind = format or "parquet"
        return [
            stack.enter_context(OutputFile(folder / f"{name}.{kind}", schema, kind))
            for name, schema in zip(names, schemas, strict=False)
        ]
    kind = format or sink_format(str(where))
    if kind != "jsonl" and len(set(map(str, schemas))) > 1:
        raise FileError(
            f"the queries have {len(lists.lists)} different SELECT lists, which one {kind} file cannot hold",
            hint="name a folder (out/) to get a file for each, or a .jsonl file",
        )
    return [stack.enter_context(OutputFile(where, schemas[0], kind))]


def is_folder(where: str | Path) -> bool:
    """Whether a name is that of a folder: it exists as one, or ends with a slash."""
    return str(where) != "-" and (str(where).endswith("/") or Path(where).is_dir())


def file_names(ids: Sequence[str]) -> list[str]:
    """Names of files after ids: letters, digits, `-`, `_` and `.` stay, and no two are the same.

    They are short in bytes too, which is what file systems count.

    >>> file_names(["cheap", "a/b", "a b"])
    ['cheap', 'a_b', 'a_b_2']
    >>> len(file_names(["中" * 500])[0].encode())
    99
    """
    taken: set[str] = set()
    names = []
    for id in ids:
        plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in id)
        plain = plain.encode()[:LONGEST_NAME].decode(errors="ignore").lstrip("._") or "query"
        name, number = plain, 1
        while name.lower() in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name.lower())
        names.append(name)
    return names
