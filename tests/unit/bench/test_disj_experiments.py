"""DISJ's experiments: predicates are as their heads say, and each figure has its rows."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from bench.experiments import disj_figure_15, disj_matching, disj_pairs, disj_spreads, disj_table_7, plots
from bench.experiments.disj_predicates import Shape, queries, streams
from bench.experiments.figures import FIGURES
from bench.experiments.result import write
from bench.experiments.scale import Scale

TRIAL = Scale(0.001)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {
        panel: (varied, (default,), default) for panel, (varied, _, default) in disj_matching.SWEEPS.items()
    }
    monkeypatch.setattr(disj_matching, "SWEEPS", few)
    monkeypatch.setattr(disj_figure_15, "BOXES", (20, 100, 500))
    monkeypatch.setattr(disj_pairs, "SPREADS", (5.0,))
    monkeypatch.setattr(disj_spreads, "SPREADS", (5.0,))


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("module", FIGURES["disj"], ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_figure_runs(module: ModuleType, tmp_path: Path) -> None:
    result = module.run(TRIAL)
    write(result, tmp_path)
    plots.save(result, module.plot(result), tmp_path / f"{result.name}.png")
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".json", ".png"}
    assert result.rows and result.claims and result.expected


def test_predicates_have_the_papers_parameters() -> None:
    shape = Shape(dimensions=4, query_boxes=3, stream_boxes=7)
    for predicate, boxes in [
        *((each, 3) for each in queries(shape, 5)),
        *((each, 7) for each in streams(shape, 5)),
    ]:
        assert len(predicate.boxes) == boxes
        for box in predicate.boxes:
            assert len(box.intervals) == len(box.sides) == 4
            for (low, above), (high, included) in box.intervals:
                assert (
                    0 <= low <= 50 <= high <= 100 and low % 5 == high % 5 == 0 and (above, included) == (0, 1)
                )


def test_each_box_of_an_infinite_predicate_bounds_some_dimension() -> None:
    bounded = [len(box.sides) for each in streams(Shape(infinite=True), 10) for box in each.boxes]
    assert min(bounded) == 1 and max(bounded) == 6


def test_exact_relaxations_let_the_same_items_pass() -> None:
    claim = disj_table_7.run(TRIAL).claims[0]
    assert claim.holds, claim.measured


def test_the_same_seed_gives_the_same_predicates() -> None:
    assert streams(Shape(), 2, seed=3) == streams(Shape(), 2, seed=3) != streams(Shape(), 2, seed=4)
