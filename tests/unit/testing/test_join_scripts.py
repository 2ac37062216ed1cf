"""Random scripts of joins, and their shrinker: what it gives still fails, and is small."""

from __future__ import annotations

import random

from eddyline.testing.joins.scripts import (
    ChangeStep,
    JoinScript,
    PushStep,
    asking_for_positions,
    draw_script,
    reference_steps,
    run_reference,
)
from eddyline.testing.joins.shrink import shrink_script, smaller_scripts


def test_a_seed_gives_the_same_script() -> None:
    one, other = (draw_script(random.Random(5)) for _ in "ab")
    assert [str(join) for join in one.statements] == [str(join) for join in other.statements]
    assert repr(one.steps) == repr(other.steps)


def test_scripts_find_pairs_and_leave_tuples_out() -> None:
    results = [run_reference(draw_script(random.Random(seed), joins=2, rows=16)) for seed in range(40)]
    assert sum(len(result.pairs) for result in results) > 100
    reasons = {reason for result in results for counts in result.left_out.values() for reason in counts}
    assert reasons == {"late", "ahead", "no time", "out of range"}


def test_the_column_number_has_the_positions() -> None:
    script = asking_for_positions(draw_script(random.Random(7)))
    assert all(join.items == "a.number AS one, b.number AS other" for join in script.statements)
    seen: dict[str, list[int]] = {"orders": [], "fills": []}
    for step in reference_steps(script):
        if hasattr(step, "batch"):
            seen[step.stream] += step.batch.column("number").to_pylist()
    assert all(numbers == list(range(len(numbers))) for numbers in seen.values())


def test_only_what_matters_stays() -> None:
    """Pretend that replacing a join before a fill without a time comes is wrong."""

    def fails(script: JoinScript) -> bool:
        replaced = [n for n, step in enumerate(script.steps) if isinstance(step, ChangeStep) and step.replace]
        return any(
            isinstance(step, PushStep)
            and step.stream == "fills"
            and any(row["i32"] is None for row in step.rows)
            for step in script.steps[min(replaced, default=len(script.steps)) :]
        )

    start = next(one for seed in range(1000) if fails(one := draw_script(random.Random(seed))))
    small = shrink_script(start, fails)
    assert fails(small)
    assert (
        len(small.steps) == 2
        and sum(len(step.rows) for step in small.steps if isinstance(step, PushStep)) == 1
    )
    assert len(small.statements) <= 2 and all(join.size <= 2 for join in small.statements)


def test_every_step_is_smaller() -> None:
    def size(script: JoinScript) -> tuple[int, int]:
        rows = sum(len(step.rows) for step in script.steps if isinstance(step, PushStep))
        words = sum(len(str(join)) for join in script.statements)
        return len(script.steps) + rows, words + sum(len(str(step)) for step in script.steps)

    start = draw_script(random.Random(3))
    assert all(size(smaller) < size(start) for smaller in smaller_scripts(start))
