"""How long SQL text takes to become normal form, and which stage takes the time.

The peer is sqlglot's full parser on the same texts, which does less: it neither binds nor normalises.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import sqlglot
from rich.console import Console
from rich.table import Table

from bench.record import Record
from bench.workloads.texts import QUOTES, few_shapes, many_shapes
from eddyline import Compiler, Query
from eddyline.normalize import plan
from eddyline.sql import parse
from eddyline.sql.bind import bind
from eddyline.sql.grammar.tokens import tokenize
from eddyline.sql.template import split

SAMPLE = 2_000


def measure(console: Console, count: int) -> list[Record]:
    """Both workloads: seconds from text to normal form for `count` queries."""
    records = []
    for name, texts in (
        ("compile few shapes", few_shapes(count)),
        ("compile many shapes", many_shapes(count)),
    ):
        compiler = Compiler([QUOTES])
        seconds = _seconds(lambda c=compiler, t=texts: [c.compile(Query(str(i), q)) for i, q in enumerate(t)])
        sample = texts[:SAMPLE]
        peer = (
            _seconds(lambda s=sample: [sqlglot.parse_one(q, dialect="spark") for q in s])
            * count
            / len(sample)
        )
        equal = all(_same(compiler, text) for text in sample)
        records.append(
            Record(name, count, 0, "seconds", seconds, "sqlglot-parse", peer, peer / seconds, equal)
        )
        console.print(_shares(name, sample, seconds / count))
    return records


def _same(compiler: Compiler, text: str) -> bool:
    """The cached way gives what the plain way gives."""
    query = Query("q", text)
    return compiler.compile(query).predicate == Compiler([QUOTES]).compile(query).predicate


def _shares(name: str, sample: list[str], per_query: float) -> Table:
    """Microseconds of each stage when every query is compiled alone, and of the cached way."""
    queries = [Query("q", text) for text in sample]
    bound = [bind(query, [QUOTES]) for query in queries]
    plans = [plan(b) for b in bound]
    steps: list[tuple[str, float]] = [("split into shape and constants", _each(split, sample))]
    tokens, parsing = _each(tokenize, sample), _each(parse, sample)
    binding, planning = _each(lambda q: bind(q, [QUOTES]), queries), _each(plan, bound)
    steps += [
        ("tokenize", tokens),
        ("parse", parsing - tokens),
        ("bind", binding - parsing),
        ("plan", planning),
        ("regions", _each(lambda p: p.instantiate(()), plans)),
    ]
    alone = sum(micros for _, micros in steps[1:])
    table = Table(
        "stage", "us a query", "share of the plain way", title=f"{name}: {per_query * 1e6:.1f} us a query"
    )
    for stage, micros in steps:
        table.add_row(stage, f"{micros:.1f}", "" if stage.startswith("split") else f"{micros / alone:.0%}")
    return table


def _each(function: Callable[[Any], object], items: list[Any]) -> float:
    """Microseconds an item, the best of three rounds without garbage collection: stages are subtracted from one another."""
    gc.collect()
    gc.disable()
    try:
        return min(_seconds(lambda: [function(item) for item in items]) for _ in range(3)) / len(items) * 1e6
    finally:
        gc.enable()


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
