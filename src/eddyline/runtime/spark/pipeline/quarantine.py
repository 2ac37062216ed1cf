"""Queries whose functions fail on data: they are disabled in the registry, so that the next version is without them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

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
    """Disable the queries that call what failed, where the settings say so; what there is to tell.

    Of calls that no query of the version has there is nothing to tell.
    """
    if not culprits:
        return []
    calling = list(_callers(shop, facts, source.stream.name))
    used = {call for _, _, called in calling for call in called}
    told = [f"{pin_text(call)} counts as NULL: {culprits[call]}" for call in culprits if call in used]
    for number, query, called in calling if shop.settings.quarantine else []:
        call = next((call for call in called if call in culprits), None)
        if call is None:
            continue
        reason = f"{pin_text(call)} fails: {culprits[call]}"
        try:
            change = shop.registry.quarantine(query.id, reason, revision=int(facts.table.revision[number]))
            if not change.changed:  # somebody has changed or removed it meanwhile
                continue
            told.append(f'query "{query.id}" is disabled: {reason}')
        except (
            EddylineError
        ) as error:  # a registry that is locked: the call counts as NULL, again in the next batch
            told.append(f'query "{query.id}" could not be disabled: {error.message}')
        event(log, told[-1], level=logging.WARNING, query=query.id, source=source.settings.name)
    return told


def idle_calls(shop: Workshop, facts: Facts, stream: str) -> set[str]:
    """Calls that have failed before and that no query of the version has any more, by their text.

    A compiled set goes on asking for the calls of queries that were taken out of it, until it is compiled anew. The
    queries are read only where something has failed, and once a version.
    """
    if not shop.failed_calls:
        return set()
    key = (facts.table.version, stream)
    used = shop.used_calls.get(key)
    if used is None:
        used = {pin_text(call) for _, _, called in _callers(shop, facts, stream) for call in called}
        newest = {other: calls for other, calls in list(shop.used_calls.items()) if other[0] == key[0]}
        shop.used_calls = {**newest, key: used}  # a new one: other sources may be reading the old
    return shop.failed_calls - used


def _callers(shop: Workshop, facts: Facts, stream: str) -> Iterator[tuple[int, Query, list[Call]]]:
    """The queries over a stream that have calls that only Spark can compute, with these."""
    compiler = Compiler(facts.queries.streams, time_zone=facts.queries.time_zone, resolver=shop.resolver)
    candidates = set(facts.of_stream(stream).tolist())
    for number, query in facts.queries.queries():
        if number in candidates:
            called = _called(compiler.compile(query))
            if called:
                yield number, query, called


def _called(query: NormalQuery) -> list[Call]:
    subjects = [condition.subject for condition in conditions_of(query.predicate)]
    outputs = [output.expression for output in query.outputs]
    return [call for expression in (*subjects, *outputs) for call in externals_of(expression)]
