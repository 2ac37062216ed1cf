"""`sigma`: real rules over real events against DuckDB, which evaluates the rules one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.console import Console

from bench import measure
from bench.measure import Setting
from bench.peers import duckdb
from bench.record import Record
from bench.workloads import sigma
from eddyline.queryset import QuerySet

SAMPLE = 5_000


def run(setting: Setting) -> Iterator[Record]:
    """All rules; the peer and the comparison of counts see a sample of the events, spread over all logs."""
    data = sigma.folder()
    if data is None:
        Console().print("sigma is skipped: its data is not here (set EDDYLINE_TEST_DATA)")
        return
    load = sigma.load(data)
    texts = dict(list(load.texts.items())[: setting.queries])
    queryset = QuerySet.build(texts, streams=[load.stream])
    places = np.linspace(0, load.events.num_rows - 1, setting.rows(SAMPLE)).astype(int)
    sample = load.events.take(places)
    expected: dict[str, int] = {}
    rules = duckdb.Rules(texts, sample)
    theirs = sample.num_rows / measure.once(lambda: expected.update(rules()))
    found = queryset.match(sample).counts()
    equal = all(found[id] == count for id, count in expected.items())
    if len(expected) < len(texts):
        Console().print(f"sigma: DuckDB refuses {len(texts) - len(expected)} rules, which are not compared")
    events = load.events.slice(0, setting.rows(load.events.num_rows))
    mine = measure.rate(queryset.match, events)
    yield Record.rates("sigma", len(texts), events.num_rows, "call", mine, "duckdb", theirs, equal)
