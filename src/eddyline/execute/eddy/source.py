"""What an eddy knows of one source: its operators, its queries, and what each query has to wait for.

    operators    0: a   1: b   2: c                       bits of `ready` and `done`
    queries      0: a > 90                mask 001        bits of `completed`
                 1: a > 90 AND b > 70     mask 011
                 2: (a = 1 OR c = 2)      mask 101, disjunct 0

State is partitioned by source, so that a tuple has bits only for what may concern it. A combination of joined sources is
a source of its own kind; nothing here depends on where tuples come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eddyline.errors import EddylineError
from eddyline.execute.eddy.clauses import Clause
from eddyline.execute.eddy.flowing import Arrivals, Bits, Flowing, bits_of
from eddyline.execute.eddy.operator import FILTERS, FilterName, FilterPredicate, Selection
from eddyline.model.asc import subject_text
from eddyline.model.expression import Expression
from eddyline.model.query import NormalQuery


@dataclass(frozen=True, slots=True)
class Registered:
    """A query in its source: `mask` is the completionMask, `disjuncts` the groups that must have held."""

    id: str
    bit: int
    mask: Bits
    disjuncts: Bits
    members: tuple[tuple[int, int], ...]  # operator and place of each of its predicates


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What a removal leaves to be done to tuples in flight: a query's bit to set, bits of operators to clear."""

    query: Bits
    operators: Bits
    selections: tuple[Selection, ...]


class Source:
    """The tables of one source. `capacity` is the number of queries that there is room for in a tuple."""

    def __init__(self, name: str, *, filters: FilterName, capacity: int) -> None:
        self.name = name
        self.capacity = capacity
        self.operators: dict[int, Selection] = {}
        self.queries: dict[int, Registered] = {}
        self._make_filter, self.split = FILTERS[filters]
        self._by_subject: dict[Expression, int] = {}
        self._disjuncts: Bits = 0

    def admit(self, number: int, row: int, arrivals: Arrivals) -> Flowing:
        """A tuple that has just come: all operators ready, queries that do not exist yet completed."""
        ready = sum(1 << bit for bit in self.operators)
        live = sum(1 << bit for bit in self.queries)
        return Flowing(self.name, number, row, arrivals, ready, 0, self.everything & ~live)

    @property
    def everything(self) -> Bits:
        """`completed` of a tuple that nobody waits for any more."""
        return (1 << self.capacity) - 1

    def add(self, query: NormalQuery, clauses: Sequence[Clause]) -> None:
        """Take in a query, sharing the operators that exist."""
        bit = _free(self.queries)
        if bit >= self.capacity:
            raise EddylineError(
                f'source "{self.name}" has no room for more than {self.capacity} queries',
                hint="make the eddy with a larger capacity",
            )
        mask = disjuncts = 0
        members: list[tuple[int, int]] = []
        for clause in clauses:
            group = 0 if len(clause) == 1 else self._new_disjunct()
            disjuncts |= group
            for condition in clause:
                operator = self._operator(condition.subject)
                member = FilterPredicate(condition.regions, rejects=0 if group else 1 << bit, sets=group)
                members.append((operator, self.operators[operator].add(member)))
                mask |= 1 << operator
        self.queries[bit] = Registered(query.id, bit, mask, disjuncts, tuple(members))

    def remove(self, id: str) -> Withdrawn:
        """Take out a query, and the operators that no other one needs."""
        query = next(query for query in self.queries.values() if query.id == id)
        del self.queries[query.bit]
        self._disjuncts &= ~query.disjuncts
        for operator, place in query.members:
            self.operators[operator].discard(place)
        idle = [bit for bit in bits_of(query.mask) if not self.operators[bit].members]
        selections = tuple([self.operators.pop(bit) for bit in idle])
        for selection in selections:
            del self._by_subject[selection.filter.subject]
        return Withdrawn(1 << query.bit, sum(1 << bit for bit in idle), selections)

    def complete(self, flowing: Flowing) -> list[str]:
        """Mark the queries that have seen all they wait for; ids of those that the tuple is output to."""
        outputs = []
        for bit in bits_of(self.everything & ~flowing.completed):
            query = self.queries[bit]
            if flowing.done & query.mask == query.mask:
                flowing.completed |= 1 << bit
                if flowing.disjuncts & query.disjuncts == query.disjuncts:
                    outputs.append(query.id)
        return outputs

    def needed(self, flowing: Flowing) -> Bits:
        """Operators that some query still waits for."""
        needed = 0
        for bit in bits_of(self.everything & ~flowing.completed):
            needed |= self.queries[bit].mask
        return needed & flowing.ready

    def is_finished(self, flowing: Flowing) -> bool:
        """Whether nobody waits for the tuple."""
        return flowing.completed == self.everything

    def _operator(self, subject: Expression) -> int:
        """The bit of a subject's operator, made if there is none."""
        known = self._by_subject.get(subject)
        if known is None:
            known = self._by_subject[subject] = _free(self.operators)
            self.operators[known] = Selection(subject_text(subject), self._make_filter(subject))
        return known

    def _new_disjunct(self) -> Bits:
        """A bit that no group uses. Tuples in flight may have it set from before: their queries are completed."""
        free = ~self._disjuncts & (self._disjuncts + 1)
        self._disjuncts |= free
        return free

    def explain(self) -> str:
        """The tables, for people."""
        width = max(self.operators, default=-1) + 1
        lines = [f"source {self.name}"]
        for bit, selection in sorted(self.operators.items()):
            lines.append(f"  operator {bit}: {selection.name}, {selection.predicates} predicates")
        for bit, query in sorted(self.queries.items()):
            groups = "".join(f", disjunct {group}" for group in bits_of(query.disjuncts))
            mask = "".join(str(query.mask >> each & 1) for each in range(width))
            lines.append(f"  query {bit}: {query.id}, mask {mask}{groups}")
        return "\n".join(lines)


def _free(used: Mapping[int, object]) -> int:
    """The least number that is not used."""
    return next(number for number in range(len(used) + 1) if number not in used)
