"""What of a whole set is redundant: queries that are the same, implied by others, or never true."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.kernels.covers import TIGHTEST, tightest
from eddyline.relations.covers import CoveredBoxes, Progress, TreeCovers, covered_boxes
from eddyline.relations.joins.covers import JoinCovers, join_covers
from eddyline.relations.joins.pairs import CompiledJoin
from eddyline.relations.members import Members, members_by_stream
from eddyline.relations.plain_boxes import Longs
from eddyline.relations.question import Terms
from eddyline.standing.version import Version

# Pairs in memory, at four bytes; where there are more, boxes are compared a second time.
KEPT_PAIRS: Final = 64_000_000
RELATIONS: Final = ("equivalent", "implied", "implies", "never true")  # as they are listed
_EQUIVALENT, _NEVER_TRUE = RELATIONS.index("equivalent"), RELATIONS.index("never true")
_NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class Redundancies:
    """Relations between the queries of a set.

    `table` has a row for each finding: query, relation ("equivalent", "implied", "never true"), other. Of equal queries
    the later ones are listed, each with the first; of those that cover a query the three tightest. `more` counts the other
    covers, by query. `unknown` are the pairs that were not decided, with the reason; `uncompared` are queries of which no
    row was found, in sets that are too large to compare them with all others. An interrupted search is not `complete`.
    """

    table: pa.Table
    more: Mapping[str, int] = field(default_factory=dict)
    unknown: Sequence[tuple[str, str, str]] = ()
    uncompared: Sequence[str] = ()
    complete: bool = True

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def with_proofs(self, proofs: Sequence[str]) -> Redundancies:
        """The same, with a column that says why each row holds."""
        return replace(self, table=self.table.append_column("proof", pa.array(proofs, pa.string())))


def redundancies(
    version: Version, terms: Terms | None = None, progress: Progress | None = None
) -> Redundancies:
    """All that is redundant in a set: selections are compared within their streams, joins with joins of the same streams.

    A `KeyboardInterrupt` ends the search: what was found until then is given.
    """
    version = version.ready()
    findings = Findings(version.table.named)
    try:
        for members in members_by_stream(version):
            covers = StreamCovers(members, version, terms or Terms(), progress or (lambda *_: None))
            covers.search(findings)
        _compare_joins(version, terms or Terms(), progress or (lambda *_: None), findings)
    except KeyboardInterrupt:
        findings.complete = False
    return findings.result()


class Findings:
    """What was found out, by dense ids."""

    def __init__(self, names: Callable[[Longs], pa.Array]) -> None:
        self._names = names
        self.complete = True
        self.unknown: list[tuple[int, int, str]] = []
        self.uncompared: list[int] = []
        self._more: list[tuple[Longs, Longs]] = []
        self._rows: list[tuple[Longs, int, Longs]] = []

    def add(self, relation: str, queries: Iterable[int] | Longs, others: Iterable[int] | Longs) -> None:
        """Pairs of which a relation holds; -1 is nobody."""
        pair = [
            each if isinstance(each, np.ndarray) else np.array(list(each), np.int64)
            for each in (queries, others)
        ]
        self._rows.append((pair[0], RELATIONS.index(relation), pair[1]))

    def add_tightest(self, one: Longs, other: Longs, counts: Longs, shown: Longs) -> None:
        """Of pairs of a place and its cover the tightest ones: who is covered by many itself is small.

        `counts` says of each place how many cover it, those that are not among the pairs included; `shown` its dense id.
        """
        order = np.lexsort((shown[other], -counts[other], one))
        one, other = one[order], other[order]
        starts = np.flatnonzero(np.diff(one, prepend=-1))
        rank = np.arange(len(one)) - np.repeat(starts, np.diff(starts, append=len(one)))
        kept = rank < TIGHTEST
        self.add("implied", shown[one[kept]], shown[other[kept]])
        many = np.flatnonzero(counts > TIGHTEST)
        self._more.append((shown[many], counts[many] - TIGHTEST))

    def result(self) -> Redundancies:
        """With names, by query."""
        none = np.empty(0, np.int64)
        query = np.concatenate([*(queries for queries, *_ in self._rows), none])
        other = np.concatenate([*(others for *_, others in self._rows), none])
        relation = np.concatenate([*(np.full(len(q), code) for q, code, _ in self._rows), none])
        # What is the same as a query that is never true is never true itself.
        of_never = (relation == _EQUIVALENT) & np.isin(other, query[relation == _NEVER_TRUE])
        relation[of_never], other[of_never] = _NEVER_TRUE, _NOBODY
        order = np.lexsort((relation, query))  # stable: covers of a query stay in their order
        names = self._names
        listed = pa.array(RELATIONS).take(pa.array(relation[order]))
        others = (
            names(np.where(other[order] == _NOBODY, 0, other[order]))
            if len(other)
            else pa.array([], pa.string())
        )
        is_nobody = pa.array(other[order] == _NOBODY)
        table = pa.table(
            {
                "query": names(query[order]),
                "relation": listed,
                "other": pc.if_else(is_nobody, pa.scalar(None, pa.string()), others),
            }
        )
        more = [(names(queries).to_pylist(), counts.tolist()) for queries, counts in self._more]
        return Redundancies(
            table,
            {name: count for pair in more for name, count in zip(*pair, strict=True)},
            self._named_pairs(),
            self._named(self.uncompared),
            self.complete,
        )

    def _named_pairs(self) -> list[tuple[str, str, str]]:
        ones = self._named([one for one, *_ in self.unknown])
        others = self._named([other for _, other, _ in self.unknown])
        return list(zip(ones, others, [reason for *_, reason in self.unknown], strict=True))

    def _named(self, dense: Sequence[int]) -> list[str]:
        return list(self._names(np.array(dense, np.int64)).to_pylist()) if dense else []


class StreamCovers:
    """All covers within a stream: those of boxes by blocks, those with trees one by one."""

    def __init__(self, members: Members, version: Version, terms: Terms, progress: Progress) -> None:
        self.members = members
        self.version = version
        self.trees = TreeCovers(members.stream, members, terms)
        self.counts = np.zeros(members.size, np.int64)  # how many cover each member
        self._progress = progress
        self._kept: list[CoveredBoxes] = []
        self._pairs = 0

    def search(self, findings: Findings) -> None:
        """Look for everything, and note what was found, also where it was interrupted."""
        try:
            self._find()
        except KeyboardInterrupt:
            self._pairs = 0  # settled from what is kept: nothing is compared again
            self._settle(findings)
            raise
        self._settle(findings)

    def _find(self) -> None:
        members = self.members
        for block in self._blocks():
            self.counts[block.first : block.end] = np.diff(block.starts)
            self._pairs += len(block.others)
            if self._pairs <= KEPT_PAIRS:
                self._kept.append(block)
            self.trees.uncompared += block.lost.tolist()
            self.trees.decide_all(block.open_boxes, block.open_trees)
            self._tell(block.end)
        first = len(members.boxes.dense)
        for tree in self.trees.all(range(first, members.size), self.version, members.places):
            self._tell(tree + 1)

    def _blocks(self) -> Iterator[CoveredBoxes]:
        members = self.members
        return covered_boxes(members.boxes, self.version, members.places, members.boxes.ranges)

    def _tell(self, done: int) -> None:
        self._progress(self.members.stream.name, done, self.members.size)

    def _settle(self, findings: Findings) -> None:
        """Note what was found: equals, the tightest covers of each, and what is left open."""
        numbers, trees = self.members.numbers, self.trees
        leaders = self._leaders(findings)
        one, other = np.array(trees.pairs, np.int64).reshape(-1, 2).T
        among = (leaders[one] == one) & (leaders[other] == other) & (one != other)
        one, other = one[among], other[among]
        self.counts += np.bincount(one, minlength=self.members.size)
        self._tightest(findings, one, other)
        findings.add("never true", numbers[trees.never], np.full(len(trees.never), _NOBODY))
        findings.unknown += [(int(numbers[a]), int(numbers[b]), reason) for a, b, reason in trees.unknown]
        findings.uncompared += numbers[trees.uncompared].tolist()

    def _leaders(self, findings: Findings) -> Longs:
        """For each member the first of those that are equal to it; boxes come first, as they are equal to no other box."""
        members = self.members
        leaders = leaders_of(np.array(self.trees.pairs, np.int64).reshape(-1, 2), members.size)
        members.show_first(leaders)
        findings.add("equivalent", *members.same_queries(leaders))
        return leaders

    def _tightest(self, findings: Findings, one: Longs, other: Longs) -> None:
        ones, others = [one], [other]
        for block in self._kept if self._pairs <= KEPT_PAIRS else self._blocks():
            kept = np.full((len(block.starts) - 1, TIGHTEST), _NOBODY, np.int64)
            tightest(block.starts, block.others, self.counts, kept)
            row, place = np.nonzero(kept >= 0)
            ones.append(row + block.first)
            others.append(kept[row, place])
        findings.add_tightest(np.concatenate(ones), np.concatenate(others), self.counts, self.members.shown)


def leaders_of(pairs: Longs, size: int) -> Longs:
    """For each place the first one of those that cover it and that it covers, of pairs of a place and its cover.

    >>> leaders_of(np.array([[0, 2], [2, 0], [1, 2]]), 3).tolist()
    [0, 1, 0]
    """
    one, other = pairs.T
    mutual = np.isin(one * size + other, other * size + one)
    leaders = np.arange(size)
    np.minimum.at(leaders, one[mutual], other[mutual])
    return leaders


def _compare_joins(version: Version, terms: Terms, progress: Progress, findings: Findings) -> None:
    """Who covers whom among the joins of a set."""
    table = version.table
    joins = {
        dense: CompiledJoin.of(version.compiler, table.query(dense)) for dense in table.alive_joins.tolist()
    }
    if not joins:
        return
    found = JoinCovers()
    try:
        join_covers(joins, version.compiler, terms, found, lambda done, total: progress("joins", done, total))
    finally:  # what was found before an interruption counts
        _note_joins(found, table.size, findings)


def _note_joins(found: JoinCovers, size: int, findings: Findings) -> None:
    pairs = np.array(found.covered, np.int64).reshape(-1, 2)
    leaders = leaders_of(pairs, size)
    for first, *others in found.same:
        leaders[others] = leaders[first]
    later = np.flatnonzero(leaders != np.arange(size))
    findings.add("equivalent", later, leaders[later])
    one, other = pairs[(leaders[pairs] == pairs).all(axis=1)].T
    findings.add_tightest(one, other, np.bincount(one, minlength=size), np.arange(size))
    findings.add("never true", found.never, [_NOBODY] * len(found.never))
    findings.unknown += [(a, b, reason) for a, b, reason in found.unknown if b is not None]
    findings.uncompared += [a for a, b, _ in found.unknown if b is None]
