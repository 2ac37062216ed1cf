"""Two queries of one stream, and what can be asked about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.compile import Compiler
from eddyline.errors import QueryError, UsageError
from eddyline.implication.search import Budget
from eddyline.model.catalog import Stream
from eddyline.model.join import BoundJoin, NormalJoin
from eddyline.model.query import Query
from eddyline.relations.proof_text import proof_lines
from eddyline.relations.question import Answer, Side, Terms, ask
from eddyline.relations.readable_rows import readable, row_text
from eddyline.relations.relation import Related, Relation
from eddyline.sql.render import name, render


@dataclass(frozen=True, slots=True)
class Wording:
    """How a relation is told: its verdict, as a sentence, its opposite as a sentence, and what a row shows."""

    verdict: str
    holds: str
    fails: str
    shown: str


IMPLIES: Final = Wording("implied", "{a} implies {b}", "{a} does not imply {b}", "satisfies only {a}")
EQUIVALENT: Final = Wording(
    "equivalent", "{a} and {b} are equivalent", "{a} and {b} are not equivalent", "satisfies only {a}"
)
DISJOINT: Final = Wording(
    "disjoint", "{a} and {b} are disjoint", "{a} and {b} are not disjoint", "satisfies both"
)
NEVER_TRUE: Final = Wording("never true", "{a} is never true", "{a} can be true", "satisfies it")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two queries of one stream; `names` are what texts call them."""

    stream: Stream
    one: Side
    other: Side
    terms: Terms
    names: tuple[str, str] = ("the first query", "the second query")

    @staticmethod
    def of(
        a: str,
        b: str,
        streams: Stream | Sequence[Stream],
        given: Iterable[str] = (),
        budget: Budget | None = None,
        time_zone: str = "UTC",
    ) -> Pair:
        """From SQL texts; a `QueryError` for what is no query, a `UsageError` for texts over different streams."""
        declared = [streams] if isinstance(streams, Stream) else list(streams)
        compiler = Compiler(declared, time_zone=time_zone)
        one, other = side(compiler, Query("a", a)), side(compiler, Query("b", b))
        if one.bound.stream != other.bound.stream:
            raise UsageError(
                f'the queries read different streams, "{one.bound.stream}" and "{other.bound.stream}"',
                hint="relations are decided between queries of one stream",
            )
        stream = next(stream for stream in compiler.streams if stream.name == one.bound.stream)
        texts = [given] if isinstance(given, str) else list(given)
        sides = [_given(compiler, stream, text) for text in texts]
        return Pair(stream, one, other, Terms(sides, budget or Budget()))

    def swapped(self) -> Pair:
        """The same pair, seen from the other query."""
        return Pair(self.stream, self.other, self.one, self.terms, self.names[::-1])

    def implies(self) -> Relation:
        """Whether every row that satisfies the one satisfies the other."""
        return self._told(IMPLIES, ask(self.stream, [self.one], [self.other], self.terms))

    def equivalent(self) -> Relation:
        """Whether both are satisfied by the same rows."""
        ways = [self, self.swapped()]
        answers = [ask(way.stream, [way.one], [way.other], way.terms) for way in ways]
        for way, answer in zip(ways, answers, strict=True):
            if answer.row is not None:
                return way._told(EQUIVALENT, answer)
        return self._told(EQUIVALENT, *answers)

    def disjoint(self) -> Relation:
        """Whether no row satisfies both."""
        return self._told(DISJOINT, ask(self.stream, [self.one, self.other], [], self.terms))

    def never_true(self) -> Relation:
        """Whether no row satisfies the one."""
        return self._told(NEVER_TRUE, ask(self.stream, [self.one], [], self.terms))

    def relate(self) -> Related:
        """All of these at once."""
        forward, backward, apart = self.implies(), self.swapped().implies(), self.disjoint()
        if apart and (forward or backward):
            never = (self if forward else self.swapped()).never_true()
            return Related("never true", str(never), forward, backward, apart)
        if forward or backward:
            verdict = "equivalent" if forward and backward else "implies" if forward else "implied by"
            told = [forward, backward] if forward else [backward, forward]
            if "unknown" in (forward.verdict, backward.verdict):
                verdict = "unknown"
        elif apart:
            verdict, told = "disjoint", [apart]
        else:
            told = [forward, backward, apart]
            verdict = "unknown" if "unknown" in [each.verdict for each in told] else "overlapping"
        return Related(verdict, "\n".join(map(str, told)), forward, backward, apart)

    def _told(self, wording: Wording, *answers: Answer) -> Relation:
        names = {"a": self.names[0], "b": self.names[1]}
        holds = wording.holds.format(**names)
        for answer in answers:
            if answer.row is not None:
                shown = row_text(answer.row, self.stream, self.one.reads | self.other.reads)
                text = f"{wording.fails.format(**names)}\n  row {shown} {wording.shown.format(**names)} (checked)"
                return Relation(f"not {wording.verdict}", text, row=readable(answer.row, self.stream))
        for answer in answers:
            if answer.reason is not None:
                return Relation("unknown", f"unknown whether {holds}: {answer.reason}", reason=answer.reason)
        proofs = tuple([answer.proof for answer in answers if answer.proof is not None])
        lines = [holds, *(f"  {line}" for proof in proofs for line in proof_lines(proof, render))]
        return Relation(wording.verdict, "\n".join(lines), proofs)


def side(compiler: Compiler, query: Query) -> Side:
    """A query as the search and the reference evaluator see it."""
    bound, normal = compiler.bind(query), compiler.compile(query)
    if isinstance(bound, BoundJoin) or isinstance(normal, NormalJoin):
        raise QueryError("relations of joins are not decided yet", query=query.id, sql=query.sql)
    return Side(bound, normal)


def _given(compiler: Compiler, stream: Stream, condition: str) -> Side:
    """A condition that no row violates: it is true or NULL of each."""
    return side(
        compiler, Query("given", f"SELECT * FROM {name(stream.name)} WHERE ({condition}) IS NOT FALSE")
    )
