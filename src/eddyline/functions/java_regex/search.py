"""Which texts a pattern finds something in: by an automaton where there is one, else by backtracking with a budget."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.functions.java_regex.automaton import NotLinear, automaton
from eddyline.functions.java_regex.linear import MOST_MOVES, LinearSearch, Rows, SearchResult
from eddyline.functions.java_regex.parse import parse
from eddyline.functions.java_regex.program import BacktrackingProgram, program
from eddyline.functions.java_regex.reader import Unsupported
from eddyline.kernels import backtracking as kernels

MOST_STEPS: Final = 1_000_000  # a few milliseconds
_STACK: Final = 1 << 12


class BacktrackingSearch:
    """One pattern that is no automaton. A text takes at most so many steps; beyond them the search fails.

    A step is an attempt to match a character, a place, a back reference or each character of one, to look around, or to
    begin another turn of a repetition.
    """

    def __init__(self, pattern: BacktrackingProgram) -> None:
        self._classes = pattern.classes.table()
        self._operations = pattern.operations
        self._tables = pattern.members, pattern.guards, pattern.afters
        self._registers = pattern.registers

    def search(
        self,
        data: npt.NDArray[np.uint8],
        offsets: npt.NDArray[Any],
        rows: Rows,
        most_steps: int = MOST_STEPS,
    ) -> SearchResult:
        """What is found in the texts of some rows."""
        outcomes = np.full(len(rows), kernels.NO_ROOM, np.uint8)
        longest = int((offsets[1:] - offsets[:-1]).max(initial=0))
        scratch = np.empty(longest + 1, np.int32), np.empty(longest + 1, np.uint16)
        registers = np.empty(self._registers, np.int32)
        room = _STACK
        parts = self._classes, self._operations, *self._tables, registers
        while not kernels.search(
            data, offsets, rows, *parts, np.empty((room, 3), np.int32), *scratch, most_steps, outcomes
        ):
            room *= 2
        failed = outcomes == kernels.TOO_LONG
        return SearchResult(outcomes == kernels.SOME, failed if failed.any() else None)


@lru_cache(maxsize=1 << 12)
def compiled(pattern: str, most_moves: int = MOST_MOVES) -> LinearSearch | BacktrackingSearch:
    """The search for an accepted pattern; `most_moves` as `LinearSearch` has it."""
    node = parse(pattern)
    assert not isinstance(node, Unsupported), f"a refused pattern is not searched for: {node}"
    try:
        return LinearSearch(node, most_moves)
    except NotLinear:
        return BacktrackingSearch(program(node))


@lru_cache(maxsize=1 << 16)
def needs_backtracking(pattern: str) -> bool:
    """Whether a pattern is one whose search may fail for want of steps.

    >>> needs_backtracking("(a+)+$"), needs_backtracking("(?=.*a)b")
    (False, True)
    """
    node = parse(pattern)
    if isinstance(node, Unsupported):
        return False
    try:
        automaton(node)
    except NotLinear:
        return True
    return False
