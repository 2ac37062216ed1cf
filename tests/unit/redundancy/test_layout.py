"""Layouts: boxes do not touch, arrows lead to the left, and what is not drawn is counted."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from eddyline.redundancy.clusters import Cluster, clusters
from eddyline.redundancy.layout import ALL_DRAWN, MOST_DRAWN, Layout, lay_out, tightest_covers
from tests.unit.redundancy.compared import Row, by_hand


def random_cluster(seed: int, size: int) -> Cluster:
    rng = random.Random(seed)
    rows: list[Row] = []
    for number in range(1, size):
        near = range(max(0, number - rng.choice((2, 10, 1000))), number)
        rows += [
            (f"q{number}", "implied", f"q{cover}")
            for cover in rng.sample(near, min(len(near), rng.randint(1, 3)))
        ]
    return clusters(by_hand(rows))[0]


def check(cluster: Cluster, layout: Layout) -> None:
    places = sorted((box.column, box.row) for box in layout.boxes)
    for (column, row), (next_column, next_row) in pairwise(places):
        assert column != next_column or next_row - row >= 1, "boxes of a column do not touch"
    for one, cover in layout.arrows:
        assert layout.boxes[cover].column < layout.boxes[one].column
    assert max(box.column for box in layout.boxes) == layout.columns - 1
    assert (
        min(box.row for box in layout.boxes) >= 0 and max(box.row for box in layout.boxes) <= layout.rows - 1
    )
    assert len(set(layout.drawn)) == len(layout.drawn)


@pytest.mark.parametrize("seed", range(30))
def test_clusters_that_are_drawn_as_a_whole(seed: int) -> None:
    cluster = random_cluster(seed, random.Random(seed).randint(2, ALL_DRAWN))
    layout = lay_out(cluster)
    check(cluster, layout)
    assert sorted(layout.drawn) == list(range(len(cluster.nodes)))
    assert not any(box.hidden for box in layout.boxes)
    arrows = {(layout.boxes[one].node, layout.boxes[cover].node) for one, cover in layout.arrows}
    assert arrows == {(one, cover) for one in layout.drawn for cover in tightest_covers(cluster, one)}


@pytest.mark.parametrize("seed", range(10))
def test_large_clusters(seed: int) -> None:
    cluster = random_cluster(seed, 500)
    layout = lay_out(cluster)
    check(cluster, layout)
    assert 1 < len(layout.drawn) <= MOST_DRAWN


def test_what_is_not_drawn_is_counted() -> None:
    cluster = clusters(by_hand([(f"q{number}", "implied", "wide") for number in range(1000)]))[0]
    layout = lay_out(cluster)
    check(cluster, layout)
    assert cluster.nodes[layout.widest].first == "wide"
    assert sum(box.hidden for box in layout.boxes) == 1001 - len(layout.drawn)


def test_a_chain_has_one_arrow_per_step() -> None:
    rows: list[Row] = [("c", "implied", "b"), ("c", "implied", "a"), ("b", "implied", "a")]
    layout = lay_out(clusters(by_hand(rows))[0])
    assert len(layout.arrows) == 2 and layout.columns == 3 and layout.rows == 1
    lay_out(clusters(by_hand([(f"q{n}", "implied", f"q{n + 1}") for n in range(5000)]))[0])
