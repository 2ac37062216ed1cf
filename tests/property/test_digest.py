"""Digests agree with the keys by which relations recognise equal predicates: shared iff nothing but order differs."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.model.predicate import And, Condition, Or, Predicate
from eddyline.model.query import NormalQuery
from eddyline.normalize import normalize
from eddyline.normalize.digest import digest
from eddyline.relations.members import order_free
from tests.property.normal_forms import bound, draw_predicate

SOURCES = st.randoms(use_true_random=False)


def shuffled(predicate: Predicate, source: random.Random) -> Predicate:
    """The same with all parts in another order."""
    if isinstance(predicate, Condition):
        return predicate
    parts = [shuffled(part, source) for part in predicate.parts]
    source.shuffle(parts)
    return type(predicate)(tuple(parts))


def changed(predicate: Predicate, source: random.Random) -> Predicate:
    """The same with one part left out, or AND and OR exchanged; conditions stay."""
    if isinstance(predicate, Condition) or not predicate.parts:
        return predicate
    place = source.randrange(len(predicate.parts))
    rest = predicate.parts[:place] + predicate.parts[place + 1 :]
    if source.random() < 0.3:
        return (Or if isinstance(predicate, And) else And)(predicate.parts)
    if source.random() < 0.5 and len(rest) > 1:
        return type(predicate)(rest)
    return type(predicate)((*rest, changed(predicate.parts[place], source)))


@settings(max_examples=40)
@given(SOURCES, st.integers(1, 12))
def test_agrees_with_order_free(source: random.Random, atoms: int) -> None:
    first = normalize(bound(draw_predicate(source, atoms))).predicate
    second = normalize(bound(draw_predicate(source, 1))).predicate
    drawn = [first, shuffled(first, source), changed(first, source), changed(first, source), second]
    digests = [digest(NormalQuery("q", "", "s", predicate, ())) for predicate in drawn]
    keys = [order_free(predicate) for predicate in drawn]
    assert digests[0] == digests[1]
    for i, one in enumerate(keys):
        for j, other in enumerate(keys):
            assert (one == other) == (digests[i] == digests[j])
