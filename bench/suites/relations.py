"""`relations`: what of a set is redundant, beside DuckDB's hand-written join for that one shape; how many pairs are decided.

alerts   seconds until all covers are known, of a set that is compiled; DuckDB joins the table of the rules' bounds with itself
paper    the same, beside the seconds that building the set takes; who is covered is compared with a search through all pairs
or       the same for alerts of two alternatives, which are no boxes
sigma    the same for real rules; and the share of pairs, drawn among those that share a subject, about which there is a verdict
columns  the same share of pairs drawn within each file of SQLite's logic tests, whose conditions are about columns alone; and
         seconds a pair, beside z3, which is given the bound conditions and, as we are, has to give a row where there is one
new      seconds until all relations of one more query to a set are known, beside those of the whole set; and those of a
         command that shows one, with the compiled set that commands keep and without, beside one that only starts
"""

from __future__ import annotations

import ctypes
import gc
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console

from bench import measure
from bench.measure import Setting
from bench.record import Record
from bench.workloads import alerts, paper, sigma, sqlite_logic
from bench.workloads.predicates import All, Compare
from bench.workloads.workload import Workload
from eddyline import Compiler, Query, QuerySet, Stream
from eddyline.model.expression import Column
from eddyline.model.predicate import conditions_of
from eddyline.relations import Redundancies
from eddyline.relations.pair import side
from eddyline.relations.question import Side, Terms, ask
from tests.relations.z3_judge import Judge, LeftOut, decide

PAIRS: Final = 1_000
COLUMN_PAIRS: Final = 100_000
Z3_PAIRS: Final = 600
LIMIT: Final = 1e9  # bytes
COMPARED: Final = 10_000  # queries of which every pair is looked at
# a range without an end does not reach as far as a column that nobody names: it leaves out NULL
NO_END: Final = 1 << 35
UNNAMED: Final = 1 << 40
Ends = npt.NDArray[np.int64]
COVERS: Final = """
    SELECT DISTINCT a.query FROM rules a JOIN rules b
    ON a.symbol = b.symbol AND b.low <= a.low AND b.high >= a.high AND b.least <= a.least AND a.query <> b.query
"""


def run(setting: Setting) -> Iterator[Record]:
    """All lines."""
    for size in setting.sizes(10_000, 100_000):
        yield from _alerts(size)
    for size in setting.sizes(10_000, 100_000):
        load = paper.workload(size)
        expected = _by_all_pairs(load) if size <= COMPARED else None
        yield from _covers("paper covers", load.texts, load.stream, expected)
    for load in [alerts.workload(size, shape="or") for size in setting.sizes(10_000)]:
        yield from _covers("alerts or covers", load.texts, load.stream)
    if setting.sizes(1_000_000) == [1_000_000]:
        load = alerts.workload(1_000_000)
        yield from _covers("alerts covers", load.texts, load.stream)
    yield from _sigma(setting)
    yield from _columns(setting)


