"""What makes queries of a change redundant: who is the same, who covers them, and whether any tuple can match.

A change is looked at as a whole. Of several queries that are the same the first stands: one that is registered, else the
first of the change. A query may be covered by one that comes behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from eddyline.admission.candidate import Candidate
from eddyline.admission.listener import Listener, Nobody, SetProgress
from eddyline.admission.present import Present, is_evaluated
from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.join import Normal, NormalJoin
from eddyline.model.predicate import NEVER
from eddyline.model.query import NormalQuery
from eddyline.model.query_state import State
from eddyline.normalize.digest import digest
from eddyline.registry import Entry
from eddyline.relations import Redundancies
from eddyline.relations.newcomer import relations_to
from eddyline.relations.redundancies import redundancies
from eddyline.standing.version import Version

# So many are compared one by one, in some 20 ms each against 100,000; more of them all at once, in some seconds.
FEW: Final = 100
# Where nothing depends on it, more candidates than these, and more pairs of joins, are compared by digests alone.
IN_PASSING: Final = 20_000
JOINS_IN_PASSING: Final = 20_000  # each takes some 0.2 ms
UNCOMPARED: Final = "it was not compared with other queries: no row could be made that satisfies it"
_TOO_MANY: Final = "so many {} were compared by digests alone: query redundancies finds all covers"
MOST_COMPARED: Final = 10  # of those with the same rows, to find one with the same SELECT list

Likeness = Literal["rows", "query", "everything"]
_LIKENESSES: Final[tuple[Likeness, ...]] = ("rows", "query", "everything")
_WORDS: Final[Mapping[Likeness, str]] = {
    "rows": 'it matches the same rows as "{}"{}',
    "query": 'it is the same query as "{}"{}',
    "everything": 'it is the same query as "{}"{}, for the same destination',
}


@dataclass(frozen=True, slots=True)
class Same:
    """Another query with the same rows; with the same SELECT list it is the same query; `everything` is the destination, too."""

    other: Entry
    likeness: Likeness

    def __str__(self) -> str:
        return _WORDS[self.likeness].format(self.other.id, _state(self.other))


@dataclass(frozen=True, slots=True)
class Redundant:
    """What makes one query redundant.

    `alike` are those with the same rows that come before it, the most like it first; `covers` are the tightest that cover
    it, `more` counts others that do, too.
    """

    never: str | None = None  # "tuple" or "pair": what can never match
    alike: Sequence[Same] = ()
    covers: Sequence[Entry] = ()
    more: int = 0
    uncompared: bool = False  # nobody knows, for want of a row that satisfies it

    def __bool__(self) -> bool:
        return bool(self.never or self.alike or self.covers or self.uncompared)

    @property
    def never_text(self) -> str:
        """That nothing can match, in words."""
        return f"no {self.never} can ever match"

    @property
    def cover_text(self) -> str:
        """Who covers it, in words."""
        others = len(self.covers) - 1 + self.more
        rest = "" if not others else f" and {others:,} {'other' if others == 1 else 'others'}"
        return f'every row it matches is also matched by "{self.covers[0].id}"{_state(self.covers[0])}{rest}'

    @property
    def texts(self) -> list[str]:
        """All of it in words; who covers a query covers those that are the same."""
        if self.never is not None:
            return [self.never_text]
        if self.alike:
            return [str(self.alike[0])]
        return [self.cover_text] if self.covers else []


def _state(entry: Entry) -> str:
    return " (in shadow)" if entry.state is State.SHADOW else ""


@dataclass(slots=True)
class _Related:
    """Ids of the queries that are equal to one or cover it, as relations tell; `never` if none can match."""

    never: bool = False
    uncompared: bool = False
    equal: list[str] = field(default_factory=list)
    covers: list[str] = field(default_factory=list)
    more: int = 0


class RedundancySearch:
    """Finds what is redundant among the candidates of one change.

    The candidates have normal forms, are new, and will be evaluated. `leaving` are ids that will not stand after the change
    with the text they have now.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        present: Present,
        compiler: Compiler,
        leaving: Collection[str] = (),
        listener: Listener | None = None,
        in_passing: bool = False,
    ) -> None:
        """`in_passing` says that nothing depends on it: then it must not take much longer than the change itself."""
        self._candidates = {each.entry.id: each for each in candidates}
        self._places = {id: place for place, id in enumerate(self._candidates)}
        self._present = present
        self._compiler = compiler
        self._leaving = {*leaving, *self._candidates}
        self._listener = listener or Nobody()
        self._in_passing = in_passing
        self._normals: dict[str, Normal] = {}  # of queries that stand, by id
        self._others: dict[str, Entry] = {}

    def found(self) -> dict[str, Redundant]:
        """What makes candidates redundant, by id; those that are not are left out."""
        empty = {id: kind for id, each in self._candidates.items() if (kind := _never(each.normal))}
        asking = [each for id, each in self._candidates.items() if id not in empty]
        related = self._related([each for each in asking if _is_comparable(each)])
        same_digest = self._by_digest(asking)
        wanted = {id for each in related.values() for id in (*each.equal, *each.covers)}
        wanted |= {id for ids in same_digest.values() for id in ids}
        self._others = dict(self._present.by_id([id for id in wanted if id not in self._candidates]))
        self._others |= {id: each.entry for id, each in self._candidates.items()}
        found = {id: Redundant(never=kind) for id, kind in empty.items()}
        for each in asking:
            id = each.entry.id
            answer = self._redundant(each, related.get(id) or _Related(), same_digest.get(id, []))
            if answer:
                found[id] = answer
        return found

    def _redundant(self, candidate: Candidate, related: _Related, same_digest: Sequence[str]) -> Redundant:
        if related.never:
            return Redundant(never=_matched(candidate.normal))
        own = self._places[candidate.entry.id]
        equal = list(dict.fromkeys([*same_digest, *related.equal]))
        first = [id for id in equal if self._places.get(id, -1) < own and id in self._others]
        covers = [self._others[id] for id in related.covers if id in self._others and id not in equal]
        covers = [entry for entry in covers if is_evaluated(entry)]
        return Redundant(
            alike=self._alike(candidate, first),
            covers=covers,
            more=related.more,
            uncompared=related.uncompared,
        )

    def _alike(self, candidate: Candidate, ids: Sequence[str]) -> list[Same]:
        """Queries with the same rows, the one that is most like a candidate first."""
        own = candidate.entry.id
        others = [self._others[id] for id in ids if is_evaluated(self._others[id])]
        others = [other for other in others if other.same_as != own][:MOST_COMPARED]  # not its own aliases
        found = [Same(other, self._likeness(candidate, other)) for other in others]
        return sorted(found, key=lambda same: -_LIKENESSES.index(same.likeness))

    def _likeness(self, candidate: Candidate, other: Entry) -> Likeness:
        if not _select_the_same(_normal(candidate), self._normal_form(other)):
            return "rows"
        return "everything" if candidate.entry.destination == other.destination else "query"

    def _normal_form(self, entry: Entry) -> Normal:
        if entry.id in self._candidates:
            return _normal(self._candidates[entry.id])
        if entry.id not in self._normals:
            self._normals[entry.id] = self._compiler.compile(entry.query)
        return self._normals[entry.id]

    def _by_digest(self, candidates: Sequence[Candidate]) -> dict[str, list[str]]:
        """Queries that have the digest of each candidate: registered ones, then those of the change."""
        own = {each.entry.id: each.entry.digest for each in candidates if each.entry.digest is not None}
        sharing: dict[str, list[str]] = {}
        for entry in self._present.by_digest(set(own.values()), self._compiler) if own else ():
            if entry.digest is not None and entry.id not in self._leaving and self._is_confirmed(entry):
                sharing.setdefault(entry.digest, []).append(entry.id)
        for id, found in own.items():
            sharing.setdefault(found, []).append(id)
        return {id: [other for other in sharing[found] if other != id] for id, found in own.items()}

    def _is_confirmed(self, entry: Entry) -> bool:
        """Whether a digest that was kept is that of the text in this change, which may declare streams otherwise."""
        try:
            return is_evaluated(entry) and self._compiler.check(entry.query).digest == entry.digest
        except QueryError:
            return False

    def _related(self, candidates: Sequence[Candidate]) -> dict[str, _Related]:
        if not candidates:
            return {}
        if self._in_passing and len(candidates) > IN_PASSING:
            self._listener.note(_TOO_MANY.format("queries"))
            return {}
        whole = self._present.compiled(self._compiler)
        whole = whole.remove([id for id in self._leaving if whole.table.find(id) is not None])
        joins = sum(isinstance(each.normal, NormalJoin) for each in candidates)
        if self._in_passing and joins * (joins + len(whole.table.alive_joins)) > JOINS_IN_PASSING:
            self._listener.note(_TOO_MANY.format("joins"))
            candidates = [each for each in candidates if not isinstance(each.normal, NormalJoin)]
        are_few = len(candidates) <= FEW
        # A single one need not be among those that it is compared with.
        if len(candidates) > 1 or not are_few:
            whole = whole.add(
                [each.entry.query for each in candidates], [_normal(each) for each in candidates]
            )
        return self._one_by_one(candidates, whole) if are_few else self._all_at_once(whole)

    def _one_by_one(self, candidates: Sequence[Candidate], whole: Version) -> dict[str, _Related]:
        """What candidates have to do with all that would stand after the change."""
        found: dict[str, _Related] = {}
        for done, each in enumerate(candidates):
            self._listener.queries("compared", done, len(candidates))
            related = relations_to(whole, each.entry.query, covers_only=True)
            rows = related.table.to_pylist()
            found[each.entry.id] = _Related(
                any(row["relation"] == "never true" for row in rows),
                bool(related.uncompared),
                [row["other"] for row in rows if row["relation"] == "equivalent"],
                [row["other"] for row in rows if row["relation"] == "implied"],
            )
        return found

    def _all_at_once(self, whole: Version) -> dict[str, _Related]:
        """The same for many, by one search."""
        found = redundancies(whole, progress=SetProgress(self._listener))
        if not found.complete:
            raise KeyboardInterrupt  # the search ends quietly, the change must not be made
        return self._of_all(found)

    def _of_all(self, found: Redundancies) -> dict[str, _Related]:
        """Of equal queries the first is listed with those that cover it; the others have the same covers."""
        related = {id: _Related() for id in self._candidates}
        leaders: dict[str, str] = {}
        covers: dict[str, list[str]] = {}
        columns = (found.table[name].to_pylist() for name in ("query", "relation", "other"))
        for query, relation, other in zip(*columns, strict=True):
            if relation == "implied":
                covers.setdefault(query, []).append(other)
            elif relation == "equivalent":
                leaders[query] = other
            elif query in related:
                related[query].never = True
        for id in related.keys() & set(found.uncompared):
            related[id].uncompared = True
        for id, each in related.items():
            leader = leaders.get(id, id)
            each.equal += [leader] if leader != id else []
            each.covers += covers.get(leader, [])
            each.more = found.more.get(leader, 0)
        return related


