"""Who covers whom in a set: candidates by the matcher, which gets a row of each query; then ranges are compared, or a
proof is looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from eddyline.index.keyed.terms import Term, terms_of
from eddyline.kernels import covers as kernels
from eddyline.model.arrays import Flags
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column, Expression
from eddyline.model.predicate import conditions_of
from eddyline.model.query import NormalQuery
from eddyline.model.regions import Regions
from eddyline.normalize.domain import domain_of
from eddyline.relations.corner_batches import batch_of, is_flat
from eddyline.relations.plain_boxes import Longs, Numbers, PlainBoxes, Ranges
from eddyline.relations.question import Side, Terms, ask
from eddyline.relations.rows import reads
from eddyline.relations.samples import Row, sample_rows
from eddyline.standing.version import Version

Progress = Callable[[str, int, int], None]

FEWEST_ROWS: Final = 64
FIRST_ROWS: Final = 64
MOST_ROWS: Final = 65_536
CANDIDATES: Final = 2_000_000  # that are looked at together, about
TREES: Final = 256  # whose rows are matched together
UNSAMPLED_PAIRS: Final = 2_000  # that are asked about, of trees no row is found of: a second, or some


@dataclass(frozen=True, slots=True)
class CoveredBoxes:
    """Places of boxes, and who covers each: box first + i by `others` from starts[i] to starts[i + 1].

    `open_boxes` and `open_trees` are pairs that ranges do not decide: such a tree may cover such a box. `lost` are boxes that
    the matcher does not find by their own row, which would be a bug: nothing is said of them.
    """

    first: int
    starts: Longs
    others: Numbers
    open_boxes: Longs
    open_trees: Longs
    lost: Longs

    @property
    def end(self) -> int:
        """The place after the last box."""
        return self.first + len(self.starts) - 1


def covered_boxes(
    boxes: PlainBoxes, version: Version, places: Longs, among: Ranges, *, are_among: bool = True
) -> Iterator[CoveredBoxes]:
    """Who covers each of some boxes, in blocks: of the queries of a version, whose places are given, all that match a row.

    `among` are the ranges of the places that are boxes; later places are trees. Codes of texts have to mean the same.
    `are_among` says that the boxes are those of the first places themselves.
    """
    first, rows = 0, FIRST_ROWS
    while first < len(boxes.dense):
        end = min(first + rows, len(boxes.dense))
        starts, numbers = version.match(boxes.corners(first, end), boxes.stream.name).lists()
        selves = np.arange(first, end) if are_among else np.full(end - first, -1)
        found = judged(
            np.asarray(starts, np.int64), numbers, np.arange(first, end), selves, boxes.ranges, places, among
        )
        yield CoveredBoxes(
            first,
            found.starts,
            found.covers,
            first + found.undecided[:, 0],
            found.undecided[:, 1],
            first + np.flatnonzero(~found.selves & (selves >= 0)),
        )
        first = end
        wanted = rows * CANDIDATES // max(len(numbers), 1)
        rows = min(max(wanted, FEWEST_ROWS), 8 * rows, MOST_ROWS)


@dataclass(frozen=True, slots=True)
class Judged:
    """Who of some candidates covers a box: those of row i are `covers` from starts[i] to starts[i + 1]."""

    starts: Longs
    covers: Numbers
    undecided: Longs  # rows and places of candidates that are no boxes
    selves: Flags  # rows whose own box is among the candidates


def judged(
    starts: Longs,
    numbers: npt.NDArray[Any],
    owners: Longs,
    selves: Longs,
    own: Ranges,
    places: Longs,
    among: Ranges,
) -> Judged:
    """Candidates as `kernels.covers.judge` finds them."""
    covers = np.empty(len(numbers), np.int32)
    ends = np.zeros(len(starts), np.int64)
    has_trees = places.max(initial=-1) >= len(among)
    undecided = np.empty((int((places[numbers] >= len(among)).sum()) if has_trees else 0, 2), np.int64)
    found = np.zeros(len(owners), np.bool_)
    kernels.judge(
        *(starts, numbers, owners, selves),
        *(own.firsts, own.columns, own.lows, own.highs),
        *(places, among.firsts, among.columns, among.lows, among.highs),
        *(covers, ends[1:], undecided, found),
    )
    return Judged(ends, covers[: ends[-1]].copy(), undecided, found)


def by_alternatives(one: list[Term] | None, other: list[Term] | None) -> bool | None:
    """Whether another query covers one, as far as their alternatives tell; None if they do not.

    If every alternative of the one lies in some alternative of the other, condition by condition, it does. If the other has
    but one alternative, and all conditions are on columns, that is the only way. A search takes ten times as long.
    """
    if not one or not other:
        return None
    if all(any(_is_part(term, wider) for wider in other) for term in one):
        return True
    on_columns = all(isinstance(subject, Column) for term in (*one, *other) for subject in term)
    return False if len(other) == 1 and on_columns else None


def _is_part(term: Term, wider: Term) -> bool:
    return all(
        subject in term and _is_subset(term[subject], regions, subject) for subject, regions in wider.items()
    )


def _is_subset(regions: Regions, wider: Regions, subject: Expression) -> bool:
    if regions == wider:
        return True
    rest = regions & ~wider
    return rest.is_empty or domain_of(subject.type).canonical(rest).is_empty


def _satisfiable(terms: list[Term] | None) -> list[Term] | None:
    """Alternatives less those that no value satisfies, such as an int between 3 and 4."""
    if terms is None:
        return None
    return [
        term
        for term in terms
        if not any(domain_of(s.type).canonical(regions).is_empty for s, regions in term.items())
    ]


class Queries(Protocol):
    """Queries by place."""

    def side(self, place: int) -> Side:
        """A query as the search and the reference see it."""
        ...

    def normal(self, place: int) -> NormalQuery:
        """A query as the search sees it."""
        ...


class TreeCovers:
    """Decides pairs in which one or both are trees, each by itself, and keeps what was found out."""

    def __init__(self, stream: Stream, queries: Queries, terms: Terms) -> None:
        """`queries` gives those of places."""
        self.stream = stream
        self.queries = queries
        self.terms = terms
        self._terms: dict[int, list[Term] | None] = {}
        self.pairs: list[tuple[int, int]] = []  # places: one, and another that covers it
        self.never: list[int] = []
        self.uncompared: list[int] = []
        self._unsampled_pairs = UNSAMPLED_PAIRS
        self.unknown: list[tuple[int, int, str]] = []

    def decide(self, one: int, other: int) -> bool:
        """Whether the other covers the one; if so, the pair is kept."""
        known = by_alternatives(self._alternatives(one), self._alternatives(other))
        if known is not None:
            self.pairs += [(one, other)] * known
            return known
        answer = ask(self.stream, [self.queries.side(one)], [self.queries.side(other)], self.terms)
        if answer.reason is not None:
            self.unknown.append((one, other, answer.reason))
        if answer.proof is not None:
            self.pairs.append((one, other))
        return answer.proof is not None

    def _alternatives(self, place: int) -> list[Term] | None:
        if place not in self._terms:
            self._terms[place] = _satisfiable(terms_of(self.queries.normal(place).predicate))
        return self._terms[place]

    def decide_all(self, ones: Longs, others: Longs) -> None:
        """The same for many pairs."""
        for one, other in zip(ones.tolist(), others.tolist(), strict=True):
            self.decide(one, other)

    def _rows(self, tree: int) -> list[Row]:
        """Rows that a tree matches, as far as they are found."""
        rows = sample_rows(self.queries.normal(tree), self.stream, lambda: self.queries.side(tree).bound)
        return [row for row in rows if is_flat(row, self.stream)]

    def _is_never(self, tree: int) -> bool:
        return ask(self.stream, [self.queries.side(tree)], [], self.terms).proof is not None

    def candidates(
        self, trees: Sequence[int], version: Version, places: Longs
    ) -> Iterator[tuple[int, list[int]]]:
        """For each tree the places of the others that match all of its rows; one that is never true is noted.

        A tree of which no row is found may be covered by all others that it shares a column with; where these are too
        many, it is noted as not compared.
        """
        rows = []
        for tree in trees:
            found = self._rows(tree)
            if found:
                rows.append((tree, found))
            elif self._is_never(tree):
                self.never.append(tree)
            elif (others := self._neighbours(tree, places)) is not None:
                yield tree, others
            else:
                self.uncompared.append(tree)
        if not rows:
            return
        batch = batch_of([row for _, found in rows for row in found], self.stream)
        starts, numbers = version.match(batch, self.stream.name).lists()
        first = 0
        for tree, found in rows:
            seen = numbers[starts[first] : starts[first + len(found)]]
            first += len(found)
            who, times = np.unique(seen, return_counts=True)
            other = places[who[times == len(found)]]
            yield tree, other[(other >= 0) & (other != tree)].tolist()

    def _neighbours(self, tree: int, places: Longs) -> list[int] | None:
        """All others that share a column with a tree, or are true of every row; None if they are too many."""
        others = places[(places >= 0) & (places != tree)].tolist()
        if len(others) > self._unsampled_pairs:
            return None
        self._unsampled_pairs -= len(others)
        own = self._reads(tree)
        return [other for other in others if not (columns := self._reads(other)) or columns & own]

    def _reads(self, place: int) -> frozenset[str]:
        subjects = [condition.subject for condition in conditions_of(self.queries.normal(place).predicate)]
        return frozenset().union(*map(reads, subjects))

    def all(self, trees: Sequence[int], version: Version, places: Longs) -> Iterator[int]:
        """Decide who of a version covers each of some trees; gives every tree that is done."""
        for start in range(0, len(trees), TREES):
            block = trees[start : start + TREES]
            for tree, others in self.candidates(block, version, places):
                for other in others:
                    self.decide(tree, other)
                yield tree