def _alerts(size: int) -> Iterator[Record]:
    workload = alerts.workload(size)
    queries = _built(workload.texts, workload.stream)
    found = queries.redundancies()  # kernels are loaded
    mine = measure.seconds(queries.redundancies, warm_ups=0)
    theirs: list[pa.Table] = []
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("rules", workload.rules["alerts"])
        peer = measure.once(lambda: theirs.append(connection.sql(COVERS).to_arrow_table()))
    expected = {str(query) for query in theirs[0].column("query").to_pylist()}
    equal = _covered(found) | _firsts(found) == expected
    yield Record("alerts covers", size, 0, "seconds", mine, "duckdb", peer, peer / mine, equal)
    proofs = measure.seconds(lambda: queries.redundancies(proofs=True), warm_ups=1)
    yield Record("alerts proofs", size, 0, "seconds", proofs, "duckdb", peer, peer / proofs, equal)
    texts = list(workload.texts.values())
    new = [Query("new", texts[n]) for n in range(0, size, size // 20)]
    listed = [queries.relations(query) for query in new]
    call = measure.seconds(lambda: [queries.relations(query) for query in new]) / len(new)
    same = all("equivalent" in each.table["relation"].to_pylist() for each in listed)
    yield Record("new query", size, 0, "seconds", call, "whole set", mine, mine / call, same)
    covered = found.table.filter(pc.field("relation") == "implied")["query"][0].as_py()
    yield from _commands(texts, int(covered))


def _commands(texts: Sequence[str], covered: int) -> Iterator[Record]:
    """Seconds that a process takes which shows a query and its relatives, beside one that only starts."""
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.sql"
        rules.write_text("".join(f"-- name: q{n}\n{text};\n" for n, text in enumerate(texts)))
        schema = "quotes=symbol STRING, price DOUBLE, volume BIGINT"
        _command(folder, "query", "import", str(rules), "--schema", schema)
        start, _ = _command(folder, "--version")
        without, first = _command(folder, "query", "show", f"q{covered}", "--json")
        kept, again = _command(folder, "query", "show", f"q{covered}", "--json")
    covers = json.loads(first)["relations"]["covered_by"]
    equal = first == again and len(covers) > 0
    for name, seconds in (("new query, kept set", kept), ("new query, no set", without)):
        yield Record(name, len(texts), 0, "seconds", seconds, "start", start, start / seconds, equal)


def _command(folder: str, *words: str) -> tuple[float, str]:
    """CPU seconds of a command, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "eddyline_command", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def _covers(
    name: str, texts: Mapping[str, str], stream: Stream, expected: set[str] | None = None
) -> Iterator[Record]:
    """Seconds beside those of building; then the memory that the search takes beside the set."""
    built: list[QuerySet] = []
    building = measure.once(lambda: built.append(_built(texts, stream)))
    found: list[Redundancies] = []
    before = _start_of_peak()
    mine = measure.once(lambda: found.append(built[0].redundancies()))
    peak = float(max(1, _kilobytes("VmHWM") - before) * 1024)
    equal = expected is None or _covered(found[0]) == expected
    yield Record(name, len(texts), 0, "seconds", mine, "build", building, building / mine, equal)
    yield Record(name, len(texts), 0, "bytes", peak, "limit", LIMIT, LIMIT / peak, equal)


def _built(texts: Mapping[str, str], stream: Stream) -> QuerySet:
    """A set that is compiled."""
    queries = QuerySet.build(texts, streams=[stream])
    queries.match(stream.schema.empty_table())
    return queries


def _covered(found: Redundancies) -> set[str]:
    return set(found.table.column("query").to_pylist())


def _firsts(found: Redundancies) -> set[str]:
    return set(found.table.filter(pc.field("relation") == "equivalent")["other"].to_pylist())


def _start_of_peak() -> int:
    """Let the peak of this process's memory start anew: what it has now, without what is free, in kilobytes.

    As Linux counts it, for tracing it would take five times as long.
    """
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _kilobytes("VmRSS")


def _kilobytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _by_all_pairs(workload: Workload) -> set[str]:
    """Who is covered by another query, or the same as an earlier one: every pair is looked at."""
    names = list(workload.stream.types)
    shape = workload.queries, len(names)
    lows, highs = np.full(shape, -UNNAMED, np.int64), np.full(shape, UNNAMED, np.int64)
    for number in range(workload.queries):
        predicate = workload.predicate(number)
        assert isinstance(predicate, All)
        for part in predicate.parts:
            assert isinstance(part, Compare) and isinstance(part.value, int)
            place, value = names.index(part.column), part.value
            low, high = {"<": (None, value - 1), "<=": (None, value), ">": (value + 1, None)}.get(
                part.operator, (value, None if part.operator == ">=" else value)
            )
            lows[number, place] = -NO_END if low is None else low
            highs[number, place] = NO_END if high is None else high
    return {str(number) for number in range(workload.queries) if _has_cover(number, lows, highs)}


def _has_cover(number: int, lows: Ends, highs: Ends) -> bool:
    wider = ((lows <= lows[number]) & (highs >= highs[number])).all(axis=1)
    equal = wider & ((lows == lows[number]) & (highs == highs[number])).all(axis=1)
    return bool((wider & ~equal).any() or equal[:number].any())


def _sigma(setting: Setting) -> Iterator[Record]:
    data = sigma.folder()
    if data is None:
        Console().print("the rules of sigma are skipped: their data is not here (set EDDYLINE_TEST_DATA)")
        return
    load = sigma.load(data)
    yield from _covers("sigma covers", load.texts, load.stream)
    sides = _sides(load.texts.values(), load.stream)
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


def _sides(texts: Iterable[str], stream: Stream) -> list[Side]:
    compiler = Compiler([stream])
    return [side(compiler, Query("q", sql)) for sql in texts]


def _columns(setting: Setting) -> Iterator[Record]:
    data = sqlite_logic.folder()
    if data is None:
        Console().print("SQLite's logic tests are skipped: they are not here (set EDDYLINE_TEST_DATA)")
        return
    rng = random.Random(1)
    count = setting.rows(COLUMN_PAIRS)
    files = [(file.stream, _different(_sides(file.texts, file.stream))) for file in sqlite_logic.load(data)]
    size = sum(len(sides) for _, sides in files)
    decided = [
        ask(stream, [one], [other], Terms()).reason is None
        for stream, sides in files
        for one, other in _drawn(sides, count // len(files), rng)
    ]
    share = sum(decided) / len(decided)
    yield Record("columns pairs", size, len(decided), "decided", share, "all", 1.0, share, True)
    few = [
        (stream, one, other)
        for stream, sides in files
        for one, other in _drawn(list(filter(_is_read_by_z3, sides)), Z3_PAIRS // len(files), rng)
    ]
    found: list[bool] = []
    judged: list[bool | None] = []
    mine = measure.once(
        lambda: found.extend([ask(stream, [a], [b], Terms()).proof is not None for stream, a, b in few])
    ) / len(few)
    theirs = measure.once(lambda: judged.extend([decide(a.bound, b.bound) for _, a, b in few])) / len(few)
    yield Record(
        "columns pairs", size, len(few), "seconds", mine, "z3", theirs, theirs / mine, found == judged
    )


def _drawn(sides: Sequence[Side], count: int, rng: random.Random) -> list[tuple[Side, Side]]:
    return [(one, other) for one, other in (rng.sample(sides, 2) for _ in range(count))]


def _is_read_by_z3(side: Side) -> bool:
    try:
        Judge([side.bound])
    except LeftOut:
        return False
    return True


def _different(sides: Iterable[Side]) -> list[Side]:
    """Those with different conditions that are about columns alone."""
    first = {each.normal.predicate: each for each in sides}
    return [
        each
        for predicate, each in first.items()
        if all(isinstance(condition.subject, Column) for condition in conditions_of(predicate))
    ]
