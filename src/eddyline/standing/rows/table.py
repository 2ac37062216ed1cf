"""The queries of a set by dense id: ids and texts, shared by all versions of one epoch.

    dense id   0      1      2      3            version 1 sees 0 1      gone: none
    id         cheap  big    cheap  odd          version 3 sees 0 .. 3   gone: 0

A row is added once and never written again; a new epoch has a table of its own (`compacted`). A version knows how far it
may look and which queries are gone for it, so adding to the newest version costs the queries that are added and not the
set; adding to an older one copies what was added since the set was opened. Removing copies one byte for each query: at a
million queries that takes less than compiling one.

What was saved stays on disk: ids are found by a checksum that is saved with them, and nothing is listed when queries are
added to an opened set.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.arrays import Flags, Integers
from eddyline.model.names import unknown_query
from eddyline.model.numbering import Numbering
from eddyline.model.query import Query
from eddyline.standing.rows.columns import Attributes, Columns
from eddyline.standing.rows.join_columns import JoinColumns


def checksum(id: str) -> int:
    """A number by which an id is found: the same in every process, and rarely the same for two of them."""
    return zlib.crc32(id.encode("utf-8", "surrogatepass"))


def checksums(ids: Iterable[str]) -> npt.NDArray[np.uint32]:
    """Those of many ids."""
    return np.array([checksum(id) for id in ids], np.uint32)


class SavedRows:
    """The first rows of a table as they lie on disk, mapped: columns `id`, `sql` and `checksum`."""

    def __init__(self, ids: pa.ChunkedArray, texts: pa.ChunkedArray, checksums: pa.ChunkedArray) -> None:
        self.ids, self.texts = ids, texts
        self._checksums = checksums
        self.size = len(ids)

    def find(self, id: str) -> Iterator[int]:
        """The dense ids that an id has here, the latest first."""
        ascending, order = self._by_checksum
        wanted = checksum(id)
        last = int(np.searchsorted(ascending, wanted, "right")) - 1
        while last >= 0 and ascending[last] == wanted:
            dense = int(order[last])
            if self.ids[dense].as_py() == id:
                yield dense
            last -= 1

    @cached_property
    def _by_checksum(self) -> tuple[npt.NDArray[np.uint32], Integers]:
        values = np.concatenate([np.empty(0, np.uint32), *map(np.asarray, self._checksums.chunks)])
        order = np.argsort(values, kind="stable").astype(np.int32)
        return values[order], order


_NOTHING = SavedRows(*[pa.chunked_array([], kind) for kind in (pa.string(), pa.string(), pa.uint32())])


class Trunk:
    """What versions share: saved rows, then lists that grow; the last dense id of each id in them, and the one before.

    Threads may share it: one of them at a time adds, and who reads sees only what was added for its own version.
    """

    def __init__(
        self, saved: SavedRows = _NOTHING, ids: Sequence[str] = (), texts: Sequence[str] = ()
    ) -> None:
        self.saved = saved
        self.ids: list[str] = []
        self.texts: list[str] = []
        self._latest: dict[str, int] = {}
        self._earlier: dict[int, int] = {}
        self._growing = threading.Lock()
        self._named: pa.Array | None = None
        self._append(ids, texts)

    @property
    def size(self) -> int:
        """How many rows there are, those of all versions."""
        return self.saved.size + len(self.ids)

    def grown(self, size: int, queries: Sequence[Query]) -> Trunk:
        """With more queries behind the first `size`: this one, if nobody else has added to it, or else a copy."""
        ids, texts = [query.id for query in queries], [query.sql for query in queries]
        with self._growing:
            if size == self.size:
                self._append(ids, texts)
                return self
            own = size - self.saved.size
            return Trunk(self.saved, [*self.ids[:own], *ids], [*self.texts[:own], *texts])

    def _append(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        for dense, id in enumerate(ids, self.size):
            before = self._latest.get(id)
            if before is not None:
                self._earlier[dense] = before
            self._latest[id] = dense  # last: whoever finds it can go on to the one before
        self.texts += texts
        self.ids += ids

    def find(self, id: str) -> Iterator[int]:
        """The dense ids of an id, those of later versions included, the latest first."""
        dense = self._latest.get(id)
        while dense is not None:
            yield dense
            dense = self._earlier.get(dense)
        if self.saved.size:
            yield from self.saved.find(id)

    def row(self, dense: int) -> tuple[str, str]:
        """Id and text of a dense id."""
        own = dense - self.saved.size
        if own >= 0:
            return self.ids[own], self.texts[own]
        return self.saved.ids[dense].as_py(), self.saved.texts[dense].as_py()

    def rows(self, first: int, end: int) -> Iterator[tuple[str, str]]:
        """Ids and texts of consecutive dense ids."""
        saved = self.saved
        stop, own = min(end, saved.size), slice(max(0, first - saved.size), max(0, end - saved.size))
        start = min(first, saved.size)
        pieces = [
            column.slice(start, max(0, stop - start)).to_pylist() for column in (saved.ids, saved.texts)
        ]
        return chain(zip(*pieces, strict=True), zip(self.ids[own], self.texts[own], strict=True))

    def names(self, size: int) -> pa.Array:
        """The ids of the first dense ids, as Arrow has them; what was worked out for one version serves the others."""
        named = self._named
        known = 0 if named is None else len(named)
        if named is None or known < size:
            saved = self.saved
            own = pa.array(self.ids[max(0, known - saved.size) : size - saved.size], pa.string())
            self._named = named = pa.concat_arrays([*(saved.ids.chunks if named is None else [named]), own])
        return named.slice(0, size)


class Table:
    """One version's view of the queries; `columns` is what goes with them, in sets that know more than ids and texts.

    Roles of joins have rows, too, and `joins` says which they are; nobody who asks for queries gets to see them.

    >>> one, dense_ids = Table().add([Query("a", "1"), Query("b", "2")])
    >>> two, _ = one.remove([0]).add([Query("a", "3")])
    >>> list(dense_ids), one.dense("a"), two.dense("a"), two.by_id([5, 6, 7]), len(two)
    ([0, 1], 0, 2, {'b': 6, 'a': 7}, 2)
    """

    def __init__(
        self,
        trunk: Trunk | None = None,
        size: int = 0,
        gone: Flags | None = None,
        dead: int = 0,
        columns: Columns | None = None,
        joins: JoinColumns | None = None,
        *,
        roles: int = 0,
        unplaced: int = 0,
    ) -> None:
        self.trunk = Trunk() if trunk is None else trunk
        self.size = size
        self.dead = dead  # how many rows are gone
        self.roles = roles  # how many of the others are roles
        self.unplaced = unplaced  # how many of the others are in no segment
        self.joins = joins
        self._columns = columns
        self._gone = gone  # perhaps shorter than `size`: what was added later is there

    @staticmethod
    def opened(saved: SavedRows, removed: Integers, columns: Columns | None = None) -> Table:
        """The table of queries that were saved, some of them removed."""
        gone = None
        if len(removed):
            gone = np.zeros(saved.size, np.bool_)
            gone[removed] = True
        return Table(Trunk(saved), saved.size, gone, len(removed), columns)

    def __len__(self) -> int:
        return self.size - self.dead - self.roles

    @property
    def placed(self) -> int:
        """How many rows that are not gone stand in a segment, or wait to."""
        return self.size - self.dead - self.unplaced

    @property
    def has_columns(self) -> bool:
        """Whether the set knows more of its queries than ids and texts."""
        return self._columns is not None

    @property
    def columns(self) -> Columns:
        """What goes with the queries, in a set that has it."""
        assert self._columns is not None, "the set was made without columns"
        return self._columns

    @cached_property
    def gone(self) -> Flags | None:
        """For every dense id whether its query is removed; None if none is."""
        if self._gone is None or len(self._gone) == self.size:
            return self._gone
        return np.pad(self._gone, (0, self.size - len(self._gone)))

    @cached_property
    def hidden(self) -> Flags | None:
        """For every dense id whether matches of a single stream leave it out: removed queries, joins and their roles."""
        if self.joins is None:
            return self.gone
        involved = self.joins.involved(self.size)
        return involved if self.gone is None else involved | self.gone

    @property
    def removed(self) -> Integers:
        """The dense ids of removed queries, ascending."""
        return np.flatnonzero(self._gone) if self._gone is not None else np.empty(0, np.int64)

    @property
    def alive(self) -> Integers:
        """The dense ids of all others, ascending, roles left out."""
        there = np.ones(self.size, np.bool_) if self.gone is None else ~self.gone
        if self.joins is not None:
            there = there & ~self.joins.are_roles(self.size)
        return np.flatnonzero(there)

    @property
    def alive_joins(self) -> Integers:
        """The dense ids of those of them that are joins."""
        if self.joins is None:
            return np.empty(0, np.int64)
        owners = self.joins.owners(self.size)
        return owners[self.alive_among(owners)]

    def is_gone(self, dense: int) -> bool:
        """Whether the query of a dense id is removed."""
        gone = self._gone
        return gone is not None and dense < len(gone) and bool(gone[dense])

    def alive_among(self, dense_ids: Integers) -> Flags:
        """Which of these queries are not removed."""
        return np.ones(len(dense_ids), np.bool_) if self.gone is None else ~self.gone[dense_ids]

    def dead_among(self, numbering: Numbering) -> int:
        """How many of a segment's queries are removed."""
        return 0 if self.gone is None else int(np.count_nonzero(self.gone[numbering.all()]))

    def find(self, id: str) -> int | None:
        """The dense id of the query that has an id in this version."""
        for dense in self.trunk.find(id):
            if dense < self.size:  # of those before it all are gone: else the id would not have been free
                return None if self.is_gone(dense) else dense
        return None

    def dense(self, id: str) -> int:
        """The same; an `UnknownQueryError`, which is a `KeyError`, if no query has it."""
        dense = self.find(id)
        if dense is None:
            raise unknown_query(id, (query.id for _, query in self.queries()))
        return dense

    def query(self, dense: int) -> Query:
        """The query of a dense id, also of a removed one: versions that still have it share what is compiled of it."""
        return Query(*self.trunk.row(dense))

    def queries(self) -> Iterator[tuple[int, Query]]:
        """The queries with their dense ids, in the order in which they were added."""
        roles = None if self.joins is None or not self.roles else self.joins.are_roles(self.size).tolist()
        for dense, (id, text) in enumerate(self.trunk.rows(0, self.size)):
            if not self.is_gone(dense) and not (roles is not None and roles[dense]):
                yield dense, Query(id, text)

    def rows_of(self, dense_ids: Iterable[int]) -> list[int]:
        """The rows of some queries, those of their roles included."""
        joins = self.joins
        if joins is None:
            return list(dense_ids)
        return [row for dense in dense_ids for row in joins.rows_of(dense)]

    def owners(self, rows: Iterable[int]) -> list[int]:
        """The queries that some rows belong to, each once."""
        joins = self.joins
        return list(rows) if joins is None else list(dict.fromkeys(joins.owner_of(row) for row in rows))

    def by_id(self, values: Iterable[int]) -> dict[str, int]:
        """Values of all dense ids by id, those that are hidden left out."""
        ids = chain(self.trunk.saved.ids.to_pylist(), self.trunk.ids[: self.size - self.trunk.saved.size])
        pairs = zip(ids, values, strict=True)
        return dict(pairs if self.hidden is None else compress(pairs, (~self.hidden).tolist()))

    def named(self, dense_ids: Integers) -> pa.Array:
        """The ids of some queries."""
        return self.trunk.names(self.size).take(pa.array(dense_ids))

    def listed(self, dense_ids: Integers) -> list[str]:
        """The same as a list, for a few of many: they are looked up, and not made for all."""
        if self.trunk.saved.size:
            return list(self.named(dense_ids).to_pylist())
        ids = self.trunk.ids
        return [ids[dense] for dense in dense_ids.tolist()]

    @property
    def ids(self) -> pa.Array:
        """The ids of all dense ids, those of removed queries included."""
        return self.trunk.names(self.size)

    def add(
        self,
        queries: Sequence[Query],
        columns: Columns | None = None,
        joins: JoinColumns | None = None,
        *,
        roles: int = 0,
        unplaced: int = 0,
    ) -> tuple[Table, range]:
        """A version with more rows, and their dense ids; the ids must be free. `columns` and `joins` have them already."""
        end = self.size + len(queries)
        trunk = self.trunk.grown(self.size, queries)
        table = Table(
            trunk,
            end,
            self._gone,
            self.dead,
            columns,
            joins,
            roles=self.roles + roles,
            unplaced=self.unplaced + unplaced,
        )
        return table, range(self.size, end)

    def remove(self, dense_ids: Iterable[int]) -> Table:
        """A version without some rows; who removes a join names its roles, too."""
        going = list(dense_ids)
        if not going:
            return self
        known = self._gone if self._gone is not None else np.zeros(0, np.bool_)
        gone = np.zeros(max(len(known), max(going) + 1), np.bool_)
        gone[: len(known)] = known
        roles = unplaced = 0
        if self.joins is not None:
            fresh = [dense for dense in dict.fromkeys(going) if not gone[dense]]
            roles = sum(self.joins.is_role(dense) for dense in fresh)
            unplaced = sum(not self.joins.is_compiled(dense) for dense in fresh)
        gone[going] = True
        return Table(
            self.trunk,
            self.size,
            gone,
            int(np.count_nonzero(gone)),
            self._columns,
            self.joins,
            roles=self.roles - roles,
            unplaced=self.unplaced - unplaced,
        )

    def with_joins(self, joins: JoinColumns) -> Table:
        """The same table, of which it is known now which rows are joins and roles."""
        there = self.alive_among(np.arange(self.size))
        roles = int(np.count_nonzero(joins.are_roles(self.size) & there))
        rows = np.flatnonzero(joins.involved(self.size) & there).tolist()
        unplaced = sum(not joins.is_compiled(row) for row in rows)
        return Table(
            self.trunk, self.size, self._gone, self.dead, self._columns, joins, roles=roles, unplaced=unplaced
        )

    def changed(self, changes: Iterable[tuple[int, Attributes]]) -> Table:
        """A version in which some queries have another state and destination."""
        columns = self.columns.changed(self.size, changes)
        return Table(
            self.trunk,
            self.size,
            self._gone,
            self.dead,
            columns,
            self.joins,
            roles=self.roles,
            unplaced=self.unplaced,
        )

    def compacted(self, rows: Integers, moved: Integers) -> Table:
        """The same queries in a table of their own that has these rows alone, now at `moved`; others must be gone."""
        keep = np.zeros(self.size, np.bool_)
        keep[rows] = True
        kept = list(compress(self.trunk.rows(0, self.size), keep.tolist()))
        trunk = Trunk(ids=[id for id, _ in kept], texts=[text for _, text in kept])
        gone = None if self.gone is None else self.gone[rows]
        columns = None if self._columns is None else self._columns.compacted(rows)
        joins = None if self.joins is None else self.joins.compacted(rows, moved)
        dead = 0 if gone is None else int(np.count_nonzero(gone))
        return Table(
            trunk,
            len(rows),
            gone if dead else None,
            dead,
            columns,
            joins,
            roles=self.roles,
            unplaced=self.unplaced,
        )
