"""Threads that share a set: it is compiled once, whoever comes first, and each version keeps its own queries."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream, reference
from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.execute.placed import Placed
from eddyline.model.query import Query
from eddyline.standing.merging.building import Building
from eddyline.standing.rows.table import SavedRows, Table, checksums

TICKS = Stream("ticks", pa.schema({"a": pa.int64(), "s": pa.string()}))
BATCH = pa.record_batch({"a": list(range(100)), "s": [f"s{i % 7}" for i in range(100)]})
THREADS = 8


def texts(first: int, count: int) -> dict[str, str]:
    return {
        f"q{i}": f"SELECT * FROM ticks WHERE a < {i} OR s = 's{i % 9}'" for i in range(first, first + count)
    }


def expected(queries: dict[str, str]) -> dict[str, int]:
    return reference.match(queries, BATCH, streams=[TICKS]).counts()


@contextmanager
def eager_switches() -> Iterator[None]:
    """Threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(work: list[Callable[[], Any]]) -> list[Any]:
    """Everything at once, each in a thread of its own."""
    start = threading.Barrier(len(work))

    def run(task: Callable[[], Any]) -> Any:
        start.wait()
        return task()

    with eager_switches(), ThreadPoolExecutor(len(work)) as pool:
        return [future.result() for future in [pool.submit(run, task) for task in work]]


def test_threads_that_come_while_another_one_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = QuerySet.build(texts(0, 20), streams=[TICKS])
    compiling, calls, made = threading.Event(), [], Building.segments

    def slow(*arguments: Any) -> list[Placed]:
        calls.append(1)
        found = made(*arguments)
        compiling.set()
        threading.Event().wait(0.05)  # the others come now
        return found

    monkeypatch.setattr(Building, "segments", slow)
    with ThreadPoolExecutor(THREADS) as pool:
        first = pool.submit(queries.match, BATCH)
        assert compiling.wait(10)
        others = [pool.submit(queries.match, BATCH) for _ in range(THREADS - 2)]
        grown = pool.submit(lambda: queries.add(texts(20, 1)).match(BATCH))
        counts = [each.result().counts() for each in [first, *others]]
    assert counts == [expected(texts(0, 20))] * len(counts)
    assert queries.match(BATCH).counts() == counts[0]
    assert grown.result().counts() == expected(texts(0, 21))
    assert len(calls) == 2, "once for the set, once for the one that grew out of it"


@pytest.mark.parametrize("executor", ["auto", "sliced", "rowwise"])
def test_first_matches_beside_changes(executor: Any) -> None:
    """Eight threads match first while others add to the same set and remove from it."""
    wanted, settings = expected(texts(0, 30)), IndexSettings(executor=executor)
    more = {n: expected({**texts(0, 30), **texts(100 * n, 3)}) for n in range(1, 5)}
    fewer = {n: {id: c for id, c in wanted.items() if id != f"q{n}"} for n in range(1, 5)}
    for _ in range(3):
        queries = QuerySet.build(texts(0, 30), streams=[TICKS], settings=settings)

        def grown(n: int, queries: QuerySet = queries) -> tuple[dict[str, int], dict[str, int]]:
            larger, smaller = queries.add(texts(100 * n, 3)), queries.remove([f"q{n}"])
            return larger.match(BATCH).counts(), smaller.match(BATCH).counts()

        work: list[Callable[[], Any]] = [lambda q=queries: q.match(BATCH).counts() for _ in range(THREADS)]
        found = together(work + [lambda n=n, grown=grown: grown(n) for n in more])
        assert found[:THREADS] == [wanted] * THREADS
        assert found[THREADS:] == [(more[n], fewer[n]) for n in more]
        assert queries.match(BATCH).counts() == wanted and len(queries) == 30


def test_a_compiler_that_threads_share() -> None:
    class Slow(dict[Any, Any]):
        """Another thread has its turn after every look."""

        def __contains__(self, key: object) -> bool:
            found = super().__contains__(key)
            time.sleep(1e-4)
            return found

        def pop(self, *arguments: Any) -> Any:
            found = super().pop(*arguments)
            time.sleep(1e-4)
            return found

    compiler = Compiler([TICKS])
    compiler._shapes = Slow()
    alone = {
        n: Compiler([TICKS]).compile(Query("q", f"SELECT * FROM ticks WHERE a < {n}")) for n in range(40)
    }

    def compiled() -> list[Any]:
        return [compiler.compile(query) for query in (Query("q", normal.sql) for normal in alone.values())]

    for found in together([compiled] * THREADS):
        assert [normal.predicate for normal in found] == [normal.predicate for normal in alone.values()]


def test_a_table_that_threads_add_to() -> None:
    """Each version sees what it was given, whether it grew in place or had to be copied."""
    for _ in range(20):
        ids = [f"b{i}" for i in range(50)]
        columns = [pa.chunked_array([values]) for values in (ids, ["x"] * 50, checksums(ids))]
        base, _ = Table.opened(SavedRows(*columns), np.empty(0, np.int64)).add([Query("first", "x")])

        def grown(n: int, base: Table = base) -> Table:
            return base.add([Query(f"{n} {i}", f"text {n}") for i in range(20)])[0]

        for n, table in enumerate(together([lambda n=n, grown=grown: grown(n) for n in range(THREADS)])):
            assert table.size == 71 and base.size == 51
            assert [table.find(f"{n} {i}") for i in range(20)] == list(range(51, 71))
            assert [table.query(number).sql for number in range(51, 71)] == [f"text {n}"] * 20
            assert table.find(f"{(n + 1) % THREADS} 0") is None and base.find(f"{n} 0") is None
            assert table.find("b7") == 7 and table.by_id(range(71))[f"{n} 3"] == 54


def test_executors_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order and the choice keep what they have learned: two of them would each know half of it."""
    executor = QuerySet.build(
        texts(0, 20), streams=[TICKS], settings=IndexSettings(executor="rowwise")
    ).executors()[0]
    keyed = QuerySet.build(
        {"k": "SELECT * FROM ticks WHERE a = 3"}, streams=[TICKS], settings=IndexSettings(executor="keyed")
    ).executors()[0]
    unkeyed, by_key = executor.unkeyed, keyed.executors["keyed"]
    for owner, name in ((unkeyed, "sliced"), (unkeyed, "rowwise"), (executor, "steering"), (by_key, "keyed")):
        found = together([lambda owner=owner, name=name: getattr(owner, name)] * THREADS)
        assert all(each is found[0] for each in found)
