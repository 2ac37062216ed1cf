"""The queries of a set by number: ids and texts, shared by all versions that grew out of one another.

    number   0      1      2      3            version 1 sees 0 1      removed: none
    id       cheap  big    cheap  odd          version 3 sees 0 .. 3   removed: 0

Numbers are given once and never again. The lists only grow, and a version knows how far it may look, so adding a query
to the newest version costs the query and not the set; adding to an older one copies the book first. A book that was
opened from files reads them when it is asked for an id or a text, and makes lists of them when something is added.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import cached_property

from eddyline.model.query import Query
from eddyline.model.roster import Roster


class _Pages:
    """What versions share: ids and texts by number, the last number of each id, and the one before it if it had one.

    Threads may share it: one of them at a time adds, or finds out the numbers of ids, and who reads sees only what was
    added for its own version.
    """

    def __init__(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        self.ids = ids
        self.texts = texts
        self._numbers: tuple[dict[str, int], dict[int, int]] | None = None
        self._changing = threading.RLock()

    @property
    def latest(self) -> dict[str, int]:
        """The last number of each id."""
        return self._numbered[0]

    @property
    def earlier(self) -> dict[int, int]:
        """The number before it of a number whose id was given before."""
        return self._numbered[1]

    @property
    def _numbered(self) -> tuple[dict[str, int], dict[int, int]]:
        with self._changing:
            if self._numbers is None:
                self._numbers = self._found_out()
            return self._numbers

    def _found_out(self) -> tuple[dict[str, int], dict[int, int]]:
        latest = {id: number for number, id in enumerate(self.ids)}
        earlier: dict[int, int] = {}
        if len(latest) < len(self.ids):  # ids were given again after a removal
            latest = {}
            for number, id in enumerate(self.ids):
                _enter(latest, earlier, id, number)
        return latest, earlier

    def grown(self, size: int, queries: Iterable[Query]) -> _Pages:
        """With more queries behind the first `size`: these pages themselves, if nobody else has added to them."""
        with self._changing:
            if size == len(self.ids):
                self._add(queries)
                return self
        copied = _Pages(self.ids[:size], self.texts[:size])
        copied._add(queries)
        return copied

    def _add(self, queries: Iterable[Query]) -> None:
        ids, texts = _as_list(self.ids), _as_list(self.texts)
        latest, earlier = self._numbered
        for query in queries:
            _enter(latest, earlier, query.id, len(ids))
            ids.append(query.id)
            texts.append(query.sql)
        self.ids, self.texts = ids, texts


def _enter(latest: dict[str, int], earlier: dict[int, int], id: str, number: int) -> None:
    before = latest.get(id)
    if before is not None:
        earlier[number] = before
    latest[id] = number


def _as_list(texts: Sequence[str]) -> list[str]:
    return texts if isinstance(texts, list) else list(texts)


class Book:
    """One version's view of the queries."""

    def __init__(
        self, pages: _Pages | None = None, size: int = 0, removed: frozenset[int] = frozenset()
    ) -> None:
        self._pages = _Pages([], []) if pages is None else pages
        self.size = size
        self.removed = removed

    @staticmethod
    def of(ids: Sequence[str], texts: Sequence[str], removed: frozenset[int]) -> Book:
        """The book of queries that were written down before."""
        return Book(_Pages(ids, texts), len(ids), removed)

    def __len__(self) -> int:
        return self.size - len(self.removed)

    def __contains__(self, id: str) -> bool:
        return self.find(id) is not None

    def find(self, id: str) -> int | None:
        """Number of the query that has an id in this version."""
        number = self._pages.latest.get(id)
        while number is not None and number >= self.size:
            number = self._pages.earlier.get(number)
        return None if number in self.removed else number

    @property
    def ids(self) -> Sequence[str]:
        """Ids by number, removed ones included."""
        return self._pages.ids[: self.size]

    @cached_property
    def roster(self) -> Roster:
        """The ids as matches give them."""
        return Roster(self._pages.ids, self.removed, self.size, self.find)

    def id(self, number: int) -> str:
        """Id of a number."""
        return self._pages.ids[number]

    def text(self, number: int) -> str:
        """SQL text of a number."""
        return self._pages.texts[number]

    def rows(self, first: int, end: int) -> tuple[Sequence[str], Sequence[str]]:
        """Ids and texts of consecutive numbers."""
        return self._pages.ids[first:end], self._pages.texts[first:end]

    def add(self, queries: Iterable[Query]) -> tuple[Book, range]:
        """A version with more queries, and their numbers; the ids must be free."""
        several = list(queries)
        end = self.size + len(several)
        return Book(self._pages.grown(self.size, several), end, self.removed), range(self.size, end)

    def remove(self, numbers: Iterable[int]) -> Book:
        """A version without some queries."""
        return Book(self._pages, self.size, self.removed | frozenset(numbers))
