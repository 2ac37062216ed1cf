"""Formulas that differ in one constant alone, placed together, are what they are one by one."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.config import IndexSettings
from eddyline.execute.sliced import families, family_index, formulas

STREAM = Stream(
    "quotes",
    pa.schema([("a", pa.float64()), ("b", pa.float64()), ("n", pa.int64()), ("s", pa.string())]),
)
SIDES = ["a * {}", "{} * (a - b)", "a + {}", "{} - n", "(a * b) - {}"]
OPERATORS = ["<", "<=", ">", ">="]
CONSTANTS = [
    -math.inf,
    -1e300,
    -2.5,
    -1.0,
    -1e-300,
    -0.0,
    0.0,
    1e-300,
    0.1,
    0.3,
    0.5,
    0.7,
    1.0,
    1.5,
    1e300,
    math.inf,
    math.nan,
]
SPECIAL = [0.0, -0.0, 1.0, -2.5, 5e-324, math.nan, math.inf, -math.inf, 1e308, None]


def _texts() -> dict[str, str]:
    """Comparisons of every form with every constant, on both sides, some with another condition."""
    found = {}
    for form, operator, (place, constant) in product(SIDES, OPERATORS, enumerate(CONSTANTS)):
        side = form.format(f"{constant}D" if math.isfinite(constant) else f"double('{constant}')")
        found[f"{side} {operator}"] = f"{side} {operator} {'b' if place % 2 else 'n * 2D'}"
        found[f"{operator} {side}"] = f"b {operator} {side}"
        if place % 5 == 0:
            found[f"{operator} {side} and"] = f"b {operator} {side} AND s = 'x'"
    return {id: f"SELECT * FROM quotes WHERE {text}" for id, text in found.items()}


def _batch() -> pa.RecordBatch:
    """Every special value beside every other, and more rows than fit into one block."""
    rng = np.random.default_rng(3)
    pairs = list(product(SPECIAL, SPECIAL))
    a = [x for x, _ in pairs] + np.round(rng.normal(0, 2, 1_000), 1).tolist()
    b = [y for _, y in pairs] + np.round(rng.normal(0, 2, 1_000), 1).tolist()
    n = [None if x == 3 else int(x) for x in rng.integers(-3, 4, len(a))]
    s = rng.choice(["x", "y"], len(a)).tolist()
    return pa.record_batch(
        [pa.array(a), pa.array(b), pa.array(n, pa.int64()), pa.array(s)], schema=STREAM.schema
    )


def _rows(texts: dict[str, str], direct: str = "auto") -> tuple[list[dict[str, list[int]]], int]:
    """The rows of every query in all, some and only ordinary rows of the batch, and how many questions families serve."""
    settings = IndexSettings(executor="sliced", direct=direct)  # type: ignore[arg-type]
    queries = QuerySet.build(texts, streams=[STREAM], settings=settings)
    found = []
    for part in (_batch(), _batch().slice(7, 600), _batch().slice(100)):
        matches = queries.match(part)
        found.append({id: matches.rows(id).tolist() for id in texts})
        assert queries.count(part) == {id: len(rows) for id, rows in found[-1].items()}
    executors = queries.executors()
    return found, sum(
        len(f.members) for executor in executors for f in executor.unkeyed.sliced._families.families
    )


@pytest.mark.parametrize("direct", ["auto", "always", "never"])
def test_families_give_what_the_evaluator_gives(direct: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "FEWEST", 4)
    monkeypatch.setattr(family_index, "FEWEST", 4)
    together, served = _rows(_texts(), direct)
    assert served > 350
    monkeypatch.setattr(families, "FEWEST", 1_000_000)
    assert _rows(_texts(), direct) == (together, 0)
    monkeypatch.setattr(formulas, "FEWEST", 1_000_000)
    assert _rows(_texts(), direct) == (together, 0)


def test_families_are_cut_into_such_that_have_ids_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {str(i): f"SELECT * FROM quotes WHERE a * {1 + i / 100}D > b" for i in range(100)}
    whole, served = _rows(texts)
    monkeypatch.setattr(families, "MOST", 30)
    assert (served, _rows(texts)) == (100, (whole, 100))


def test_questions_about_nulls_stay_by_themselves() -> None:
    alone = {str(i): f"SELECT * FROM quotes WHERE a * {1 + i / 100}D > b" for i in range(40)}
    more = {
        "no": "SELECT * FROM quotes WHERE (a * 1.01D > b) IS NOT TRUE",
        "null": "SELECT * FROM quotes WHERE (a * 1.02D > b) IS NULL",
    }
    queries = QuerySet.build(alone | more, streams=[STREAM], settings=IndexSettings(executor="sliced"))
    sliced = queries.executors()[0].unkeyed.sliced
    assert [len(family.members) for family in sliced._families.families] == [40]
    assert len(sliced.index.shelves[0].subjects) == 2
    found = queries.match(_batch())
    assert set(found.rows("no")) == set(range(_batch().num_rows)) - set(found.rows("1"))
    assert len(found.rows("null")) and not set(found.rows("null")) & set(found.rows("2"))


def test_conjunctions_without_formulas_are_still_compared_directly() -> None:
    mixed = {
        str(i): f"SELECT * FROM quotes WHERE a * {1 + i / 100}D > b AND n = {i % 7 - 3}" for i in range(40)
    }
    plain = {f"p{i}": f"SELECT * FROM quotes WHERE n > {i % 5} AND s = '{i}'" for i in range(9)}
    texts = dict(sorted((mixed | plain).items()))
    settings = IndexSettings(executor="sliced", direct="always")
    queries = QuerySet.build(texts, streams=[STREAM], settings=settings)
    sliced = queries.executors()[0].unkeyed.sliced
    assert sliced.index.program.direct.sizes.tolist() == [9]
    alone = {
        id: QuerySet.build({id: text}, streams=[STREAM]).match(_batch()).rows(id)
        for id, text in texts.items()
    }
    found = queries.match(_batch())
    assert {id: found.rows(id).tolist() for id in texts} == {id: rows.tolist() for id, rows in alone.items()}
    assert queries.count(_batch()) == {id: len(rows) for id, rows in alone.items()}
