"""What of a whole set is redundant: queries that are the same, implied by others, or never true.

The matcher finds who may cover a query: those that match its corners (`corners`). For plain boxes that is the answer; of the
other candidates each is decided by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.query import NormalQuery, Query
from eddyline.relations.covers import Covers, Longs, Members, Progress
from eddyline.relations.question import Terms
from eddyline.standing.version import Version

_NONE: Final = np.empty(0, np.int64)
KEPT: Final = 3  # covers of each query, the tightest ones


@dataclass(frozen=True, slots=True)
class Redundancies:
    """Relations between the queries of a set.

    `table` has a row for each finding: query, relation ("equivalent", "implied", "never true"), other. Of equal queries
    the later ones are listed, each with the first; of those that cover a query the three tightest. `more` counts the other
    covers, by query. `unknown` are the pairs that were not decided, with the reason; `uncompared` are queries of which no
    row was found, so that nobody knows whom to compare them with.
    """

    table: pa.Table
    more: Mapping[str, int] = field(default_factory=dict)
    unknown: Sequence[tuple[str, str, str]] = ()
    uncompared: Sequence[str] = ()

    def __len__(self) -> int:
        return int(self.table.num_rows)


def redundancies(
    version: Version, terms: Terms | None = None, progress: Progress | None = None
) -> Redundancies:
    """All that is redundant among the selection queries of a set; joins are left out."""
    version = version.ready()
    search = _Search(version, terms or Terms(), progress or (lambda *_: None))
    for members in search.members.values():
        search.stream(members)
    return search.result()


def relations_of(version: Version, id: str, terms: Terms | None = None) -> Redundancies:
    """What one query of a set has to do with the others: "equivalent", "implied" by others, "implies" others."""
    version = version.ready()
    (dense,) = [number for number, query in version.table.queries() if query.id == id]
    search = _Search(version, terms or Terms(), lambda *_: None)
    normal = version.compiler.compile(version.table.query(dense))
    if isinstance(normal, NormalQuery):
        search.one(search.members[normal.stream], dense)
    return search.result()


class _Search:
    def __init__(self, version: Version, terms: Terms, progress: Progress) -> None:
        self.version = version
        self.terms = terms
        self.progress = progress
        self.queries = list(version.table.queries())
        self.members = {stream.name: Members(version.compiler, stream) for stream in version.compiler.streams}
        for dense, query in self.queries:
            normal = version.compiler.compile(query)
            if isinstance(normal, NormalQuery):
                self.members[normal.stream].add(dense, normal)
        self.findings: list[tuple[int, str, int | None]] = []
        self.more: dict[int, int] = {}
        self.unknown: list[tuple[int, int, str]] = []
        self.uncompared: list[int] = []

    def result(self) -> Redundancies:
        names = {dense: query.id for dense, query in self.queries}
        findings = sorted(self.findings, key=lambda finding: finding[0])
        table = pa.table(
            {
                "query": pa.array([names[one] for one, _, _ in findings], pa.string()),
                "relation": pa.array([relation for _, relation, _ in findings], pa.string()),
                "other": pa.array(
                    [None if other is None else names[other] for *_, other in findings], pa.string()
                ),
            }
        )
        return Redundancies(
            table,
            {names[dense]: count for dense, count in self.more.items()},
            [(names[one], names[other], reason) for one, other, reason in self.unknown],
            [names[dense] for dense in self.uncompared],
        )

    def stream(self, members: Members) -> None:
        """The findings about all queries of a stream."""
        self.findings += [(dense, "equivalent", first) for dense, first in members.same]
        if not members.numbers:
            return
        numbers = members.numbers
        everybody = range(len(numbers))
        places = members.places(self.version)
        covers = Covers(members, everybody, self.version, places, self.terms, self.progress)
        blocks = list(covers.pairs())
        self._note(covers, numbers)
        one, other = (
            (np.concatenate(part) for part in zip(*blocks, strict=True)) if blocks else (_NONE, _NONE)
        )
        self._keep(one, other, numbers)

    def one(self, members: Members, dense: int) -> None:
        """The findings about one query, in both directions; all of them are kept."""
        first = dict(members.same).get(dense, dense)
        same = {first, *(later for later, earlier in members.same if earlier == first)} - {dense}
        place = members.numbers.index(first)
        others = set(range(len(members.numbers))) - {place}
        alone = Version(0, self.version.compiler, self.version.settings).add(
            [Query("alone", members.normal[place].sql)], [members.normal[place]]
        )
        wider = Covers(
            members, [place], self.version, members.places(self.version), self.terms, self.progress
        )
        narrower = Covers(members, others, alone.ready(), np.array([place]), self.terms, self.progress)
        covering = {int(other) for _, others in wider.pairs() for other in others}
        covered = {int(one) for ones, _ in narrower.pairs() for one in ones}
        same |= {members.numbers[other] for other in covering & covered}
        self._note(wider, members.numbers)
        self._note(narrower, members.numbers)
        self.findings += [(dense, "equivalent", other) for other in sorted(same)]
        self.findings += [(dense, "implied", members.numbers[other]) for other in sorted(covering - covered)]
        self.findings += [(dense, "implies", members.numbers[other]) for other in sorted(covered - covering)]

    def _note(self, covers: Covers, numbers: Sequence[int]) -> None:
        """What was found out beside pairs."""
        self.findings += [(numbers[place], "never true", None) for place in covers.never]
        self.unknown += [(numbers[one], numbers[other], reason) for one, other, reason in covers.unknown]
        self.uncompared += [numbers[place] for place in covers.uncompared]

    def _keep(self, one: Longs, other: Longs, numbers: Sequence[int]) -> None:
        """The tightest covers of each query: who is covered by many itself is small."""
        later = _mutual(one, other, len(numbers)) & (one > other)
        first = np.arange(len(numbers))
        np.minimum.at(first, one[later], other[later])
        self.findings += [
            (numbers[a], "equivalent", numbers[first[a]]) for a in np.unique(one[later]).tolist()
        ]
        leads = first == np.arange(len(numbers))
        among = leads[one] & leads[other]
        one, other = one[among], other[among]
        counts = np.bincount(one, minlength=len(numbers))
        order = np.lexsort((other, -counts[other], one))
        one, other = one[order], other[order]
        starts = np.flatnonzero(np.diff(one, prepend=-1))
        rank = np.arange(len(one)) - np.repeat(starts, np.diff(starts, append=len(one)))
        kept = rank < KEPT
        self.findings += [
            (numbers[a], "implied", numbers[b]) for a, b in zip(one[kept], other[kept], strict=True)
        ]
        for place, count in zip(one[starts].tolist(), np.diff(starts, append=len(one)).tolist(), strict=True):
            if count > KEPT:
                self.more[numbers[place]] = count - KEPT


def _mutual(one: Longs, other: Longs, size: int) -> npt.NDArray[np.bool_]:
    """Which of the pairs are there the other way round, too."""
    return np.isin(one * size + other, other * size + one)
