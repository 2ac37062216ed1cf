"""What entries, edits and budgets accept."""

from __future__ import annotations

from typing import Any

import pytest

from eddyline.errors import RegistryError
from eddyline.registry import Budget, Put, Set, State

SQL = "SELECT * FROM quotes"


@pytest.mark.parametrize("id", ["", " a", "a ", "a\nb", "a\x00", "\ud800", "x" * 501, "a\u2028b"])
def test_bad_ids(id: str) -> None:
    with pytest.raises(RegistryError, match="the id"):
        Put(id, SQL)


@pytest.mark.parametrize("sql", ["", "  \n", "SELECT '\x00'", "SELECT '\udc80'"])
def test_bad_texts(sql: str) -> None:
    with pytest.raises(RegistryError, match='query "a"'):
        Put("a", sql)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"tags": "fx"}, "tags are several texts"),
        ({"tags": ["a b"]}, "the tag"),
        ({"tags": ["a,b"]}, "the tag"),
        ({"tags": [""]}, "the tag"),
        ({"owner": ""}, "the owner"),
        ({"destination": "a\nb"}, "the destination"),
        ({"state": "odd"}, "is no state"),
        ({"metadata": {"a": float("nan")}}, "cannot be kept as JSON"),
        ({"metadata": {"a": object()}}, "cannot be kept as JSON"),
        ({"metadata": [1]}, "metadata is an object"),
    ],
)
def test_bad_attributes(said: dict[str, Any], message: str) -> None:
    for make in (lambda: Put("a", SQL, **said), lambda: Set("a", **said)):
        with pytest.raises(RegistryError, match=message):
            make()


def test_edits_are_brought_into_form() -> None:
    put = Put("a", f" {SQL}\n", state="shadow", tags={"b", "a"}, metadata={1: (2, 3)})  # type: ignore[arg-type,dict-item]
    assert (put.sql, put.state, put.tags, put.metadata) == (SQL, State.SHADOW, ("a", "b"), {"1": [2, 3]})


@pytest.mark.parametrize(
    "said",
    [
        ("team", "a"),
        ("query", ""),
        ("query", "a", -1),
        ("query", "a", None, float("inf")),
        ("owner", "a", 1, None, "kill"),
    ],
)
def test_bad_budgets(said: tuple[Any, ...]) -> None:
    with pytest.raises(RegistryError):
        Budget(*said)
