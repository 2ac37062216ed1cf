"""What people do to the registry while the demo runs: queries come, go, change, are watched, refused, brought back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from eddyline.compile import Compiler
from eddyline.engine import Engine
from eddyline.errors import QueryError
from eddyline.registry import Drop, Edit, Put, Registry, Set, State
from eddyline.testing.market import QUOTES
from eddyline.testing.market_queries import Standing

EVERY: Final = 5  # batches from one event to the next
ADDED: Final = 8
REMOVED: Final = 5
TRIAL: Final = 40  # queries of the experiment that is rolled back


@dataclass(frozen=True, slots=True)
class StoryEvent:
    """Something that happened between two batches, and the version since."""

    batch: int
    version: int
    text: str


class Story:
    """A cycle of events; what happens depends only on the seed and on what was matched so far.

    Most changes are made in the registry, as another process would, and taken over by the engine's `sync`.
    """

    def __init__(self, registry: Registry, engine: Engine, fresh: Iterator[Standing]) -> None:
        self._registry = registry
        self._engine = engine
        self._fresh = fresh
        self._check = Compiler([QUOTES]).check
        self._before_trial = 0
        self._steps: tuple[Callable[[], str], ...] = (
            self._add,
            self._tighten,
            self._remove,
            self._refuse,
            self._try_out,
            self._shadow,
            self._roll_back,
        )

    def begin(self, queries: list[Standing]) -> None:
        """The queries that stand from the start, as one version."""
        self._registry.change(
            [_put(query) for query in queries],
            streams=[QUOTES],
            author="ann",
            reason="the first set",
            check=self._check,
        )
        self._engine.sync()

    def after(self, batch: int) -> StoryEvent | None:
        """What happens after a batch, if anything does."""
        turn, rest = divmod(batch + 1, EVERY)
        if rest:
            return None
        text = self._steps[(turn - 1) % len(self._steps)]()
        return StoryEvent(batch, self._engine.version, text)

    def _change(self, edits: list[Edit], author: str, reason: str) -> None:
        self._registry.change(edits, author=author, reason=reason, check=self._check)
        self._engine.sync()

    def _add(self) -> str:
        queries = list(islice(self._fresh, ADDED))
        self._change([_put(query) for query in queries], "chen", "wanted by clients")
        return f"chen adds {ADDED} queries, among them {queries[0].id}"

    def _tighten(self) -> str:
        id = self._busiest()
        head, _, condition = self._engine.queries()[id].partition(" WHERE ")
        self._engine.replace(id, f"{head} WHERE ({condition}) AND volume >= 5000")
        return f"{id}, the busiest, gets another text: AND volume >= 5000"

    def _remove(self) -> str:
        accounts = self._engine.ledger.queries()
        ids = [id for id in sorted(accounts) if accounts[id].matches == 0][:REMOVED] or sorted(accounts)[:1]
        self._change([Drop(id) for id in ids], "dora", "never fired")
        return f"dora removes {len(ids)} queries that never fired, among them {ids[0]}"

    def _refuse(self) -> str:
        try:
            self._engine.add("oops", "SELECT symbol FROM quotes WHERE prise < 10")
        except QueryError as error:
            return f"a query is refused: {error.message}; {error.hint}"
        raise AssertionError("there is no such column")

    def _try_out(self) -> str:
        self._before_trial = self._registry.version
        queries = list(islice(self._fresh, TRIAL))
        self._change([_put(query, "trial") for query in queries], "bob", "an experiment")
        return f"bob imports {TRIAL} queries as a trial"

    def _shadow(self) -> str:
        id = self._busiest()
        self._change([Set(id, state=State.SHADOW)], "risk-desk", "too loud")
        return f"risk-desk puts {id} in shadow: counted, not delivered"

    def _roll_back(self) -> str:
        self._registry.rollback(self._before_trial, author="ann", reason="the trial is over")
        self._engine.sync()
        return f"ann rolls back to version {self._before_trial}: the trial is over"

    def _busiest(self) -> str:
        """The query with the most matches that people get."""
        accounts = self._engine.ledger.queries()
        delivered = {id: account.delivered for id, account in accounts.items() if account.shadowed == 0}
        return min(delivered, key=lambda id: (-delivered[id], id))


def _put(query: Standing, *tags: str) -> Put:
    return Put(query.id, query.sql, tags=(*query.tags, *tags), owner=query.owner)
