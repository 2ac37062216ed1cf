"""The prover and z3, which reads the bound expressions, agree about conditions with very many constants."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations

import pytest

from tests.comparisons import compared
from tests.conftest import blocks
from tests.relations.agreement import judged_by_z3
from tests.relations.conditions import ATOMS, WIDE, family, few_columns, side_of
from tests.relations.z3_judge import Judge, LeftOut, decide

SIZES = {"columns": 3, "expressions": 2}  # an expression takes the prover ten times as long as a column
FAMILIES = {"columns": 37, "expressions": 19}  # in a block
MEMBERS = 10  # of a family, each of which is compared with all others

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("block", blocks(20, quick=(0,)))
@pytest.mark.parametrize("kind", ATOMS)
def test_agrees_with_z3(kind: str, block: int) -> None:
    rng = random.Random(f"{kind} {block}")
    seen: Counter[tuple[bool | None, bool | None]] = Counter()
    for _ in range(FAMILIES[kind]):
        trees = family(rng, few_columns(kind, rng), MEMBERS, SIZES[kind])
        sides = [side_of(WIDE, tree) for tree in trees]
        judge = Judge(side.bound for side in sides)
        for (tree, one), (second, other) in permutations(zip(trees, sides, strict=True), 2):
            judged = judged_by_z3(one, other, judge)
            assert not judged.wrong, f"{judged.wrong}\n{tree}\n{second}"
            seen[judged.here, judged.judge] += 1
    compared(f"z3: {kind}", seen.total())
    compared(f"z3: {kind}, implied by both", seen[True, True])
    compared(f"z3: {kind}, implied but unknown here", seen[None, True])
    assert seen[True, True] > seen.total() / 10, "too few pairs are implied to learn from"
    assert seen[None, True] < seen.total() / 8, "too many implications are not found"
    assert sum(count for (_, theirs), count in seen.items() if theirs is None) < seen.total() / 100


@pytest.mark.parametrize(
    ("one", "other", "implied"),
    [
        ("a < 3", "a <= 2", True),
        ("x < 3", "x <= 2", False),
        ("x > 1D", "x > double('inf') OR x <= double('inf')", True),
        ("x > double('inf')", "isnan(x)", True),
        ("x = 0D", "x = -0D", True),
        ("x < 4.9E-324D", "x <= 0", True),
        ("a = 3", "a <=> 3", True),
        ("a IS NULL", "NOT (a = 3)", False),
        ("a NOT IN (1, NULL)", "false", True),
        ("a + 1 > a", "a < 2147483647", True),
        ("a < 2147483647", "a + 1 > a", True),
        ("abs(a) < 0", "false", True),
        ("-k IS NULL", "k IS NULL OR k = -9223372036854775808", True),
        ("CAST(k AS INT) IS NOT NULL", "k < 2147483648", True),
        ("CAST(k AS TINYINT) = k", "k >= -128", True),
        ("s > 'a'", r"s >= 'a\0'", True),
        ("s > 'a' AND s < 'b'", "s = 'ab'", False),
        (r"s > 'a' AND s < 'a\0\0'", r"s = 'a\0'", True),
        ("s < 'a' AND t < s", "t < 'a'", True),
        ("f < g", "g AND NOT f", True),
        ("a < b AND b < 3", "a < 2", True),
        ("k < l AND k > 9223372036854775806", "false", True),
        ("CASE WHEN a > 3 THEN 1 END = 1", "a >= 4", True),
        ("if(f, a, b) > 3", "a > 3 OR b > 3", True),
        ("coalesce(a, 0) = 0", "a = 0", False),
    ],
)
def test_z3_knows(one: str, other: str, implied: bool) -> None:
    assert decide(side_of(WIDE, one).bound, side_of(WIDE, other).bound) is implied


def test_what_is_not_encoded_is_left_out() -> None:
    with pytest.raises(LeftOut, match="like"):
        decide(side_of(WIDE, "s LIKE 'a_'").bound, side_of(WIDE, "s > 'a'").bound)
    with pytest.raises(LeftOut, match="cast from int to double"):
        decide(side_of(WIDE, "a > 2.5D").bound, side_of(WIDE, "x > 1").bound)
