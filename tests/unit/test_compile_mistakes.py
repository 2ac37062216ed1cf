"""A query at which Eddyline itself fails is a problem of that query alone, in whichever step of compiling it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import eddyline.compile
import eddyline.standing.merging.building
from eddyline import Engine, QuerySet, Stream
from eddyline.errors import QueryError
from eddyline.registry import Put, Registry, Verdict

TICKS = Stream("ticks", pa.schema({"a": pa.int64(), "victim": pa.int64()}))
BATCH = pa.record_batch({"a": [1, 2, 3], "victim": [1, 2, 3]})
GOOD = {f"good {i}": f"SELECT a FROM ticks WHERE a > {i}" for i in range(4)}
BAD = {"bad": "SELECT a FROM ticks WHERE victim > 1", "bad too": "SELECT a FROM ticks WHERE victim > 2"}
COUNTS = {"good 0": 3, "good 1": 2, "good 2": 1, "good 3": 0}
ERRORS = [RuntimeError("a mistake"), RecursionError("too deep"), AssertionError("so it is"), KeyError("a")]

COMPILING = [
    [(eddyline.compile, "split")],
    [(eddyline.compile, "bind_text"), (eddyline.compile, "bind")],
    [(eddyline.compile, "plan")],
    [(eddyline.compile, "_normal")],
]
INDEXING = [(eddyline.standing.merging.building, "build_segment")]


def fail_at(monkeypatch: pytest.MonkeyPatch, stages: list[tuple[Any, str]], error: Exception) -> None:
    """Where these get to see the victim."""
    for module, name in stages:
        original: Callable[..., Any] = getattr(module, name)

        def step(*arguments: Any, original: Callable[..., Any] = original, **named: Any) -> Any:
            if "victim >" in repr(arguments) or "Column('victim'" in repr(arguments):
                raise error
            return original(*arguments, **named)

        monkeypatch.setattr(module, name, step)


def check_problem(problem: QueryError, error: Exception) -> None:
    assert problem.query is not None and problem.query.startswith("bad")
    assert f"{type(error).__name__}: {error}" in str(problem)
    assert "this is a bug in Eddyline, please report" in str(problem)
    assert problem.__cause__ is error


STEPS = [pytest.param(step, id=step[0][1]) for step in COMPILING] + [
    pytest.param(INDEXING, id="build_segment")
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("stages", STEPS)
def test_a_build_goes_on(
    stages: list[tuple[Any, str]], error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_at(monkeypatch, stages, error)
    before, *rest = GOOD.items()
    queries = QuerySet.build({**dict([before]), **BAD, **dict(rest)}, streams=[TICKS], on_error="collect")
    assert queries.match(BATCH).counts() == COUNTS
    assert [problem.query for problem in queries.problems] == ["bad", "bad too"]
    for problem in queries.problems:
        check_problem(problem, error)
    assert "bad" not in queries and len(queries) == 4
    grown = queries.add({"good 4": "SELECT a FROM ticks WHERE a = 2"})
    assert grown.match(BATCH).counts() == {**COUNTS, "good 4": 1}


@pytest.mark.parametrize("stages", STEPS)
def test_an_engine_goes_on(stages: list[tuple[Any, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    fail_at(monkeypatch, stages, ERRORS[0])
    engine = Engine([TICKS])
    engine.add(GOOD)
    with pytest.raises(QueryError) as refused:
        engine.add({"another": "SELECT a FROM ticks", **BAD})
    check_problem(refused.value, ERRORS[0])
    assert {id: engine.push("ticks", BATCH).of(id).num_rows for id in GOOD} == COUNTS
    engine.add("after", "SELECT a FROM ticks WHERE a < 3")
    assert engine.push("ticks", BATCH).of("after").num_rows == 2
    engine.ledger.check()


@pytest.mark.parametrize("stages", STEPS)
def test_a_registry_is_taken_over(
    stages: list[tuple[Any, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    registry = Registry.open(str(tmp_path / "registry.db"))
    edits = [Put(id, sql) for id, sql in {**GOOD, **BAD}.items()]
    registry.change(edits, streams=[TICKS], reason="test", check=lambda query: Verdict())
    fail_at(monkeypatch, stages, ERRORS[0])
    engine = Engine(registry=registry)
    assert sorted(problem.query or "" for problem in engine.problems) == ["bad", "bad too"]
    assert {id: engine.push("ticks", BATCH).of(id).num_rows for id in GOOD} == COUNTS
    engine.ledger.check()


def test_what_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_at(monkeypatch, COMPILING[0], MemoryError())
    with pytest.raises(MemoryError):
        QuerySet.build(BAD, streams=[TICKS], on_error="collect")
