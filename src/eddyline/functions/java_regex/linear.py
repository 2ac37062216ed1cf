"""Searches for patterns that are automata: one look at every character of a text."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from eddyline.functions.java_regex.automaton import Automaton, automaton
from eddyline.functions.java_regex.nodes import Node
from eddyline.functions.java_regex.required import TESTS, required
from eddyline.functions.java_regex.words import words
from eddyline.kernels import automata as kernels

MOST_STATES: Final = 5_000
FEW: Final = 3
# bytes so common that skipping to the next one gains nothing
COMMON: Final = frozenset(b" etaoinsrlhd0123456789")
MOST_MOVES: Final = 50_000  # 200 KB; foo.{1,20}bar needs nearly all of them
MOST_WORK: Final = 4_000_000  # edges looked at while states are made: some milliseconds

Rows: TypeAlias = npt.NDArray[np.int64]
Truth: TypeAlias = npt.NDArray[np.bool_]
Sieve: TypeAlias = tuple[int, tuple[tuple[int, ...], ...], bool]


class SearchResult(NamedTuple):
    """Which rows have a match, and for which that was not found out within the budget (None: all were)."""

    hits: Truth
    failed: Truth | None = None


class LinearSearch:
    """One pattern; a search changes nothing, so threads may share it. Raises NotLinear where there is no automaton.

    `most_moves` bounds the states that are made beforehand, and with them memory; a text that leads beyond them is read
    more slowly.
    """

    def __init__(self, node: Node, most_moves: int = MOST_MOVES) -> None:
        pattern = automaton(node)
        fields: dict[str, Any] = {name: getattr(pattern, name) for name in Automaton.__slots__}
        self._step = -1 if fields.pop("backwards") else 1
        self._classes = fields.pop("classes").table()
        self._beyond: tuple[Any, ...] | None = None
        positions, classes = pattern.members.shape
        self._width = classes + 1
        room = max(kernels.START + 1, min(MOST_STATES, most_moves // self._width))
        sets = np.zeros((room, (positions + 63) // 64), np.uint64)
        befores = np.zeros(room, np.int32)
        slots = np.full(1 << (2 * room - 1).bit_length(), -1, np.int32)
        moves = np.empty(room * self._width, np.uint32)
        count = kernels.determinize(tuple(fields.values()), sets, befores, slots, moves, MOST_WORK)
        home, stays = self._home(moves[: count * self._width])
        places = np.arange(count)
        places[[kernels.HOME, home]] = home, kernels.HOME
        moves = (places[moves[: count * self._width] // self._width] * self._width).astype(np.uint32)
        moves = moves.reshape(count, self._width)[places].ravel()
        if (moves[kernels.HOME * self._width :] == kernels.UNKNOWN * self._width).any():
            slots = np.where(slots < 0, slots, places[slots]).astype(np.int32)
            states = sets[places], befores[places], slots
            self._beyond = tuple(fields.values()), tuple(words(pattern)), *states
        self._moves = moves
        waits_at_home = home == kernels.START and not int(pattern.cautious[0]) & 1
        self._sieve = self._sieve_of(node, moves, waits_at_home)
        self._skips = np.int64(places[kernels.START] * self._width), stays, self._few_leaving(stays)

    def _home(self, moves: npt.NDArray[np.uint32]) -> tuple[int, npt.NDArray[np.uint8]]:
        """The state, out of the first ones, that texts are most likely to stay in, and at which bytes they do."""
        ascii_classes, starts, numbers = self._classes
        table = moves.reshape(-1, self._width)
        others = np.unique(numbers[np.searchsorted(starts, 128, side="right") - 1 :])

        def stays(state: int) -> npt.NDArray[np.uint8]:
            same = table[state] == state * self._width
            return np.append(same[ascii_classes], np.full(128, same[others].all())).astype(np.uint8)

        firsts = {int(move) // self._width for move in table[kernels.START]} | {kernels.START}
        staying = {state: stays(state) for state in sorted(firsts) if state >= kernels.START}
        home = max(staying, key=lambda state: int(staying[state].sum()))
        return home, staying[home]

    def _few_leaving(self, stays: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
        """The bytes at which texts leave home, each eight times in one number; none if they are many, or common."""
        leaving = np.flatnonzero(stays == 0).astype(np.uint64)
        if self._step < 0 or len(leaving) > FEW or set(leaving.tolist()) & COMMON:
            leaving = leaving[:0]
        return leaving * np.uint64(0x0101010101010101)

    def _sieve_of(self, node: Node, moves: npt.NDArray[np.uint32], waits_at_home: bool) -> Sieve:
        """Length and tests of the bytes that every match has, and whether searches may begin where they are.

        There is none (length 0) where the automaton is done sooner: it reads backwards, or any printable character may
        be one too many.
        """
        found = required(node)
        printable = self._classes[0][ord(" ") :]
        goes_on = (moves.reshape(-1, self._width)[kernels.HOME :, printable] != kernels.DEAD).all()
        if found is None or self._step < 0 or not goes_on:
            return 0, ((0, 0, 0, 0),) * TESTS, False
        tests = [tuple(test) for test in found.tests]
        begins = found.is_head and waits_at_home
        return found.length, (*tests, *tests[:1] * (TESTS - len(tests))), begins

    def search(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[Any], rows: Rows) -> SearchResult:
        """What is found in the texts of some rows: row r is data[offsets[r]:offsets[r + 1]]."""
        left, starts = self._sifted(data, offsets, rows)
        searched = rows[left]
        found = np.empty(len(searched), np.bool_)
        beyond = self._beyond
        if beyond is not None:  # with room for two sets
            beyond = *beyond, np.empty((2, beyond[2].shape[1]), np.uint64)
        texts = data, offsets, searched, starts, self._step
        kernels.search(*texts, self._classes, self._width, self._moves, *self._skips, beyond, found)
        hits = np.zeros(len(rows), np.bool_)
        hits[left] = found
        return SearchResult(hits)

    def _sifted(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[Any], rows: Rows) -> tuple[Any, Rows]:
        """Which of some rows may have a match, and where their searches begin (none: at the first character)."""
        length, tests, begins = self._sieve
        if not length:
            return slice(None), np.empty(0, np.int64)
        left, starts = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        count = kernels.sift(data, offsets, rows, length, tests, begins, left, starts)
        return left[:count], starts[:count]
