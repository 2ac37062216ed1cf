"""Every figure runs at a tiny scale and leaves its files; the generators give what their heads say."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bench.__main__ import PAPERS, main
from bench.experiments import one_attribute, orders, plots, sets
from bench.experiments.census import COLUMNS, census
from bench.experiments.course import run, run_fixed, run_tickets
from bench.experiments.data import Data, alternating, bell, pulse, uniform
from bench.experiments.drift import KINDS, drifting
from bench.experiments.figures import FIGURES
from bench.experiments.query_sets import Spec, cover_sets, query_set
from bench.experiments.result import Claim, Result, head_of, write
from bench.experiments.samples import sample_of
from bench.experiments.scale import Scale
from eddyline.config import OrderSettings
from eddyline.model.visit_order import VisitOrder
from eddyline.order.statistics import count_visits
from tests.conftest import some

OURS = [module for paper in ("asc-1", "asc-2", "beyond") for module in FIGURES[paper]]
TINY = Scale(0.001)


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", some(OURS, quick=OURS[::3]), ids=lambda module: module.__name__.rpartition(".")[2]
)
def test_every_figure_runs(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_attribute, "PREDICATES", (5, 20))
    monkeypatch.setattr(orders, "LEARNT_FROM", 100)
    result = module.run(TINY)
    write(result, tmp_path)
    plots.save(result, module.plot(result), tmp_path / f"{result.name}.png")
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".json", ".png"}
    document = json.loads((tmp_path / f"{result.name}.json").read_text())
    assert document["expected"] and document["claims"] and document["rows"]
    with (tmp_path / f"{result.name}.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(result.rows)
    assert (tmp_path / f"{result.name}.png").read_bytes().startswith(b"\x89PNG")


def test_every_figure_names_what_the_paper_expects() -> None:
    for module in [module for paper in FIGURES.values() for module in paper]:
        title, expected = head_of(module.__doc__)
        assert title and len(expected) > 40, module.__name__
        assert len(title) <= 96, f"the title of {module.__name__} fits above its picture"


@pytest.mark.parametrize("scale", ["0", "-1", "1.01", "nan", "much"])
def test_the_command_refuses_a_scale_outside_of_0_to_1(
    scale: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["figures", "--paper", "asc-1", "--scale", scale])
    assert refused.value.code == 2
    assert f"{scale}: a number above 0 and at most 1" in capsys.readouterr().err


def test_the_command_refuses_papers_and_figures_that_do_not_exist(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["figures", "--paper", "asc-3"])
    assert "asc-1" in capsys.readouterr().err
    assert main(["figures", "--paper", "asc-2", "--figure", "asc-1-figure-4"]) == 2
    assert "asc-2-figure-9" in " ".join(capsys.readouterr().out.split())
    assert set(PAPERS) == set(FIGURES)


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["figures", "--help"])
    assert "python -m bench figures --figure asc-2-figure-6 --scale 1" in capsys.readouterr().out


def test_the_command_runs_a_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Result(
        "a-figure", "title", "shape", {}, ({"series": "one", "x": 1, "y": 2.0},), (Claim("c", False, "m"),)
    )

    class Module:
        run = staticmethod(lambda scale: made)
        plot = staticmethod(lambda result: plots.picture()[0])

    monkeypatch.setitem(FIGURES, "asc-1", (Module,))  # type: ignore[arg-type]
    assert main(["figures", "--paper", "asc-1", "--out", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a-figure.csv",
        "a-figure.json",
        "a-figure.png",
    ]
    assert "as in the paper: no" in made.verdict


@pytest.mark.parametrize("make", [uniform, bell, pulse, census])
def test_any_piece_of_a_data_set_is_the_same_each_time(make: type[Data]) -> None:
    data = make(4_000)
    whole = data.piece(0, 4_000)
    assert whole.shape == (data.attributes, 4_000)
    assert np.array_equal(whole[:, 900:2_100], data.piece(900, 1_200))
    assert (whole.min(axis=1) >= 0).all() and (whole.max(axis=1) < np.array(data.values)).all()
    assert data.spread(500).shape == (data.attributes, 500)


def test_distributions() -> None:
    one, two, three = (make(20_000).piece(0, 20_000) for make in (uniform, bell, pulse))
    assert abs(one.mean() - 49.5) < 1 and abs(one.std() - 28.9) < 1
    assert abs(two.mean() - 49.5) < 1 and abs(two.std() - 12) < 1
    assert three[:, :10_000].max() < 30 and three[:, 10_000:].min() >= 70


def test_two_distributions_in_turn() -> None:
    data = alternating(uniform(10_000), bell(10_000), 2_000, 8_000)
    spread = [data.piece(start, 2_000).std() for start in range(0, 8_000, 2_000)]
    assert [value > 20 for value in spread] == [True, False, True, False]


def test_census_columns_are_skewed_and_dependent() -> None:
    values = census(20_000).piece(0, 20_000)
    assert len(values) == len(COLUMNS) == 15
    most = [np.bincount(column).max() / len(column) for column in values]
    assert np.mean(most) > 3 * np.mean([1 / codes for codes in COLUMNS.values()])
    related = np.abs(np.corrcoef(values)[np.triu_indices(15, 1)])
    assert (related > 0.2).mean() > 0.2


@pytest.mark.parametrize("kind", KINDS)
def test_drift_changes_the_distribution(kind: str) -> None:
    data = drifting(kind, 40_000, 200, 10)
    means = np.array([data.piece(start, 1_000).mean(axis=1) for start in range(0, 40_000, 1_000)])
    assert np.abs(means - means[0]).max() > 20


@pytest.mark.parametrize(
    ("spec", "queries", "predicates", "attributes", "cover", "covers"),
    [
        (sets.first(), 50, 204, 10, 3, 1),
        (sets.on_census(), 30, 104, 7, 2, 2),
        (sets.pruned(20), 40, 236, 20, 5, 1),
        (sets.second(), 50, 173, 15, 3, 1),
        (sets.third(6), 30, 78, 6, 2, 1),
        (sets.third(15), 50, 173, 15, 3, 1),
    ],
)
def test_query_sets_have_the_papers_parameters(
    spec: Spec, queries: int, predicates: int, attributes: int, cover: int, covers: int
) -> None:
    made = query_set(spec)
    assert len(made.queries) == queries
    assert sum(map(len, made.queries)) == predicates
    assert len(made.attributes) == attributes
    usage = np.array(
        [[any(p.column == f"a{a}" for p in query) for a in made.attributes] for query in made.queries]
    )
    found = cover_sets(usage)
    assert (len(found), len(found[0])) == (covers, cover)
    assert spec.deviation is None or abs(made.deviation - spec.deviation) <= 0.03


def test_deviation_grows_with_the_share_of_inequalities() -> None:
    assert query_set(sets.fourth(0.05)).deviation < query_set(sets.fourth(0.8)).deviation


def test_regions_of_a_sample_are_those_of_the_values() -> None:
    queries = query_set(sets.first())
    values = uniform(1_000).piece(0, 200)
    sample = sample_of(queries, values)
    for subject, attribute in enumerate(queries.attributes):
        asc = queries.index.ascs[subject]
        for region, value in zip(sample.regions[subject].tolist(), values[attribute].tolist(), strict=True):
            if asc.rif(region) is not None:
                assert asc.rif(region) == value
            else:
                assert region == 2 * sum(constant < value for constant in asc.constants)


def test_a_course_rearranges_when_mu_is_0_and_never_when_it_is_large() -> None:
    queries = query_set(sets.first())
    sample = sample_of(queries, bell(4_000).piece(0, 4_000))
    stream = [sample.part(start, start + 100) for start in range(0, 4_000, 100)]
    start = VisitOrder(tuple(range(10)))
    settings = OrderSettings(strategy="macro", period=100, check_every=500, threshold=0.0)
    adapted = run(stream, settings, start)
    assert adapted.rearranged[0] == 5 + 9, "lambda, then a period for each subject but the last"
    calm = run(stream, OrderSettings(strategy="macro", period=100, check_every=500, threshold=9.0), start)
    assert calm.rearranged == () and calm.costs == run_fixed(stream, start, 100).costs
    assert calm.cost == pytest.approx(count_visits(sample, start).visited_each)
    assert adapted.cost < calm.cost
    assert 1 <= run_tickets(stream[:3], OrderSettings()).cost <= 10
