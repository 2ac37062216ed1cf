"""What the suite runs over: configurations, random queries with the reference's matches, and what has to be equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from eddyline import Compiler, reference
from eddyline.config import ExecutorName, IndexSettings, OrderSettings
from eddyline.errors import QueryError
from eddyline.index.rowwise.asc import is_conjunction
from eddyline.index.sliced.sliced import build_sliced
from eddyline.model.matches import Matches
from eddyline.model.query import NormalQuery, Query
from eddyline.order.strategies.factory import STRATEGIES
from eddyline.queryset import QuerySet
from eddyline.sql import bind
from eddyline.testing.queries import statement
from eddyline.testing.rows import EVERYTHING, nasty_rows
from eddyline.testing.text import statement_text
from tests.comparisons import compared


def ordered(executor: ExecutorName = "rowwise", **settings: Any) -> IndexSettings:
    """Row by row, reconsidered all the time: every tuple is looked at, and periods are short."""
    order = OrderSettings(period=5, check_every=20, threshold=0, sample_rate=1, monitor_share=1, **settings)
    return IndexSettings(executor=executor, order=order)


BLOCK = 250
ROWS = 60
CONFIGURATIONS = {
    "auto": IndexSettings(),
    "sliced": IndexSettings(executor="sliced"),
    "sliced, no pre-filter": IndexSettings(executor="sliced", prefilter="off"),
    "sliced, all masks": IndexSettings(executor="sliced", direct="never"),
    "sliced, no masks": IndexSettings(executor="sliced", direct="always"),
    "keyed": IndexSettings(executor="keyed"),
    "rowwise": IndexSettings(executor="rowwise"),
    "auto, no row-wise form": IndexSettings(rowwise_bytes=0),
    "auto in segments": IndexSettings(segment_size=17),
    "auto, order reconsidered": ordered("auto"),
    "sliced in segments": IndexSettings(executor="sliced", segment_size=40),
    "keyed in segments": IndexSettings(executor="keyed", segment_size=7),
    "rowwise in segments": IndexSettings(executor="rowwise", segment_size=13),
    **{f"order {name}": ordered(strategy=name) for name in STRATEGIES},
}
Queries = dict[str, str]


def built(queries: Mapping[str, str], configuration: str) -> QuerySet:
    """A set under a configuration; a text is brought into normal form once, however many sets have it."""
    with patch.object(Compiler, "compile", lambda _, query: replace(_normal(query.sql), id=query.id)):
        return QuerySet.build(queries, streams=[EVERYTHING], settings=CONFIGURATIONS[configuration])


_COMPILE = partial(Compiler.compile, Compiler([EVERYTHING]))  # as it is before it is patched


@cache
def _normal(sql: str) -> NormalQuery:
    return _COMPILE(Query("", sql))


def in_turn(values: Sequence[object], every: int) -> list[object]:
    """Pairs of a configuration and a value: one of so many for `make test`, with each configuration and value in it.

    The others are for `make test-long`.
    """
    return [
        pytest.param(name, value, marks=() if (place + number) % every == 0 else pytest.mark.long)
        for place, name in enumerate(CONFIGURATIONS)
        for number, value in enumerate(values)
    ]


@cache
def block(number: int) -> tuple[Queries, pa.RecordBatch, Matches]:
    """250 random queries, nasty rows, and the matches."""
    seeds = range(number * BLOCK, (number + 1) * BLOCK)
    return judged({str(seed): statement_text(statement(seed)) for seed in seeds}, nasty_rows(number, ROWS))


@cache
def conjunctions(number: int) -> tuple[Queries, pa.RecordBatch, Matches]:
    """Plain conjunctions without patterns, the queries that every executor serves."""
    seeds = range(number * BLOCK, (number + 1) * BLOCK)
    texts = {str(seed): statement_text(statement(seed, size=5)) for seed in seeds}
    plain = {id: sql for id, sql in texts.items() if binds(sql) and _is_plain(sql)}
    return judged(plain, nasty_rows(number, ROWS))


def _is_plain(sql: str) -> bool:
    predicate = Compiler([EVERYTHING]).compile(Query("q", sql)).predicate
    return is_conjunction(predicate) and not build_sliced([predicate], [0]).patterns


def judged(texts: Queries, batch: pa.RecordBatch) -> tuple[Queries, pa.RecordBatch, Matches]:
    queries = {id: sql for id, sql in texts.items() if binds(sql)}
    return queries, batch, reference.match(queries, batch, streams=[EVERYTHING])


def binds(sql: str) -> bool:
    try:
        bind(Query("q", sql), [EVERYTHING])
    except QueryError:
        return False
    return True


def check(found: Matches, expected: Matches, queries: Mapping[str, str]) -> None:
    compared("reference: matches", len(queries))
    wrong = [sql for id, sql in queries.items() if found.rows(id).tolist() != expected.rows(id).tolist()]
    assert not wrong, f"{len(wrong)} of {len(queries)} differ, such as {min(wrong, key=len)}"
    assert found.pairs() == expected.pairs()
    assert found.counts() == expected.counts()
    assert found.query_lists() == expected.query_lists()
