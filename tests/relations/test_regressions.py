"""Pairs about which a judge and the prover once disagreed, or might: what `python -m tests.fuzz --judge relations` prints."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.relations.agreement import answer_to, columns_alone, verdict_of
from tests.relations.conditions import WIDE, side_of
from tests.relations.tiny import STREAMS


@dataclass(frozen=True)
class Case:
    """Two conditions over a stream of tests/relations, and whether the one implies the other."""

    stream: str
    one: str
    other: str
    implied: bool


CASES = [
    Case("wide", "s > 'a' AND s < 'a\\0\\0'", "s = 'a\\0'", implied=True),
    Case("wide", "x > double('inf')", "isnan(x)", implied=True),
    Case("wide", "x < 4.9E-324D", "x <= -0D", implied=True),
    Case("wide", "a <= 2147483647", "a IS NOT NULL", implied=True),
    Case("wide", "a + 1 > a", "a < 2147483647", implied=True),
    Case("wide", "k < l AND k > 9223372036854775806", "false", implied=True),
    Case("columns", "NOT (a <=> 1)", "a <> 1", implied=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.one} implies {case.other}")
def test_regression(case: Case) -> None:
    stream = WIDE if case.stream == "wide" else STREAMS[case.stream].stream
    one, other = side_of(stream, case.one), side_of(stream, case.other)
    verdict = verdict_of(answer_to(stream, one, other))
    assert verdict is case.implied or (verdict is None and not columns_alone(one, other))
