"""Whatever fails inside of executors, nobody misses a match: a mistake is put at every stage, one at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine, QuerySet, Stream, reference
from eddyline.config import IndexSettings, OrderSettings
from eddyline.execute.keyed import key_lookup, keyed
from eddyline.execute.kinds import unkeyed
from eddyline.execute.locating import locate
from eddyline.execute.locating import ordinals as ordinals_
from eddyline.execute.locating import strings as strings_
from eddyline.execute.rowwise import rowwise
from eddyline.execute.sliced import families as families_
from eddyline.execute.sliced import formulas as formulas_
from eddyline.execute.sliced import patterns
from eddyline.execute.sliced import sliced as sliced_
from eddyline.execute.steering import choice, live, monitor, rearranging
from eddyline.functions.evaluate import evaluation as evaluation_
from eddyline.kernels import sliced as kernels
from eddyline.model.matches import Matches
from eddyline.model.predicate import Condition

SCHEMA = pa.schema(
    {
        "a": pa.int64(),
        "w": pa.int64(),
        "x": pa.float64(),
        "y": pa.float64(),
        "s": pa.string(),
        "d": pa.decimal128(30, 2),
    }
)
STREAM = Stream("s", SCHEMA)
ADAPTIVE = OrderSettings(period=5, check_every=20, threshold=0, sample_rate=1, monitor_share=1)
SETTINGS = {
    "auto": IndexSettings(order=ADAPTIVE),
    "sliced": IndexSettings(executor="sliced"),
    "keyed": IndexSettings(executor="keyed"),
    "rowwise": IndexSettings(executor="rowwise", order=ADAPTIVE),
}
VICTIM = "upper"  # only the query of this name calls the function
CONJUNCTIONS = {
    **{f"whole {i}": f"a < {7 * i} AND w > {1_000_000 * i}" for i in range(6)},
    **{f"real {i}": f"x BETWEEN {i} AND {2 * i}" for i in range(5)},
    **{f"key {i}": f"s = 's{i}' AND a > {i}" for i in range(9)},
    "present": "y IS NOT NULL",
    "wide": "d > 12.50",
    VICTIM: "upper(s) = 'S3'",
}
OTHERS = {
    **{f"formula {i}": f"x * {i}.5 > y" for i in range(20)},  # a family
    **{f"sum {i}": f"x + y > a + {i}" for i in range(5)},
    **{f"like {i}": f"s LIKE '%{i}%'" for i in range(5)},
    "regex": "s RLIKE '^s[1-4]$' OR a = 3",
    "text": "s < 's4' OR s IS NULL",
}


def texts(name: str) -> dict[str, str]:
    """Row-wise forms and choices are for sets of conjunctions alone."""
    conditions = CONJUNCTIONS if name in ("auto", "rowwise") else {**CONJUNCTIONS, **OTHERS}
    return {
        id: f"SELECT a, {VICTIM if id == VICTIM else 'lower'}(s) AS u FROM s WHERE {sql}"
        for id, sql in conditions.items()
    }


@cache
def batch(rows: int) -> pa.RecordBatch:
    drawn = np.random.default_rng(5)

    def with_nulls(values: list[Any]) -> list[Any]:
        return [None if drawn.random() < 0.1 else value for value in values]

    columns = {
        "a": with_nulls(drawn.integers(-10, 60, rows).tolist()),
        "w": with_nulls(drawn.integers(-(2**40), 2**40, rows).tolist()),
        "x": with_nulls(drawn.normal(3, 4, rows).tolist()),
        "y": with_nulls([float("nan") if v < -6 else v for v in drawn.normal(0, 4, rows).tolist()]),
        "s": with_nulls([f"s{i}" for i in drawn.integers(0, 12, rows).tolist()]),
        "d": with_nulls([int(i) for i in drawn.integers(0, 30, rows)]),
    }
    return pa.record_batch(columns, schema=SCHEMA)


@cache
def expected(name: str, rows: int) -> dict[str, list[int]]:
    found = reference.match(texts(name), batch(rows), streams=[STREAM])
    return {id: found.rows(id).tolist() for id in texts(name)}


def rows_of(matches: Matches, name: str) -> dict[str, list[int]]:
    return {id: matches.rows(id).tolist() for id in texts(name)}


Stage = tuple[Any, str]
LOCATING: list[Stage] = [
    (locate._Presence, "locate"),
    (locate.NumberLocator, "locate"),
    (locate._ByOffset, "locate"),
    (locate._BySearch, "locate"),
    (locate._ByWidth, "locate"),
    (locate._Distinct, "locate"),
    (strings_.Points, "locate"),
    (formulas_.Formulas, "locate"),
    (families_.Families, "locate"),
    (patterns.Patterns, "find"),
    (patterns.Patterns, "_by_grams"),
    (key_lookup._NumberKeys, "look_up"),
    (key_lookup._StringKeys, "look_up"),
    (ordinals_.Checked, "read"),
]
EXECUTING: list[Stage] = [
    (sliced_.Sliced, "match"),
    (sliced_.Sliced, "count"),
    (sliced_.Sliced, "locate"),
    (sliced_.Sliced, "_survivors"),
    (sliced_.Sliced, "_run"),
    (kernels, "run_blocks"),
    (keyed.Keyed, "match"),
    (rowwise.Rowwise, "_visit"),
    (rowwise.Rowwise, "_locate"),
    (rowwise.Rowwise, "_run"),
    (rowwise.Rowwise, "few_left"),
    (unkeyed.UnkeyedExecutor, "visit"),
    (unkeyed.UnkeyedExecutor, "_evaluate"),
]
ADAPTING: list[Stage] = [
    (live.LiveSteering, "_think"),
    (live.LiveSteering, "_answer"),
    (live.LiveSteering, "_look"),
    (monitor.Monitor, "look"),
    (monitor.Monitor, "matched"),
    (rearranging.Rearranging, "think"),
    (rearranging.Rearranging, "passed"),
    (choice.Choice, "pick"),
    (choice.Choice, "note"),
    (choice.Choice, "__init__"),
]


def called(stage: Stage) -> str:
    return f"{getattr(stage[0], '__name__', stage[0])}.{stage[1]}"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "eddyline")
    monkeypatch.setattr(choice, "WARM", 0.0)


def failing(error: BaseException) -> Callable[..., Any]:
    def fail(*arguments: Any, **named: Any) -> Any:
        raise error

    return fail


def served_by(stage: Stage) -> str:
    """Settings under which a stage has work to do."""
    if stage in ADAPTING:
        return "auto"
    if stage[0] in (rowwise.Rowwise, unkeyed.UnkeyedExecutor):
        return "rowwise"
    return (
        "keyed"
        if stage[0] in (key_lookup._NumberKeys, key_lookup._StringKeys, ordinals_.Checked, keyed.Keyed)
        else "sliced"
    )


STAGES = LOCATING + EXECUTING + ADAPTING
WORKING = [(stage, served_by(stage)) for stage in STAGES]
IDLE = [(stage, name) for stage in STAGES for name in SETTINGS if name != served_by(stage)]


@pytest.mark.parametrize(
    ("stage", "name"), [*WORKING, *[pytest.param(*each, marks=pytest.mark.long) for each in IDLE]]
)
def test_every_stage_may_fail(stage: Stage, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = QuerySet.build(texts(name), streams=[STREAM], settings=SETTINGS[name])
    whole = rows_of(queries.match(batch(2_500)), name)  # executors are made
    assert whole == expected(name, 2_500)
    monkeypatch.setattr(*stage, failing(RuntimeError("a mistake")))
    for rows in (40, 2_500, 2_500):
        found = queries.match(batch(rows))
        assert rows_of(found, name) == expected(name, rows) and not found.failed
        assert queries.count(batch(rows)) == {id: len(r) for id, r in expected(name, rows).items()}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_subject_that_cannot_be_computed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its queries count as failed, and are reported once; all others match as ever."""
    error = AssertionError("no upper case today")
    monkeypatch.setitem(evaluation_.KERNELS, VICTIM, failing(error))
    queries = QuerySet.build(texts(name), streams=[STREAM], settings=SETTINGS[name])
    for rows in (40, 2_500, 2_500):
        found = queries.match(batch(rows))
        assert found.failed == {VICTIM: error}
        assert rows_of(found, name) == {**expected(name, rows), VICTIM: []}
        assert queries.count(batch(rows)) == found.counts()
    monkeypatch.undo()
    assert rows_of(queries.match(batch(40)), name) == expected(name, 40), "the next batch is tried again"


