"""The public functions: verdicts, texts, rows and refusals; hostile queries stay within the budget."""

from __future__ import annotations

import random
import time

import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.errors import QueryError, UsageError
from eddyline.implication.check_proof import ProofError, check_proof
from eddyline.implication.proof import Proof, SplitBy
from eddyline.model.regions import Regions

BARS = ed.Stream(
    "bars",
    pa.schema([("low", pa.float64()), ("high", pa.float64()), ("name", pa.string()), ("n", pa.int32())]),
)
OTHER = ed.Stream("other", pa.schema([("n", pa.int32())]))


def bars(condition: str) -> str:
    return f"SELECT * FROM bars WHERE {condition}"


def implied(one: str, other: str, **terms: object) -> str:
    return ed.implies(bars(one), bars(other), streams=BARS, **terms).verdict  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ("n > 3 AND n < 5", "n = 4", "implied"),
        ("n = 4", "n > 3 AND n < 5", "implied"),
        ("low > 3 AND low < 5", "low = 4", "not implied"),
        ("n IS NOT NULL", "n < 0 OR n >= 0", "implied"),
        ("low IS NOT NULL", "low < 0 OR low >= 0", "implied"),
        ("low IS NOT NULL", "low < 0 OR low <= 0", "not implied"),
        ("true", "n < 0 OR n >= 0", "not implied"),
        ("low < high AND high < 3", "low < 3", "implied"),
        ("low < high AND high < low", "false", "implied"),
        ("low = high", "low <=> high", "implied"),
        ("low <=> high", "low = high", "not implied"),
        ("name LIKE 'abc%'", "name LIKE '%b%'", "implied"),
        ("name LIKE 'a%'", "name >= 'a' AND name < 'b'", "implied"),
        ("name >= 'a' AND name < 'b'", "startswith(name, 'a')", "implied"),
        ("name RLIKE 'error: [0-9]+'", "contains(name, 'error')", "implied"),
        ("name = 'A'", "lower(name) = 'a'", "implied"),
        ("lower(name) = 'a'", "name IS NOT NULL", "implied"),
        ("coalesce(name, 'x') = 'y'", "name IS NOT NULL", "implied"),
        ("coalesce(n, 0) > 4", "n > 3", "implied"),
        ("n > 4", "coalesce(n, 0) > 3", "implied"),
        ("if(low > 1, n, 7) = 3", "low > 1 AND n = 3", "implied"),
        (
            "CASE WHEN low > 1 THEN 1 WHEN name = 'a' THEN 2 ELSE 0 END = 2",
            "name = 'a' AND (low <= 1 OR low IS NULL)",
            "implied",
        ),
        (
            "name = 'a' AND low <= 1",
            "CASE WHEN low > 1 THEN 1 WHEN name = 'a' THEN 2 ELSE 0 END = 2",
            "implied",
        ),
        ("n + 1 > 4", "n > 3", "implied"),
        ("n > 3", "n + 1 > 4", "not implied"),  # the largest int overflows
    ],
)
def test_implied(one: str, other: str, verdict: str) -> None:
    assert implied(one, other) == verdict


def test_what_is_given() -> None:
    assert implied("low > 10", "high > 10") == "not implied"
    assert implied("low > 10", "high > 10", given=["low <= high", "high IS NOT NULL"]) == "implied"
    assert implied("low > 10", "high > 10", given="low <= high") == "not implied", "a CHECK lets NULL pass"


def test_relations_tell_what_they_are() -> None:
    same = ed.equivalent(bars("n > 3"), "SELECT n FROM bars WHERE NOT n <= 3", streams=BARS)
    assert same and len(same.proofs) == 2 and "are equivalent" in str(same)
    apart = ed.disjoint(bars("n > 3"), bars("n < 2"), streams=BARS)
    assert apart and apart.proof is not None
    never = ed.never_true(bars("n > 3 AND n < 2"), streams=BARS)
    assert never.verdict == "never true"
    assert ed.relate(bars("n > 3"), bars("n > 1"), streams=BARS).verdict == "implies"
    assert ed.relate(bars("n > 1"), bars("n > 3"), streams=BARS).verdict == "implied by"
    assert ed.relate(bars("n > 3"), bars("n > 3 AND n < 2"), streams=BARS).verdict == "never true"


