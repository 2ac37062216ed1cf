"""Which queries of a version call what only Spark can compute.

A compiled set asks for the calls of all queries that were ever compiled into it. Who of those that stand calls what is
found by compiling the ones again whose texts name such a function: only where somebody wants to know, once a version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from eddyline.compile import Compiler
from eddyline.model.expression import EXTERNAL, SPARK_TEXT, Call, Expression, externals_of
from eddyline.model.predicate import conditions_of
from eddyline.model.query import Query
from eddyline.runtime.spark.functions import pin_text
from eddyline.runtime.spark.pipeline.batch.version_plan import VersionPlan
from eddyline.sql.resolver import Resolver


@dataclass(frozen=True, slots=True)
class Caller:
    """A query that calls what only Spark has, in its condition or in its SELECT list."""

    number: int
    query: Query
    in_condition: tuple[Call, ...]
    in_outputs: tuple[Call, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys((*self.in_condition, *self.in_outputs)))


class Callers:
    """The callers of a pipeline's versions; those of the newest are remembered. Threads may share it."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._known: dict[tuple[int, str], tuple[Caller, ...]] = {}

    def of(self, plan: VersionPlan, stream: str) -> tuple[Caller, ...]:
        """The callers among the queries over a stream."""
        key = (plan.table.version, stream)
        found = self._known.get(key)
        if found is None:
            found = tuple(_callers(plan, stream, self._resolver))
            newest = {other: callers for other, callers in list(self._known.items()) if other[0] == key[0]}
            self._known = {**newest, key: found}  # a new one: other sources may be reading the old
        return found

    def idle(self, plan: VersionPlan, stream: str) -> set[str]:
        """The calls, by their text, that only queries have which do not stand any more: nobody needs their values."""
        if not _has_leftovers(plan, stream):
            return set()
        used = {pin_text(call) for caller in self.of(plan, stream) for call in caller.calls}
        return {pin_text(call) for call in plan.externals(stream)} - used


def _has_leftovers(plan: VersionPlan, stream: str) -> bool:
    """Whether queries were taken out of a part of the set that asks Spark for something."""
    own = [placed for placed in plan.queries.placed() if placed.segment.stream == stream]
    asking = [placed.numbering for placed in own if placed.segment.externals]
    return any(not np.isin(numbering.all(), plan.numbers).all() for numbering in asking)


def _callers(plan: VersionPlan, stream: str, resolver: Resolver) -> Iterator[Caller]:
    names = _names(plan.externals(stream))
    compiler = Compiler(plan.queries.streams, time_zone=plan.queries.time_zone, resolver=resolver)
    candidates = set(plan.of_stream(stream).tolist()) if names else set()
    for number, query in plan.queries.queries() if names else ():
        text = query.sql.lower()
        if number not in candidates or not any(name in text for name in names):
            continue
        normal = compiler.selection(query, "a pipeline on Spark")
        subjects = [condition.subject for condition in conditions_of(normal.predicate)]
        outputs = [output.expression for output in normal.outputs]
        caller = Caller(number, query, _inside(subjects), _inside(outputs))
        if caller.calls:
            yield caller


def _names(calls: Iterable[Call]) -> set[str]:
    """The names of functions, one of which a text must have that calls any of these; whole texts may be written anew."""
    functions = [call.function for call in calls]
    return {"" if function == SPARK_TEXT else function.removeprefix(EXTERNAL) for function in functions}


def _inside(expressions: Iterable[Expression]) -> tuple[Call, ...]:
    return tuple(dict.fromkeys(call for expression in expressions for call in externals_of(expression)))
