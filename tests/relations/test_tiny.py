"""No false "implied", ever: pairs of random predicates over streams of which every row is tried by the reference."""

from __future__ import annotations

import random

import numpy as np
import pytest

from eddyline.implication.check_proof import check_proof
from eddyline.relations.question import Terms, ask
from tests.comparisons import compared
from tests.relations.tiny import STREAMS

QUERIES = 130
EVERY = 50  # one of so many proofs is replayed


@pytest.mark.long
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("seed", range(1))
def test_implied_means_implied(name: str, seed: int) -> None:
    tiny = STREAMS[name]
    rng = random.Random(seed)
    sides = [tiny.side(tiny.condition(rng)) for _ in range(QUERIES)]
    truths = [tiny.truth(side) for side in sides]
    verdicts = {"proof": 0, "row": 0, "unknown": 0}
    for i, one in enumerate(sides):
        for j, other in enumerate(sides):
            answer = ask(tiny.stream, [one], [other], Terms())
            implied = not np.any(truths[i] & ~truths[j])
            if answer.proof is not None:
                assert implied, f"{one.bound.sql} does not imply {other.bound.sql}"
                verdicts["proof"] += 1
                if verdicts["proof"] % EVERY == 0:
                    check_proof(answer.proof)
            elif answer.row is not None:
                verdicts["row"] += 1
                assert not implied or not tiny.complete, f"{one.bound.sql} implies {other.bound.sql}"
            else:
                verdicts["unknown"] += 1
    compared("every row: implied", QUERIES**2)
    if name == "columns":
        assert not verdicts["unknown"]