def test_a_row_can_be_pushed() -> None:
    kinds = [
        ("d", pa.date32()),
        ("t", pa.timestamp("us", "UTC")),
        ("w", pa.timestamp("us")),
        ("l", pa.list_(pa.int8())),
    ]
    stream = ed.Stream("s", pa.schema([*kinds, ("m", pa.decimal128(5, 2)), ("b", pa.bool_())]))
    text = "d > DATE'2026-01-01' AND t IS NOT NULL AND w < '2020-01-01' AND l IS NOT NULL AND m > 1.5 AND b"
    queries = {"a": f"SELECT * FROM s WHERE {text}", "b": "SELECT * FROM s WHERE d IS NULL"}
    found = ed.implies(queries["a"], queries["b"], streams=stream)
    batch = pa.RecordBatch.from_pylist([dict(found.row or {})], stream.schema)
    assert ed.QuerySet.build(queries, streams=[stream]).match(batch).counts() == {"a": 1, "b": 0}


def test_refusals() -> None:
    both = [BARS, OTHER]
    with pytest.raises(UsageError, match='different streams, "bars" and "other"'):
        ed.implies(bars("n > 3"), "SELECT * FROM other", streams=both)
    with pytest.raises(QueryError, match="nothing"):
        ed.implies(bars("nothing > 3"), bars("n > 3"), streams=both)
    with pytest.raises(QueryError, match="n >"):
        ed.implies(bars("n > 3"), bars("n > 3"), streams=both, given=["n >"])


def test_a_large_tree_is_decided_or_given_up_in_time() -> None:
    rng = random.Random(3)

    def tree(atoms: int) -> str:
        clauses = []
        for _ in range(atoms // 3):
            three = [
                f"{rng.choice(['n', 'low', 'high'])} {rng.choice('<>')} {rng.randrange(1000)}"
                for _ in range(3)
            ]
            clauses.append("(" + " OR ".join(three) + ")")
        return " AND ".join(clauses)

    one, other = bars(tree(300)), bars(tree(300))
    found = ed.implies(one, other, streams=BARS, budget=ed.Budget(splits=50, seconds=60))
    assert found.verdict != "unknown" or "given up after 50 splits" in str(found.reason)
    begun = time.process_time()
    ed.implies(one, other, streams=BARS, budget=ed.Budget(seconds=0.01))
    assert time.process_time() - begun < 5


def test_many_values() -> None:
    values = [str(value) for value in range(0, 10_000, 2)]
    some = bars(f"n IN ({', '.join(values[:-1])})")
    everyone = bars(f"n IN ({', '.join(values)})")
    assert ed.implies(some, everyone, streams=BARS)
    assert ed.implies(everyone, some, streams=BARS).row == {
        "low": None,
        "high": None,
        "name": None,
        "n": 9998,
    }


def test_patterns_that_blow_automata_up() -> None:
    found = ed.implies(
        bars(f"name LIKE '%a{'_' * 40}b%c'"), bars(f"name LIKE '%a%{'_' * 39}%b%'"), streams=BARS
    )
    assert found.verdict in ("implied", "unknown")


def test_the_checker_notices_wrong_proofs() -> None:
    proof = ed.implies(bars("n > 3 OR low < 1"), bars("n > 2 OR low < 2"), streams=BARS).proof
    assert proof is not None
    check_proof(proof)
    with pytest.raises(ProofError):
        check_proof(Proof(proof.goals, proof.steps[:-1]))
    with pytest.raises(ProofError):
        check_proof(Proof(proof.goals, (*proof.steps, proof.steps[-1])))
    widened = [
        SplitBy(step.subject, step.regions | Regions.below(-5, closed=False))
        if isinstance(step, SplitBy)
        else step
        for step in proof.steps
    ]
    with pytest.raises(ProofError):
        check_proof(Proof(proof.goals, tuple(widened)))
