"""What is implied between joins is delivered: random scripts on the engine, of all types, event times and zones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import permutations

import pytest

from eddyline import Compiler, Query
from eddyline.errors import QueryError
from eddyline.implication.check_proof import check_proof
from eddyline.implication.search import Budget
from eddyline.relations.pair import Pair
from eddyline.testing.joins.draw import draw_join
from eddyline.testing.joins.scripts import (
    JoinScript,
    asking_for_positions,
    draw_script,
    reference_steps,
    texts,
)
from eddyline.testing.joins.statements import JoinStatement, leaf
from eddyline.testing.joins.streams import JoinStreams
from tests.comparisons import compared
from tests.conftest import blocks
from tests.join_scripts import run_engine

SCRIPTS = 2
BUDGET = Budget(seconds=0.2)


def variants(statement: JoinStatement, rng: random.Random, streams: JoinStreams) -> Iterator[JoinStatement]:
    """The join with a condition less, one more, or its parts in another order."""
    on, where = list(statement.on), list(statement.where)
    if where:
        yield replace(statement, where=tuple(where[:-1]))
    if len(on) > 1:
        yield replace(statement, on=tuple(on[1:]))
        yield replace(statement, on=tuple(reversed(on)))
    other = draw_join(rng, streams)
    extra = rng.choice((*other.on, *other.where, leaf("a.i32 > 0")))
    yield replace(statement, where=(*where, extra))


def accepted(script: JoinScript, rng: random.Random) -> JoinScript:
    """The script with variants of its joins, as far as they are not refused."""
    compiler = Compiler(script.streams.both, time_zone=script.streams.zone, join_window=script.join_window)
    joins = dict(script.joins)
    for id, statement in script.joins.items():
        for number, variant in enumerate(variants(statement, rng, script.streams)):
            joins[f"{id} {number}"] = variant
    found: dict[str, JoinStatement] = {}
    for id, statement in joins.items():
        try:
            compiler.compile(Query(id, str(statement)))
        except QueryError:
            continue
        found[id] = statement
    return replace(script, joins=found)


def delivered(script: JoinScript) -> Mapping[str, set[tuple[int, int]]]:
    """By join, the positions of the tuples that the engine delivered together: that of the first stream by name first."""
    asked = asking_for_positions(script)
    run = run_engine(
        {query.id: query.sql for query in texts(asked.joins)},
        list(reference_steps(asked)),
        streams=script.streams.both,
        join_window=script.join_window,
        time_zone=script.streams.zone,
    )
    found: dict[str, set[tuple[int, int]]] = {id: set() for id in script.joins}
    for step in run.steps:
        for id, pairs in step.items():
            one, other = script.joins[id].streams
            found[id] |= {(p.first, p.second) if one <= other else (p.second, p.first) for p in pairs}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(40, quick=(0,)))
def test_what_is_implied_is_delivered(block: int) -> None:
    rng = random.Random(block)
    proven = asked = 0
    for _ in range(SCRIPTS):
        script = accepted(draw_script(rng, changes=False, joins=3, rows=40), rng)
        found = delivered(script)
        for one, other in permutations(script.joins, 2):
            first, second = script.joins[one], script.joins[other]
            if sorted(first.streams) != sorted(second.streams):
                continue
            asked += 1
            answer = Pair.of(
                str(first),
                str(second),
                script.streams.both,
                budget=BUDGET,
                time_zone=script.streams.zone,
                join_window=script.join_window,
            ).implies()
            if answer:
                assert answer.proof is not None
                check_proof(answer.proof)
                proven += 1
                assert found[one] <= found[other], f"{first}\nis said to imply\n{second}"
    compared("joins: implied and delivered", asked)
    assert proven > 5 * SCRIPTS, "too few to learn from"