def test_a_failure_is_logged_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "eddyline")
    monkeypatch.setitem(evaluation_.KERNELS, VICTIM, failing(AssertionError("no upper case today")))
    queries = QuerySet.build(texts("sliced"), streams=[STREAM])
    for _ in range(3):
        queries.match(batch(40))
    logged = [record.getMessage() for record in caplog.records]
    assert len(logged) == 2 and all(VICTIM in line and "no upper case today" in line for line in logged)


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt()])
@pytest.mark.parametrize("stage", [(locate._ByWidth, "locate"), (sliced_.Sliced, "_run")], ids=called)
def test_what_passes_through(stage: Stage, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = QuerySet.build(texts("sliced"), streams=[STREAM], settings=SETTINGS["sliced"])
    monkeypatch.setattr(*stage, failing(error))
    with pytest.raises(type(error)):
        queries.match(batch(40))


@pytest.mark.parametrize("stage", [(locate._ByWidth, "locate"), (sliced_.Sliced, "_run")], ids=called)
def test_pushes_go_on(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine([STREAM])
    engine.add(texts("sliced"))
    monkeypatch.setattr(*stage, failing(RuntimeError("a mistake")))
    pushed = engine.push("s", batch(500))
    assert not pushed.errors
    counts = {id: len(rows) for id, rows in expected("sliced", 500).items() if rows}
    assert pushed.ledger.queries == counts
    engine.ledger.check()


def test_a_push_names_the_queries_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The condition of one, and the SELECT lists of others, each by itself."""
    engine = Engine([STREAM])
    engine.add(
        {**texts("sliced"), "another": "SELECT a FROM s WHERE upper(s) > 'S4'", "gone": "SELECT * FROM s"}
    )
    engine.remove("gone")
    monkeypatch.setitem(evaluation_.KERNELS, VICTIM, failing(AssertionError("no upper case today")))
    for _ in range(2):
        pushed = engine.push("s", batch(500))
        assert {(error.what, id) for error in pushed.errors for id in error.queries} == {
            ("matching", VICTIM),
            ("matching", "another"),
        }
        wanted = {id: len(rows) for id, rows in expected("sliced", 500).items() if rows and id != VICTIM}
        assert pushed.ledger.queries == wanted
        assert pushed.ledger.total.errors == len(pushed.errors)
    assert engine.ledger.of(VICTIM).errors == engine.ledger.of("another").errors == 2
    assert engine.ledger.of("text").errors == 0
    engine.ledger.check()


def test_regions_of_every_kind_are_looked_up_plainly() -> None:
    """What serves in an emergency is judged as well: by the regions themselves."""
    from eddyline import Compiler
    from eddyline.execute.rescue.plain import inside
    from eddyline.functions.evaluate import Evaluation
    from eddyline.functions.evaluate.arrays import values_of
    from eddyline.model.predicate import conditions_of
    from eddyline.model.query import Query

    compiler = Compiler([STREAM])
    given = batch(300)
    evaluation = Evaluation({name: given.column(name) for name in given.schema.names}, rows=300)
    seen: set[Condition] = set()
    for id, sql in {
        **texts("sliced"),
        "not": "SELECT * FROM s WHERE NOT (x > 2 AND s <> 's1' AND y = y)",
    }.items():
        seen.update(conditions_of(compiler.compile(Query(id, sql)).predicate))
    for condition in seen:
        values = evaluation.values(condition.subject)
        wanted = [value in condition.regions for value in values_of(values, condition.subject.type)]
        assert inside(values, condition).tolist() == wanted, condition


def test_what_was_counted_before_a_failure_is_not_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = QuerySet.build(texts("keyed"), streams=[STREAM], settings=SETTINGS["keyed"])
    monkeypatch.setattr(keyed.Keyed, "match", failing(RuntimeError("a mistake")))
    assert queries.count(batch(500)) == {id: len(rows) for id, rows in expected("keyed", 500).items()}


def test_versions_share_what_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that lacks a query finds the mistake; one that has it goes on with all of its queries."""
    monkeypatch.setitem(evaluation_.KERNELS, VICTIM, failing(AssertionError("no upper case today")))
    older = QuerySet.build(texts("sliced"), streams=[STREAM])
    assert older.executors()
    newer = older.remove(["whole 1", VICTIM])
    monkeypatch.setattr(sliced_.Sliced, "_run", failing(RuntimeError("a mistake")))
    assert not newer.match(batch(40)).failed
    found = older.match(batch(40))
    assert list(found.failed) == [VICTIM]
    assert rows_of(found, "sliced") == {**expected("sliced", 40), VICTIM: []}
    assert not newer.match(batch(40)).failed
