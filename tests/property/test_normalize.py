"""Normal forms of random predicates over columns of every type are true for the same tuples as the originals."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.normalize import RULES, normalize, trace, without
from tests.property.normal_forms import (
    bound,
    check_agreement,
    check_shape,
    draw_atom,
    draw_predicate,
    telling_rows,
)

SOURCES = st.randoms(use_true_random=False)
ZONES = st.sampled_from(["UTC", "+05:30", "Europe/Berlin", "America/St_Johns"])


@settings(max_examples=500)
@given(SOURCES, ZONES)
def test_atoms(source: random.Random, time_zone: str) -> None:
    query = bound(draw_atom(source), time_zone)
    normal = normalize(query)
    check_shape(normal.predicate)
    check_agreement(query, normal, telling_rows(query.predicate, normal.predicate, source, 80))


@settings(max_examples=40)
@given(SOURCES, st.integers(1, 30), ZONES)
def test_predicates(source: random.Random, atoms: int, time_zone: str) -> None:
    query = bound(draw_predicate(source, atoms), time_zone)
    normal = normalize(query)
    check_shape(normal.predicate)
    check_agreement(query, normal, telling_rows(query.predicate, normal.predicate, source))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_large_predicates(seed: int) -> None:
    source = random.Random(seed)
    query = bound(draw_predicate(source, 300))
    normal = normalize(query)
    check_shape(normal.predicate)
    check_agreement(query, normal, telling_rows(query.predicate, normal.predicate, source))


@pytest.mark.parametrize("rule", [rule.__name__ for rule in RULES])
@settings(max_examples=40)
@given(SOURCES, st.integers(1, 12))
def test_every_rule_can_be_left_out(rule: str, source: random.Random, atoms: int) -> None:
    query = bound(draw_predicate(source, atoms))
    normal = normalize(query, rules=without(rule))
    check_agreement(query, normal, telling_rows(query.predicate, normalize(query).predicate, source))


@settings(max_examples=40)
@given(SOURCES, st.integers(1, 12), st.sets(st.sampled_from(RULES)))
def test_any_of_the_rules_can_be_left_out(source: random.Random, atoms: int, kept: set[object]) -> None:
    query = bound(draw_predicate(source, atoms))
    normal = normalize(query, rules=tuple(rule for rule in RULES if rule in kept))
    check_agreement(query, normal, telling_rows(query.predicate, normalize(query).predicate, source))


@settings(max_examples=40)
@given(SOURCES, st.integers(1, 12))
def test_normalizing_is_deterministic(source: random.Random, atoms: int) -> None:
    query = bound(draw_predicate(source, atoms))
    first, second = normalize(query).predicate, normalize(query).predicate
    assert first == second
    assert hash(first) == hash(second), "equal parts of many queries are found by hash"


@settings(max_examples=40)
@given(SOURCES, st.integers(1, 8))
def test_traces_lead_from_rule_to_rule(source: random.Random, atoms: int) -> None:
    changes = trace(bound(draw_predicate(source, atoms)))
    for (_, _, after), (_, before, _) in pairwise(changes):
        assert after == before
