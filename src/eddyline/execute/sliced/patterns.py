"""The patterns executor: which texts of a column satisfy which of its patterns."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.functions.evaluate.arrays import text_buffers
from eddyline.functions.evaluate.odd_text import MALFORMED, decoded
from eddyline.functions.java_regex import MOST_MOVES, BacktrackingSearch, LinearSearch, compiled
from eddyline.index.sliced.patterns import GramTable, PatternIndex, without
from eddyline.kernels import patterns as kernels

Rows = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Pairs: TypeAlias = tuple[Rows, Numbers]
View: TypeAlias = tuple[npt.NDArray[np.uint8], npt.NDArray[Any], npt.NDArray[np.uint8], int]

ROOM: Final = 1 << 15
FEW: Final = 2  # regular expressions: looking for literals, or for distinct texts, may not be worth it then
# regular expressions from which on they share 200 MB of moves, instead of having 200 KB each
MANY: Final = 1_000
COMMON: Final = 0.2
ENOUGH: Final = 256  # texts, to tell that a literal is common


class _SearchPlan(NamedTuple):
    """The tables by which patterns are found, and the regular expressions that are searched for without one."""

    tables: tuple[GramTable, ...]
    searched: tuple[int, ...]

    def with_searched(self, numbers: list[int]) -> _SearchPlan:
        """The same with some regular expressions taken out of the tables."""
        tables = tuple(without(table, numbers) for table in self.tables)
        searched = tuple(dict.fromkeys((*self.searched, *numbers)))
        return _SearchPlan(tuple(table for table in tables if len(table.patterns)), searched)


class Patterns:
    """Evaluates all patterns on one text.

    The plan changes once it is seen that a regular expression's literals are in many texts, where looking for them is
    more work than the search itself. That changes no answer; threads may do it at the same time, and one of them wins.
    """

    def __init__(self, index: PatternIndex) -> None:
        self.index = index
        numbers = [*index.filtered.tolist(), *index.searched.tolist()]
        self._regexes = dict(zip(numbers, index.regexes, strict=True))
        self._searches: dict[int, LinearSearch | BacktrackingSearch] = {}
        self._most_moves = MOST_MOVES * MANY // max(MANY, len(numbers))
        self._is_filtered = np.zeros(index.size, np.bool_)
        self._is_filtered[index.filtered] = True
        # whole literals are found in the bytes of a text as in what Java makes of them, if these are not valid UTF-8
        of_characters = len(index.filtered) or len(index.searched) or len(index.counted)
        codes = index.codes.tobytes()
        self._sees_characters = bool(
            of_characters or bytes([kernels.ONE]) in codes or MALFORMED.encode() in codes
        )
        self._largest_bucket = max((int(np.diff(table.starts).max()) for table in index.tables), default=0)
        self._plan = _SearchPlan(index.tables, tuple(index.searched.tolist()))
        if len(index.filtered) <= FEW and all(
            self._is_filtered[table.patterns].all() for table in index.tables
        ):
            self._plan = _SearchPlan((), tuple(numbers))

    def find(self, values: pa.Array) -> Pairs:
        """Rows and pattern numbers where the pattern is true: rows ascending, each pair once, none for NULL."""
        if len(values) == values.null_count:
            return _join([])
        plan = self._plan
        values = decoded(values) if self._sees_characters else values
        pieces = self._by_grams(plan.tables, values)
        if len(self.index.filtered) and pieces:
            pieces = self._verified(values, _join(pieces))
        pieces += self._by_length(values)
        pieces += self._by_search(plan.searched, values)
        return _join(pieces)

    def _by_grams(self, tables: tuple[GramTable, ...], values: pa.Array) -> list[Pairs]:
        """Pairs of the tables; those of regular expressions are not verified, and perhaps there twice."""
        view = _view(values)
        decided = np.full(self.index.size, -1, np.int64)
        return [piece for table in tables for piece in self._of_table(table, view, decided)]

    def _of_table(self, table: GramTable, view: View, decided: Rows) -> list[Pairs]:
        index = self.index
        at, end = int(view[1][0]), int(view[1][-1])
        room = min(ROOM, 4 * len(view[1])) + self._largest_bucket
        rows, patterns = np.empty(room, np.int64), np.empty(room, np.int32)
        places = np.empty(min(kernels.STRETCH, end - at), np.int64)
        pieces: list[Pairs] = []
        while at < end:
            found, at = kernels.find(
                *view, at, tuple(table), index.codes, index.code_starts, decided, places, rows, patterns
            )
            pieces.append((rows[:found].copy(), patterns[:found].copy()))
        return pieces

    def _verified(self, values: pa.Array, pairs: Pairs) -> list[Pairs]:
        """The pairs without those of regular expressions that find nothing."""
        rows, patterns = pairs
        doubtful = self._is_filtered[patterns]
        pieces = [(rows[~doubtful], patterns[~doubtful])]
        rows, patterns = rows[doubtful], patterns[doubtful]
        if not len(rows):
            return pieces
        order = np.argsort(patterns, kind="stable")
        numbers, firsts = np.unique(patterns[order], return_index=True)
        common = []
        for number, found in zip(numbers.tolist(), np.split(rows[order], firsts[1:]), strict=True):
            mine = np.unique(found)
            pieces.append(_pairs(mine[self._search(number, values, mine)], number))
            if len(mine) > COMMON * len(values):
                common.append(number)
        if common and len(values) >= ENOUGH:
            self._plan = self._plan.with_searched(common)
        return pieces

    def _by_length(self, values: pa.Array) -> list[Pairs]:
        """Patterns without literals, which only ask for the number of characters."""
        index = self.index
        if not len(index.counted):
            return []
        lengths = pc.fill_null(pc.utf8_length(values), -1).to_numpy(zero_copy_only=False)
        limits = zip(index.counted.tolist(), index.least.tolist(), index.most.tolist(), strict=True)
        return [_pairs(np.flatnonzero((low <= lengths) & (lengths <= high)), i) for i, low, high in limits]

    def _by_search(self, numbers: tuple[int, ...], values: pa.Array) -> list[Pairs]:
        """Regular expressions without a rare literal, in every text; in every distinct one, if that is much less."""
        if len(numbers) > FEW:
            encoded = values.dictionary_encode()
            texts = encoded.dictionary
            if 2 * len(texts) <= len(values):
                indices = pc.fill_null(encoded.indices, len(texts)).to_numpy(zero_copy_only=False)
                every = np.arange(len(texts))
                hits = (np.append(self._search(number, texts, every), False) for number in numbers)
                return [
                    _pairs(np.flatnonzero(hit[indices]), number)
                    for hit, number in zip(hits, numbers, strict=True)
                ]
        if not numbers:
            return []
        rows = np.arange(len(values))
        if values.null_count:
            rows = rows[values.is_valid().to_numpy(zero_copy_only=False)]
        return [_pairs(rows[self._search(number, values, rows)], number) for number in numbers]

    def _search(self, number: int, values: pa.Array, rows: Rows) -> npt.NDArray[np.bool_]:
        """In which of some rows a regular expression finds something."""
        search = self._searches.get(number)
        if search is None:  # kept here, since a set may have more of them than a cache
            search = self._searches[number] = compiled(self._regexes[number], self._most_moves)
        return search.search(*text_buffers(values), rows).hits


def _view(values: pa.Array) -> View:
    """Bytes, offsets, validity bitmap (empty if nothing is NULL) and the bit at which it begins; nothing is copied."""
    bitmap = values.buffers()[0]
    valid = np.frombuffer(bitmap, np.uint8) if values.null_count else np.empty(0, np.uint8)
    valid.flags.writeable = False  # as most of Arrow's buffers are; kernels are compiled for these
    return *text_buffers(values), valid, values.offset


def _pairs(rows: npt.NDArray[np.intp], number: int) -> Pairs:
    return rows.astype(np.int64, copy=False), np.full(len(rows), number, np.int32)


def _join(pieces: list[Pairs]) -> Pairs:
    """All pairs in one, rows ascending; each piece has them in that order already."""
    pieces = [piece for piece in pieces if len(piece[0])]
    if not pieces:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    if len(pieces) == 1:
        return pieces[0]
    rows = np.concatenate([piece[0] for piece in pieces])
    patterns = np.concatenate([piece[1] for piece in pieces])
    if (rows[1:] >= rows[:-1]).all():
        return rows, patterns
    order = np.argsort(rows, kind="stable")
    return rows[order], patterns[order]
