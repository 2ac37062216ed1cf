"""The page: whole, safe, of bounded size, and what it leaves out it counts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from eddyline.redundancy.page import to_html
from eddyline.redundancy.values import ComparedQuery, ComparedSet
from tests.html_page import check_that_it_stands_alone
from tests.unit.redundancy.compared import Row, by_hand, from_conditions, proofs

EVIL = '"></title></svg><script>alert(1)</script><img src=x onerror=alert(2)>\x00\x1b\u202e\u05d0'
FEW = {
    "wide": "a < 10",
    "copy": "NOT a >= 10",
    "tight": "a < 5 AND s = 'x'",
    "odd": "a < 1 AND a > 3",
    "x": "b = 1",
}


def tiles(text: str) -> dict[str, str]:
    return {name: figure for figure, name in re.findall(r"<b[^>]*>([\d,]+)</b><span>([^<]+)</span>", text)}


def test_a_page_shows_clusters_texts_and_proofs() -> None:
    text = to_html(from_conditions(FEW), proofs())
    check_that_it_stands_alone(text)
    assert tiles(text) == {
        "queries": "5",
        "redundant": "3",
        "groups of equal queries": "1",
        "covered by others": "1",
        "never true": "1",
        "pairs undecided": "0",
        "not compared": "0",
    }
    for heading in ("Related queries", "What could go", "Never true"):
        assert f"<h2>{heading}</h2>" in text
    assert "&quot;tight&quot; implies &quot;wide&quot;" in text and "lies in" in text
    assert "&quot;copy&quot; and &quot;wide&quot; are equivalent" in text
    assert "&quot;odd&quot; is never true" in text
    assert 'class="graph"' in text and "2 of 3 queries could go" in text
    assert "prefers-color-scheme: dark" in text


def test_nothing_redundant() -> None:
    for conditions in ({}, {"x": "b = 1"}):
        text = to_html(from_conditions(conditions), proofs())
        check_that_it_stands_alone(text)
        assert "nothing is redundant" in text and "Related queries" not in text


def test_hostile_ids_and_texts_stay_text() -> None:
    compared = by_hand(
        [("a", "implied", "b"), ("c", "equivalent", "b"), ("d", "never true", None)], others=["e"]
    )
    names = {id: EVIL + id for id in compared.queries} | {"e": "long" * 2500, "a": EVIL + "a" * 10_000}
    rows: list[Row] = [
        (names[one], relation, other and names[other]) for one, relation, other in compared.rows()
    ]
    hostile = by_hand(rows)
    sql = f"SELECT * FROM q WHERE s = '{EVIL}' -- " + "</script>" * 2000
    queries = {id: ComparedQuery(id, sql, EVIL, EVIL, EVIL) for id in (*names.values(),)}
    found = replace(hostile.found, unknown=[(names["a"], names["e"], EVIL)], uncompared=[names["e"]])
    text = to_html(ComparedSet(queries, found), proofs(seconds=0))
    page = check_that_it_stands_alone(text)
    assert "<script>alert" not in text and "\u202e" not in text and "onerror=alert" in text
    assert page.tags.count("title") > 3 and text.count("</script>") == 1
    assert "more characters" in text and len(text) < 200_000


def test_without_time_the_page_says_how_to_get_a_proof() -> None:
    text = to_html(from_conditions(FEW), proofs(seconds=0))
    assert "eddyline query relate tight wide" in text and "lies in" not in text
    check_that_it_stands_alone(text)


def test_an_interrupted_search_says_so() -> None:
    compared = from_conditions(FEW)
    text = to_html(replace(compared, found=replace(compared.found, complete=False)), proofs())
    assert "interrupted: not all were compared" in text


def test_what_a_registry_knows_is_shown() -> None:
    compared = from_conditions(FEW)
    queries = {
        id: replace(query, owner=f"{id} team", destination="here") for id, query in compared.queries.items()
    }
    text = to_html(replace(compared, queries=queries), proofs())
    assert "tight team" in text and "belongs to copy team, the other to wide team" in text
    assert "<button>state</button>" not in text


def many(count: int, size: int, sql: str) -> ComparedSet:
    """Clusters of so many queries, each covered by three others if there are as many."""
    rows: list[Row] = []
    for number in range(count):
        first = number - number % size
        rows += [
            (f"query {number}", "implied", f"query {cover}")
            for cover in range(max(first, number - 3), number)
        ]
    compared = by_hand(rows)
    queries = {id: ComparedQuery(id, sql, "enabled", "owner " + id, "to " + id) for id in compared.queries}
    unknown = [(f"query {number}", "query 1", "why " * 20) for number in range(5000)]
    return ComparedSet(queries, replace(compared.found, unknown=unknown, uncompared=list(queries)[:5000]))


LONG_TEXT = "SELECT '" + "&" * 4_000


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("clusters", "sql"),
    [
        pytest.param(5_000, "SELECT a", id="pairs"),
        pytest.param(200, LONG_TEXT, id="long texts"),
        pytest.param(1, "SELECT a", id="one large"),
    ],
)
def test_the_page_of_many_queries_is_bounded_and_counts_what_it_leaves_out(
    count: int, clusters: int, sql: str
) -> None:
    size = count // clusters
    compared = many(count, size, sql)
    text = to_html(compared, proofs(seconds=0))
    assert len(text.encode()) < 5_000_000
    check_that_it_stands_alone(text)
    goes = count - count // size
    assert re.search(rf"[\d,]+ of {goes:,} queries that could go \(--json has all of them\) are shown", text)
    assert re.search(r"[\d,]+ of 5,000 pairs \(--json has all of them\) are shown", text)
    assert re.search(r"[\d,]+ of 5,000 queries \(--json has all of them\) are shown", text)
    cards = text.count("<article")
    if size < count:
        left = count // size - cards
        assert (
            f"{left:,} smaller clusters with {left * size:,} queries are not shown; {left * (size - 1):,} of these"
            in text
        )
    else:
        assert re.search(rf"SQL and proofs: \d+ of {count:,} queries, --json has all of them", text)
        assert re.search(rf"\d+ of {count:,} boxes are drawn: those that cover most", text)
