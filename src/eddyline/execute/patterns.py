"""The patterns executor: which texts of a column satisfy which of its patterns."""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.functions.evaluate import evaluate
from eddyline.functions.evaluate.odd_text import MALFORMED, decoded
from eddyline.functions.java_regex import to_python
from eddyline.index.patterns import GramTable, PatternIndex
from eddyline.index.regex_literals import is_run
from eddyline.kernels import patterns as kernels
from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.types import BOOLEAN, STRING

Rows = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Pairs: TypeAlias = tuple[Rows, Numbers]
View: TypeAlias = tuple[npt.NDArray[np.uint8], npt.NDArray[Any], npt.NDArray[np.uint8], int]

ROOM: Final = 1 << 15
_TEXT: Final = Column("text", STRING)


class Patterns:
    """Evaluates all patterns on one text."""

    def __init__(self, index: PatternIndex) -> None:
        self.index = index
        numbers = [*index.filtered.tolist(), *index.searched.tolist()]
        self._regexes: dict[int, Expression] = {
            number: Call("rlike", (_TEXT, Literal(regex, STRING)), BOOLEAN)
            for number, regex in zip(numbers, index.regexes, strict=True)
        }
        # RE2 needs 250 ms to look for .{1000,}: it has a state for each count
        self._runs: dict[int, re.Pattern[str]] = {
            number: re.compile(to_python(regex))
            for number, regex in zip(numbers, index.regexes, strict=True)
            if is_run(regex)
        }
        self._is_filtered = np.zeros(index.size, np.bool_)
        self._is_filtered[index.filtered] = True
        # whole literals are found in the bytes of a text as in what Java makes of them, if these are no UTF-8
        of_characters = len(index.filtered) or len(index.searched) or len(index.counted)
        codes = index.codes.tobytes()
        self._sees_characters = bool(
            of_characters or bytes([kernels.ONE]) in codes or MALFORMED.encode() in codes
        )
        self._largest_bucket = max((int(np.diff(table.starts).max()) for table in index.tables), default=0)

    def find(self, values: pa.Array) -> Pairs:
        """Rows and pattern numbers where the pattern is true: rows ascending, each pair once, none for NULL."""
        if len(values) == values.null_count:
            return _join([])
        values = decoded(values) if self._sees_characters else values
        pieces = self._by_grams(values)
        if len(self.index.filtered):
            pieces = self._verified(values, _join(pieces))
        pieces += self._by_length(values)
        pieces += self._by_search(values)
        return _join(pieces)

    def _by_grams(self, values: pa.Array) -> list[Pairs]:
        """Pairs of the tables; those of regular expressions are not verified, and perhaps there twice."""
        view = _view(values)
        decided = np.full(self.index.size, -1, np.int64)
        return [piece for table in self.index.tables for piece in self._of_table(table, view, decided)]

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
        texts, places = np.unique(rows, return_inverse=True)
        encoded = values.take(pa.array(texts)).dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False)[places]
        for number in np.unique(patterns).tolist():
            mine = np.flatnonzero(patterns == number)
            hits = np.zeros(len(encoded.dictionary), np.bool_)
            distinct = np.unique(codes[mine])
            hits[distinct[self._search(number, encoded.dictionary.take(pa.array(distinct)))]] = True
            pieces.append(_pairs(np.unique(rows[mine[hits[codes[mine]]]]), number))
        return pieces

    def _by_length(self, values: pa.Array) -> list[Pairs]:
        """Patterns without literals, which only ask for the number of characters."""
        index = self.index
        if not len(index.counted):
            return []
        lengths = pc.fill_null(pc.utf8_length(values), -1).to_numpy(zero_copy_only=False)
        limits = zip(index.counted.tolist(), index.least.tolist(), index.most.tolist(), strict=True)
        return [_pairs(np.flatnonzero((low <= lengths) & (lengths <= high)), i) for i, low, high in limits]

    def _by_search(self, values: pa.Array) -> list[Pairs]:
        """Regular expressions without a literal, once for each distinct text."""
        if not len(self.index.searched):
            return []
        encoded = values.dictionary_encode()
        indices = pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        pieces = []
        for number in self.index.searched.tolist():
            hits = np.zeros(len(encoded.dictionary) + 1, np.bool_)
            hits[self._search(number, encoded.dictionary)] = True
            pieces.append(_pairs(np.flatnonzero(hits[indices]), number))
        return pieces

    def _search(self, number: int, texts: pa.Array) -> Rows:
        """Places of the texts in which a regular expression finds something."""
        run = self._runs.get(number)
        if run is not None:
            return np.array([i for i, text in enumerate(texts.to_pylist()) if run.search(text)], np.int64)
        truth = evaluate(self._regexes[number], {"text": texts})
        return np.flatnonzero(truth.to_numpy(zero_copy_only=False))


def _view(values: pa.Array) -> View:
    """Bytes, offsets, validity bitmap (empty if nothing is NULL) and the bit at which it begins; nothing is copied."""
    bitmap, offsets, data = values.buffers()
    width: Any = np.int64 if pa.types.is_large_string(values.type) else np.int32
    none = np.empty(0, np.uint8)
    view = (
        none if data is None else np.frombuffer(data, np.uint8),
        np.frombuffer(offsets, width)[values.offset : values.offset + len(values) + 1],
        np.frombuffer(bitmap, np.uint8) if values.null_count else none.copy(),
    )
    for array in view:
        array.flags.writeable = False  # as most of Arrow's buffers are; kernels are compiled for these
    return *view, values.offset


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
