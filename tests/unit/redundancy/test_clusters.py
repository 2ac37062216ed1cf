"""Clusters and what could go: nothing goes unless something that stays matches its rows."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from eddyline.redundancy.clusters import Cluster, clusters
from eddyline.redundancy.could_go import could_go
from eddyline.redundancy.values import ComparedSet
from tests.unit.redundancy.compared import Row, by_hand, from_conditions


def shown(found: list[Cluster]) -> list[dict[tuple[str, ...], list[str]]]:
    """Each cluster as its nodes with the first queries of their covers."""
    return [
        {node.queries: [cluster.nodes[cover].first for cover in node.covers] for node in cluster.nodes}
        for cluster in found
    ]


def test_what_is_connected_stands_together_and_the_largest_comes_first() -> None:
    compared = from_conditions(
        {
            "p": "a < 1",
            "p again": "NOT a >= 1",
            "wide": "b < 9",
            "x": "s = 'x'",
            "tight": "b < 5",
            "tighter": "b < 3",
        }
    )
    assert shown(clusters(compared)) == [
        {("wide",): [], ("tight",): ["wide"], ("tighter",): ["tight", "wide"]},
        {("p", "p again"): []},
    ]


def test_what_is_the_same_as_one_that_is_never_true_is_never_true() -> None:
    compared = from_conditions({"n": "a < 1 AND a > 2", "m": "b = 1 AND b = 2", "x": "a < 3"})
    figures = compared.figures()
    assert (figures.never_true, figures.same, figures.groups, figures.redundant) == (2, 0, 0, 2)
    assert not clusters(compared)
    assert [(each.query, each.kept) for each in could_go(compared, [])] == [("n", None), ("m", None)]


def test_figures_count_queries_not_rows() -> None:
    rows: list[Row] = [
        ("a", "implied", "b"),
        ("a", "implied", "c"),
        ("d", "equivalent", "a"),
        ("e", "never true", None),
    ]
    figures = by_hand(rows, others=["f"]).figures()
    assert (figures.queries, figures.redundant, figures.groups, figures.same) == (6, 3, 1, 1)
    assert (figures.covered, figures.never_true) == (1, 1)


def test_of_queries_in_a_circle_one_stays() -> None:
    compared = by_hand(
        [("a", "implied", "b"), ("b", "implied", "c"), ("c", "implied", "a"), ("d", "implied", "c")]
    )
    [cluster] = clusters(compared)
    assert cluster.size == 4 and cluster.redundant == 3
    assert_all_rows_stay_matched(compared)


def assert_all_rows_stay_matched(compared: ComparedSet) -> None:
    """Whatever goes is covered, step by step, by one that stays."""
    found = clusters(compared)
    goes = could_go(compared, found)
    gone = {each.query for each in goes}
    assert len(gone) == len(goes)
    reached = {each: {each} for each in compared.queries}
    for _ in compared.queries:
        for query, relation, other in compared.rows():
            if other is not None:
                reached[query] |= reached[other]
                if relation == "equivalent":
                    reached[other] |= reached[query]
    for each in goes:
        if each.reason != "never true":
            assert each.kept is not None and each.kept not in gone and each.kept in reached[each.query]
            assert each.other in reached[each.query]
    assert sum(cluster.redundant for cluster in found) == sum(each.kept is not None for each in goes)


@pytest.mark.parametrize("seed", range(40))
def test_whatever_goes_is_covered_by_what_stays(seed: int) -> None:
    rng = random.Random(seed)
    ids = [f"q{number}" for number in range(rng.randint(2, 30))]
    rows: list[Row] = []
    for query in ids:
        others = [each for each in ids if each != query]
        if rng.random() < 0.2:
            rows.append((query, "equivalent", rng.choice(ids[: ids.index(query)] or others)))
        elif rng.random() < 0.7:
            rows += [
                (query, "implied", other) for other in rng.sample(others, min(len(others), rng.randint(1, 3)))
            ]
    # others are their leaders, as in a table
    equal = {query for query, relation, _ in rows if relation == "equivalent"}
    rows = [row for row in rows if row[2] not in equal]
    assert_all_rows_stay_matched(by_hand(rows, others=ids))


def test_who_would_notice_is_said() -> None:
    compared = by_hand(
        [("copy", "equivalent", "first"), ("twin", "equivalent", "first"), ("part", "implied", "first")]
    )
    said = {
        "first": {"owner": "ann", "destination": "x", "state": "shadow"},
        "copy": {"owner": "ann", "destination": "y", "state": "enabled"},
        "twin": {"owner": "ann", "destination": "y", "state": "enabled"},
        "part": {"owner": "bob", "destination": "y", "state": "enabled"},
    }
    queries = {id: replace(query, **said[id]) for id, query in compared.queries.items()}
    compared = replace(compared, queries=queries)
    goes = {each.query: each for each in could_go(compared, clusters(compared))}
    assert set(goes) == {"first", "twin", "part"}, "the one to keep delivers"
    assert goes["twin"].other == goes["part"].kept == "copy"
    assert not goes["twin"].look_first
    assert goes["part"].look_first == ("belongs to bob, the other to ann",)
    assert goes["first"].look_first == ("delivers to x, the other to y",)
    only_shadow = replace(compared, queries={**queries, "copy": queries["first"], "twin": queries["first"]})
    [part] = [each for each in could_go(only_shadow, clusters(only_shadow)) if each.query == "part"]
    assert "in shadow" in part.look_first[0]
