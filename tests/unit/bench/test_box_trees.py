"""R-tree and R*-tree: they find what a scan finds, whatever is inserted and deleted, and keep their nodes filled."""

from __future__ import annotations

import random
from math import inf

import pytest

from bench.baselines.r_trees import FEWEST, MOST, Entry, RStarTree, RTree
from bench.baselines.rectangles import Rectangle


def rectangle(rng: random.Random, dimensions: int) -> Rectangle:
    ends = [sorted(rng.choices(range(21), k=2)) for _ in range(dimensions)]
    lows = [-inf if rng.random() < 0.1 else low for low, _ in ends]
    highs = [inf if rng.random() < 0.1 else high for _, high in ends]
    return Rectangle(tuple(lows), tuple(highs))


@pytest.mark.parametrize("make", [RTree, RStarTree])
@pytest.mark.parametrize("dimensions", [1, 2, 6])
def test_trees_find_what_a_scan_finds(make: type[RTree], dimensions: int) -> None:
    rng = random.Random(dimensions)
    tree, held = make(), {}
    for number in range(300):
        held[number] = rectangle(rng, dimensions)
        tree.insert(held[number], number)
        if rng.random() < 0.45:
            gone = rng.choice(list(held))
            tree.delete(held.pop(gone), gone)
        if number % 10 == 0:
            wanted = rectangle(rng, dimensions)
            found = sorted(tree.search(wanted))
            assert found == [n for n, each in sorted(held.items()) if each.meets(wanted)]
    assert tree._root is not None
    check(tree._root, root=True)
    for number in list(held):
        tree.delete(held.pop(number), number)
    assert list(tree.search(Rectangle((-inf,) * dimensions, (inf,) * dimensions))) == []


def check(node: Entry, *, root: bool = False) -> None:
    """Nodes have 5 to 10 entries of one level, all within their rectangle."""
    assert (1 if root else FEWEST) <= len(node.children) <= MOST
    for child in node.children:
        assert child.level == node.level - 1 and node.rectangle.encloses(child.rectangle)
        if child.level >= 0:
            check(child)
