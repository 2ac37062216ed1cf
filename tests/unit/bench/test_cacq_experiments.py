"""CACQ's experiments: the exact optimum of table 3, what our order costs beside it, and that each figure has its rows."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from types import ModuleType

import pytest

from bench.experiments import cacq_figure_4, cacq_figure_6, cacq_figure_8, cacq_figure_9
from bench.experiments.cacq_routing_cost import expected, fewest, optimum
from bench.experiments.cacq_source import VALUES, tuples
from bench.experiments.result import Row
from bench.experiments.scale import Scale

TRIAL = Scale(0.0005)


def test_the_optimum_of_table_3_is_exact() -> None:
    assert optimum() == ((0, 1, 2, 3, 4), Fraction(113_771_341, 100_000_000))
    assert fewest() == optimum()[1], "no tuple alone can do better than in that order"
    assert expected((4, 3, 2, 1, 0)) == 5


def test_our_order_is_the_best_one() -> None:
    seen = cacq_figure_8.sample_of(cacq_figure_8.ascs(), tuples(1_000, seed=5))
    assert cacq_figure_8.find_order(seen) == cacq_figure_8.sequence_of(seen.ascs, "abcde")


def test_table_3() -> None:
    result = cacq_figure_8.run(TRIAL)
    filters = {row["series"]: row["filters a tuple"] for row in result.rows}
    assert filters["adaptive"] <= 1.02 * filters["best order"]
    assert filters["worst order"] == 5
    assert filters["ticket"] < 1.4 and 2.9 < filters["random"] < 3.3 and filters["random, needed only"] < 2.8


@pytest.mark.slow
@pytest.mark.parametrize("figure", [cacq_figure_4, cacq_figure_6, cacq_figure_9])
def test_figures_have_rows_claims_and_a_picture(figure: ModuleType) -> None:
    result = figure.run(TRIAL)
    assert result.rows and result.claims and result.expected
    assert figure.plot(result).axes


def test_a_source_sends_what_one_eddy_with_20_queries_takes() -> None:
    rows: list[Row] = [
        {"series": series, "queries": count, "microseconds a tuple": time, "output a tuple": count / 4}
        for series, each in (("one eddy", {1: 40.0, 20: 100.0, 40: 160.0}), ("an eddy a query", {20: 400.0}))
        for count, time in each.items()
    ]
    cacq_figure_6.deliver(rows, "queries", 20, ("one eddy", "an eddy a query"))
    assert [row["output a second"] for row in rows] == pytest.approx([2_500, 50_000, 62_500, 12_500])


def test_where_throughput_reaches_a_level_is_read_between_sizes() -> None:
    own = {bits: {"relative": relative} for bits, relative in ((10, 1.0), (1_000, 0.5), (100_000, 0.1))}
    assert cacq_figure_4.reached(own, 0.5) == pytest.approx(1_000)
    assert 1_000 < cacq_figure_4.reached(own, 0.2) < 100_000


def test_what_e_can_win_at_most_while_all_others_come_first() -> None:
    """The last of five nested filters keeps a tuple only if the other four have let it pass."""

    def most(bounds: tuple[int, ...]) -> Fraction:
        *before, last = [Fraction(VALUES - 1 - bound, VALUES) for bound in bounds]
        return prod(before) * (1 - last)

    assert float(most((10,) * 5)) == pytest.approx(0.0690, abs=5e-5)
    assert float(most((10, 30, 50, 70, 90))) == pytest.approx(0.0794, abs=5e-5)
