"""A join as one predicate over pairs of tuples: AND and OR of conditions on columns of either side, keys, distance, the rest.

q.symbol = t.symbol AND t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS AND q.price < 10

And
├── Condition  q.price                    in  (-inf, 10.0)
├── Condition  eq(q.symbol, t.symbol)     in  {True}
└── Condition  elapsed(q.ts, t.ts)        in  [0, 5_000_000]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from eddyline.implication.facts.event_times import between, elapsed
from eddyline.implication.facts.subjects import boolean, inside
from eddyline.model.expression import Column, Expression, walk
from eddyline.model.join import Branch, KeyPart, NormalJoin, Source, virtual_column
from eddyline.model.predicate import And, Condition, Or, Predicate
from eddyline.model.query import BoundQuery
from eddyline.normalize.joins.explain import of_source
from eddyline.normalize.joins.linear import JoinedTimes
from eddyline.normalize.pipeline import combine, normalize
from eddyline.normalize.rewrite import with_columns

ALL: Final = True
ANY: Final = False

Change = Callable[[Expression], Expression]


def join_predicate(
    join: NormalJoin, sources: tuple[Source, Source], times: JoinedTimes, *, swapped: bool
) -> Predicate:
    """What is true of exactly those pairs that satisfy a join, if their event times are known.

    `sources` are what the join's own are called here. `times` are those of the pairs, whose first source is the join's
    second one if they are `swapped`.
    """
    return combine(ANY, [_branch(branch, join, sources, times, swapped) for branch in join.branches])


def _branch(
    branch: Branch, join: NormalJoin, sources: tuple[Source, Source], times: JoinedTimes, swapped: bool
) -> Predicate:
    low, high = branch.window.low, branch.window.high
    parts = [_side(side, source) for side, source in zip(branch.sides, sources, strict=True)]
    parts += [_key(key, sources, times.time_zone) for key in branch.keys]
    parts.append(inside(elapsed(times), between(-high, -low) if swapped else between(low, high)))
    if branch.residual is not None:
        parts.append(_normal(_renamed(branch.residual, join, sources), times.time_zone))
    return combine(ALL, parts)


def _side(side: Predicate, source: Source) -> Predicate:
    return _with_subjects(side, lambda subject: of_source(subject, source))


def _key(key: KeyPart, sources: tuple[Source, Source], time_zone: str) -> Predicate:
    one, other = (
        of_source(expression, source) for expression, source in zip(key.expressions, sources, strict=True)
    )
    return _normal(boolean("null_safe_eq" if key.null_safe else "eq", one, other), time_zone)


def _normal(condition: Expression, time_zone: str) -> Predicate:
    return normalize(BoundQuery("", "", "", condition, (), time_zone)).predicate


def _renamed(expression: Expression, join: NormalJoin, sources: tuple[Source, Source]) -> Expression:
    """An expression over the join's own virtual source, with other aliases."""
    names = {own.alias: source.alias for own, source in zip(join.sources, sources, strict=True)}

    def rename(column: Column) -> Column:
        alias, _, name = column.name.partition(".")
        return Column(virtual_column(names[alias], name), column.type)

    columns = [node for node in walk(expression) if isinstance(node, Column)]
    return with_columns(expression, {column.name: rename(column) for column in columns})


def _with_subjects(predicate: Predicate, change: Change) -> Predicate:
    """The predicate with other subjects, without recursion: trees may be hundreds of levels deep."""
    done: list[Predicate] = []
    pending: list[tuple[Predicate, bool]] = [(predicate, False)]
    while pending:
        current, parts_are_done = pending.pop()
        if isinstance(current, Condition):
            done.append(Condition(change(current.subject), current.regions))
        elif parts_are_done:
            start = len(done) - len(current.parts)
            done[start:] = [(And if isinstance(current, And) else Or)(tuple(done[start:]))]
        else:
            pending.append((current, True))
            pending.extend([(part, False) for part in reversed(current.parts)])
    return done[0]
