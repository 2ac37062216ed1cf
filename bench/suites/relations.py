"""`relations`: what of a set is redundant, beside DuckDB's hand-written join for that one shape; how many pairs are decided.

alerts   seconds until all covers are known, of a set that is compiled; DuckDB joins the table of the rules' bounds with itself
sigma    the share of pairs of real rules, drawn among those that share a subject, about which there is a verdict; no peer
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

import duckdb
import pyarrow as pa
from rich.console import Console

from bench import measure
from bench.measure import Setting
from bench.record import Record
from bench.workloads import alerts, sigma
from eddyline import Compiler, Query, QuerySet, Stream
from eddyline.model.predicate import conditions_of
from eddyline.relations import Redundancies
from eddyline.relations.pair import side
from eddyline.relations.question import Side, Terms, ask

PAIRS: Final = 1_000
COVERS: Final = """
    SELECT DISTINCT a.query FROM rules a JOIN rules b
    ON a.symbol = b.symbol AND b.low <= a.low AND b.high >= a.high AND b.least <= a.least AND a.query <> b.query
"""


def run(setting: Setting) -> Iterator[Record]:
    """All lines."""
    for size in setting.sizes(10_000, 100_000):
        yield _alerts(size)
    yield from _sigma(setting)


def _alerts(size: int) -> Record:
    workload = alerts.workload(size)
    queries = QuerySet.build(workload.texts, streams=[workload.stream])
    queries.match(workload.batch(1_000))
    found: list[Redundancies] = []
    mine = measure.once(lambda: found.append(queries.redundancies()))
    theirs: list[pa.Table] = []
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("rules", workload.rules["alerts"])
        peer = measure.once(lambda: theirs.append(connection.sql(COVERS).to_arrow_table()))
    covered = set(found[0].table.column("query").to_pylist())
    first = set(found[0].table.filter(pa.compute.field("relation") == "equivalent")["other"].to_pylist())
    expected = {str(query) for query in theirs[0].column("query").to_pylist()}
    return Record(
        "alerts covers", size, 0, "seconds", mine, "duckdb", peer, peer / mine, covered | first == expected
    )


def _sigma(setting: Setting) -> Iterator[Record]:
    data = sigma.folder()
    if data is None:
        Console().print("the rules of sigma are skipped: their data is not here (set EDDYLINE_TEST_DATA)")
        return
    load = sigma.load(data)
    sides = _sides(load.texts, load.stream)
    by_subject: dict[object, list[Side]] = {}
    for each in sides:
        for subject in {condition.subject for condition in conditions_of(each.normal.predicate)}:
            by_subject.setdefault(subject, []).append(each)
    shared = [several for several in by_subject.values() if len(several) > 1]
    rng = random.Random(1)
    count = setting.rows(10 * PAIRS) // 10
    decided = 0
    for _ in range(count):
        one, other = rng.sample(rng.choice(shared), 2)
        decided += ask(load.stream, [one], [other], Terms()).reason is None
    yield Record(
        "sigma pairs", len(sides), count, "decided", decided / count, "all", 1.0, decided / count, True
    )


def _sides(texts: dict[str, str], stream: Stream) -> list[Side]:
    compiler = Compiler([stream])
    return [side(compiler, Query(id, sql)) for id, sql in texts.items()]
