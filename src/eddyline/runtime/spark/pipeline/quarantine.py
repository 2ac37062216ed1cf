"""Queries whose functions fail on data: they are disabled in the registry, so that the next version is without them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping

from eddyline.compile import Compiler
from eddyline.errors import EddylineError
from eddyline.model.expression import Call, externals_of
from eddyline.model.predicate import conditions_of
from eddyline.model.query import NormalQuery, Query
from eddyline.runtime.spark.functions import pin_text
from eddyline.runtime.spark.pipeline.facts import Facts
from eddyline.runtime.spark.pipeline.sources import Source
from eddyline.runtime.spark.pipeline.workshop import Workshop
from eddyline.runtime.spark.watching.logs import event

log = logging.getLogger("eddyline.pipeline")


def quarantine(shop: Workshop, facts: Facts, source: Source, culprits: Mapping[Call, str]) -> list[str]:
    """Disable the queries that call what failed, where the settings say so; what there is to tell."""
    told = [f"{pin_text(call)} counts as NULL: {reason}" for call, reason in culprits.items()]
    if not culprits or not shop.settings.quarantine:
        return told
    for number, query, call in users(shop, facts, source.stream.name, culprits):
        reason = f"{pin_text(call)} fails: {culprits[call]}"
        try:
            shop.registry.quarantine(query.id, reason, revision=int(facts.table.revision[number]))
            told.append(f'query "{query.id}" is disabled: {reason}')
        except (
            EddylineError
        ) as error:  # a registry that is locked: the call counts as NULL, again in the next batch
            told.append(f'query "{query.id}" could not be disabled: {error.message}')
        event(log, told[-1], level=logging.WARNING, query=query.id, source=source.settings.name)
    return told


def users(
    shop: Workshop, facts: Facts, stream: str, culprits: Collection[Call]
) -> Iterator[tuple[int, Query, Call]]:
    """The queries that call one of some functions, each with the first one that it calls."""
    compiler = Compiler(facts.queries.streams, time_zone=facts.queries.time_zone, resolver=shop.resolver)
    candidates = set(facts.of_stream(stream).tolist())
    for number, query in facts.queries.queries():
        if number in candidates:
            called = _called(compiler.compile(query))
            first = next((call for call in called if call in culprits), None)
            if first is not None:
                yield number, query, first


def _called(query: NormalQuery) -> list[Call]:
    subjects = [condition.subject for condition in conditions_of(query.predicate)]
    outputs = [output.expression for output in query.outputs]
    return [call for expression in (*subjects, *outputs) for call in externals_of(expression)]
