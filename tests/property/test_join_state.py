"""The join stage gives what nested loops give, whatever the batches, layouts and changes of the set."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eddyline.config import JoinSettings
from tests.conftest import some
from tests.property.join_model import (
    by_nested_loops,
    by_steps,
    draw_script,
    spilling,
    without_late_rows,
)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_any_batch_size_gives_what_nested_loops_give(seed: int) -> None:
    script = draw_script(seed)
    expected = by_nested_loops(script)
    for batch_rows in (1, 7, 513, None):
        found, _ = by_steps(script, batch_rows)
        assert found == expected


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_a_step_with_many_pairs_comes_in_parts(seed: int, most: int) -> None:
    script = draw_script(seed, runs=6)
    found, _ = by_steps(script, 13, settings=JoinSettings(max_pairs=most))
    assert found == by_nested_loops(script)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_tuples_in_files_are_joined_like_others(tmp_path: Path, seed: int) -> None:
    script = draw_script(seed)
    found, state = by_steps(script, 7, settings=spilling(tmp_path))
    assert found == by_nested_loops(script)
    assert state.describe().bytes <= 2_000


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_whole_tables_leave_out_no_late_tuple(seed: int) -> None:
    script = without_late_rows(draw_script(seed))
    found, _ = by_steps(script, 11, complete=True)
    assert found == by_nested_loops(script, complete=True)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 40))
def test_segments_that_are_probed_by_role(seed: int, most: int) -> None:
    script = draw_script(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eddyline.join.segment.CROWDED", 0.0)
        for batch_rows, settings_ in ((7, JoinSettings()), (None, JoinSettings(max_pairs=most))):
            found, _ = by_steps(script, batch_rows, settings=settings_)
            assert found == by_nested_loops(script)


@pytest.mark.slow
@pytest.mark.parametrize("seed", some([1, 2], quick=[2]))
def test_many_tuples_in_merged_segments(seed: int) -> None:
    script = draw_script(seed, runs=30, rows=60, keys=30)
    found, state = by_steps(script, 3)
    assert found == by_nested_loops(script)
    assert all(stem.segments <= 20 for stem in state.describe().stems)
