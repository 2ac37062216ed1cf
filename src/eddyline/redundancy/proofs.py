"""Proofs as text for what a page shows, until the time for them is up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from shlex import quote
from typing import Any, Final, Protocol

from eddyline.compile import Compiler
from eddyline.implication.search import Budget
from eddyline.model.query import Query
from eddyline.redundancy.values import ComparedQuery
from eddyline.relations import Relation
from eddyline.relations.pair import Pair

TIME_IS_UP: Final = "The time for the proofs of this page was up. This command shows it:"
SECONDS: Final = 10.0  # for all proofs of a page


class Proofs(Protocol):
    """Gives the text of a proof, or of how to get it."""

    def same(self, one: ComparedQuery, other: ComparedQuery) -> str: ...

    def covered(self, one: ComparedQuery, cover: ComparedQuery) -> str: ...

    def never_true(self, one: ComparedQuery) -> str: ...


class TimedProofs:
    """Searches for each proof again, as a pair; after `seconds`, or after Ctrl-C, there are no more of them.

    `command` shows the proof of two queries whose ids are put behind it.
    """

    def __init__(self, compiler: Compiler, budget: Budget, command: str, seconds: float = SECONDS) -> None:
        self._compiler = compiler
        self._budget = budget
        self._command = command
        self._end = time.monotonic() + seconds

    def same(self, one: ComparedQuery, other: ComparedQuery) -> str:
        """Why two queries are satisfied by the same rows."""
        return self._text(one, other, Pair.equivalent)

    def covered(self, one: ComparedQuery, cover: ComparedQuery) -> str:
        """Why every row of a query satisfies another one."""
        return self._text(one, cover, Pair.implies)

    def never_true(self, one: ComparedQuery) -> str:
        """Why no row satisfies a query."""
        return self._text(one, one, Pair.never_true)

    def _text(
        self, one: ComparedQuery, other: ComparedQuery, question: Callable[[Pair[Any]], Relation]
    ) -> str:
        if time.monotonic() < self._end:
            try:
                return str(question(self._pair(one, other)))
            except KeyboardInterrupt:  # the page is written with what there is
                self._end = 0.0
        return f"{TIME_IS_UP} {self._command} {quote(one.id)} {quote(other.id)}"

    def _pair(self, one: ComparedQuery, other: ComparedQuery) -> Pair[Any]:
        queries = Query(one.id, one.sql), Query(other.id, other.sql)
        pair = Pair.compiled(self._compiler, queries, budget=self._budget)
        return replace(pair, names=(f'"{one.id}"', f'"{other.id}"'))
