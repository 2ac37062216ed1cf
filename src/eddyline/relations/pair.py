"""Two queries of one stream, or two joins of the same streams, and what can be asked about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from eddyline.compile import Compiler
from eddyline.errors import QueryError, UsageError
from eddyline.implication.search import Budget
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.expression import Expression
from eddyline.model.join import BoundJoin, Normal, NormalJoin
from eddyline.model.query import Query
from eddyline.relations.joins.pairs import CompiledJoin, JoinedPairs, JoinSide
from eddyline.relations.proof_text import proof_lines
from eddyline.relations.question import Answer, Row, Side, Terms, ask
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


Asked = TypeVar("Asked")
_Asked = TypeVar("_Asked", contravariant=True)


class Rows(Protocol[_Asked]):
    """What two queries are asked about: rows of a stream, or pairs of rows that are joined."""

    def ask(self, wanted: Sequence[_Asked], unwanted: Sequence[_Asked], terms: Terms) -> Answer:
        """Whether a row can satisfy all that are wanted and none that are unwanted."""

    def readable(self, row: Row) -> dict[str, Any]:
        """A row as people and Arrow want it."""

    def text(self, row: Row, sides: Iterable[_Asked]) -> str:
        """A row on one line: what the queries read of it."""

    def render(self, expression: Expression) -> str:
        """An expression over such rows, as people write it."""


@dataclass(frozen=True, slots=True)
class StreamRows:
    """The rows of one stream."""

    stream: Stream

    def ask(self, wanted: Sequence[Side], unwanted: Sequence[Side], terms: Terms) -> Answer:
        """Whether a row can satisfy all that are wanted and none that are unwanted."""
        return ask(self.stream, wanted, unwanted, terms)

    def readable(self, row: Row) -> dict[str, Any]:
        """A row as people and Arrow want it."""
        return readable(row, self.stream)

    def text(self, row: Row, sides: Iterable[Side]) -> str:
        """The columns that the queries read."""
        return f"row {row_text(row, self.stream, frozenset().union(*[side.reads for side in sides]))}"

    def render(self, expression: Expression) -> str:
        """An expression as SQL."""
        return render(expression)


@dataclass(frozen=True, slots=True)
class Pair(Generic[Asked]):
    """Two queries of one stream, or two joins of the same streams; `names` are what texts call them."""

    rows: Rows[Asked]
    one: Asked
    other: Asked
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
        join_window: Length | None = None,
    ) -> Pair[Any]:
        """From SQL texts; a `QueryError` for what is no query, a `UsageError` for texts that cannot be compared."""
        for each, place in ((a, "first"), (b, "second")):
            if not isinstance(each, str):
                raise UsageError(f"the {place} query is of type {type(each).__name__}, not an SQL text")
        if budget is not None and not isinstance(budget, Budget):
            raise UsageError(f"budget is {budget!r}", hint="say ed.Budget(splits=..., seconds=...)")
        declared = [streams] if isinstance(streams, Stream) else list(streams)
        compiler = Compiler(declared, time_zone=time_zone, join_window=join_window)
        texts = [given] if isinstance(given, str) else list(given)
        return Pair.compiled(compiler, (Query("a", a), Query("b", b)), texts, budget)

    @staticmethod
    def compiled(
        compiler: Compiler,
        queries: tuple[Query, Query],
        given: Sequence[str] = (),
        budget: Budget | None = None,
    ) -> Pair[Any]:
        """The same, for who has a compiler."""
        one, other = (compiler.compile(query) for query in queries)
        _check_comparable(one, other)
        if not (isinstance(one, NormalJoin) and isinstance(other, NormalJoin)):
            return _selections(compiler, queries, (one, other), given, budget or Budget())
        if given:
            raise UsageError(
                "conditions that are given apply to the rows of one stream, not to joins",
                hint="ask about the conditions on that stream alone",
            )
        return _joins(compiler, queries, (one, other), budget or Budget())

    def swapped(self) -> Pair[Asked]:
        """The same pair, seen from the other query."""
        return Pair(self.rows, self.other, self.one, self.terms, self.names[::-1])

    def implies(self) -> Relation:
        """Whether every row that satisfies the one satisfies the other."""
        return self._told(IMPLIES, self._ask([self.one], [self.other]))

    def equivalent(self) -> Relation:
        """Whether both are satisfied by the same rows."""
        ways = [self, self.swapped()]
        answers = [way._ask([way.one], [way.other]) for way in ways]
        for way, answer in zip(ways, answers, strict=True):
            if answer.row is not None:
                return way._told(EQUIVALENT, answer)
        return self._told(EQUIVALENT, *answers)

    def disjoint(self) -> Relation:
        """Whether no row satisfies both."""
        return self._told(DISJOINT, self._ask([self.one, self.other], []))

    def never_true(self) -> Relation:
        """Whether no row satisfies the one."""
        return self._told(NEVER_TRUE, self._ask([self.one], []))

    def relate(self) -> Related:
        """All of these at once."""
        forward, backward, apart = self.implies(), self.swapped().implies(), self.disjoint()
        if apart and (forward or backward):
            never = (self if forward else self.swapped()).never_true()
            return Related("never true", str(never), forward, backward, apart)
        if forward or backward:
            verdict = "equivalent" if forward and backward else "implies" if forward else "implied by"
            told = [forward, backward] if forward else [backward, forward]
        elif apart:
            verdict, told = "disjoint", [apart]
        else:
            told = [forward, backward, apart]
            verdict = "unknown" if "unknown" in [each.verdict for each in told] else "overlapping"
        return Related(verdict, "\n".join(map(str, told)), forward, backward, apart)

    def _ask(self, wanted: Sequence[Asked], unwanted: Sequence[Asked]) -> Answer:
        return self.rows.ask(wanted, unwanted, self.terms)

    def _told(self, wording: Wording, *answers: Answer) -> Relation:
        names = {"a": self.names[0], "b": self.names[1]}
        holds = wording.holds.format(**names)
        for answer in answers:
            if answer.row is not None:
                shown = (
                    f"{self.rows.text(answer.row, (self.one, self.other))} {wording.shown.format(**names)}"
                )
                text = f"{wording.fails.format(**names)}\n  {shown} (checked)"
                return Relation(f"not {wording.verdict}", text, row=self.rows.readable(answer.row))
        for answer in answers:
            if answer.reason is not None:
                return Relation("unknown", f"unknown whether {holds}: {answer.reason}", reason=answer.reason)
        proofs = tuple([answer.proof for answer in answers if answer.proof is not None])
        lines = [holds, *(f"  {line}" for proof in proofs for line in proof_lines(proof, self.rows.render))]
        return Relation(wording.verdict, "\n".join(lines), proofs)


def _check_comparable(one: Normal, other: Normal) -> None:
    """Only queries of one stream, and joins of the same streams, have the same rows."""
    kinds = ["joins two streams" if isinstance(each, NormalJoin) else "reads one" for each in (one, other)]
    if kinds[0] != kinds[1]:
        raise UsageError(
            f"the first query {kinds[0]}, the second one {kinds[1]}",
            hint="relations are decided between queries of one stream, and between joins of the same streams",
        )
    read, also = (_streams(each) for each in (one, other))
    if read != also:
        verb = "join" if isinstance(one, NormalJoin) else "read"
        raise UsageError(
            f"the queries {verb} different streams, {read} and {also}",
            hint="relations are decided between queries of one stream, and between joins of the same streams",
        )


def _streams(normal: Normal) -> str:
    names = (
        [source.stream for source in normal.sources] if isinstance(normal, NormalJoin) else [normal.stream]
    )
    return " with ".join(f'"{name}"' for name in sorted(names))


def _selections(
    compiler: Compiler,
    queries: tuple[Query, Query],
    normals: tuple[Normal, Normal],
    given: Sequence[str],
    budget: Budget,
) -> Pair[Side]:
    one, other = (_side(compiler, query, normal) for query, normal in zip(queries, normals, strict=True))
    stream = next(stream for stream in compiler.streams if stream.name == one.bound.stream)
    terms = Terms([_given(compiler, stream, text) for text in given], budget)
    return Pair(StreamRows(stream), one, other, terms)


def _joins(
    compiler: Compiler, queries: tuple[Query, Query], joins: tuple[NormalJoin, NormalJoin], budget: Budget
) -> Pair[JoinSide]:
    pairs = JoinedPairs.of(joins[0].sources, compiler)
    one, other = (
        pairs.side(CompiledJoin(compiler, query, join)) for query, join in zip(queries, joins, strict=True)
    )
    return Pair(pairs, one, other, Terms(budget=budget))


def side(compiler: Compiler, query: Query) -> Side:
    """A query as the search and the reference evaluator see it."""
    return _side(compiler, query, compiler.compile(query))


def _side(compiler: Compiler, query: Query, normal: Normal) -> Side:
    bound = compiler.bind(query)
    if isinstance(bound, BoundJoin) or isinstance(normal, NormalJoin):
        raise QueryError(
            "it joins streams, and is asked about as a query of one", query=query.id, sql=query.sql
        )
    return Side(bound, normal)


def _given(compiler: Compiler, stream: Stream, condition: str) -> Side:
    """A condition that no row violates: it is true or NULL of each."""
    return side(
        compiler, Query("given", f"SELECT * FROM {name(stream.name)} WHERE ({condition}) IS NOT FALSE")
    )