def is_compared(candidate: Candidate) -> bool:
    """Whether anybody has to know what a query is the same as.

    It has to be readable here, and to be evaluated; and its text is new, or was not evaluated before.
    """
    is_new = candidate.is_new or (candidate.before is not None and not is_evaluated(candidate.before))
    return is_new and candidate.normal is not None and is_evaluated(candidate.entry)


def _never(normal: Normal | None) -> str | None:
    """What can never match a query by its normal form alone, a tuple or a pair."""
    if normal is None:
        return None
    is_never = not normal.branches if isinstance(normal, NormalJoin) else normal.predicate == NEVER
    return _matched(normal) if is_never else None


def _matched(normal: Normal | None) -> str:
    return "pair" if isinstance(normal, NormalJoin) else "tuple"


def _select_the_same(one: Normal, other: Normal) -> bool:
    """Whether two queries with the same rows deliver the same; those of joins may stand the other way round."""
    if isinstance(one, NormalQuery) and isinstance(other, NormalQuery):
        return one.outputs == other.outputs
    return digest(one, with_outputs=True) == digest(other, with_outputs=True)


def _is_comparable(candidate: Candidate) -> bool:
    """Whether relations are decided of it: not of what only Spark can compute."""
    return candidate.normal is not None and not candidate.entry.spark_only


def _normal(candidate: Candidate) -> Normal:
    assert candidate.normal is not None, "only candidates with a normal form are compared"
    return candidate.normal
