"""The result stage with hand-made matches: tables by SELECT list, and an account that agrees."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline import LedgerError, Stream
from eddyline.compile import Compiler
from eddyline.model.query import Query
from eddyline.project.account import Account, QueryAccounts, together
from eddyline.project.select_lists import LEAD, SelectLists, file_table
from eddyline.project.stage import QueryColumns, Results, Selected

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.int32())]))
BATCH = pa.record_batch({"symbol": ["A", "B", "C"], "price": [5, 50, 0]}, QUOTES.schema)
TEXTS = {
    "a": "SELECT symbol FROM quotes",
    "b": "SELECT 100 % price AS rest FROM quotes",
    "c": "SELECT symbol FROM quotes",
    "shadow": "SELECT symbol FROM quotes",
}
ROW, QUERY = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 2, 3, 1])


def lists(hidden: tuple[str, ...] = ("shadow",)) -> SelectLists:
    compiler = Compiler([QUOTES])
    return SelectLists.of([compiler.compile(Query(*item)) for item in TEXTS.items()], [QUOTES], hidden)


def columns(hidden: tuple[str, ...] = ("shadow",)) -> QueryColumns:
    return lists(hidden).of_set(pa.array(list(TEXTS)))


def told(selected: Selected) -> tuple[list[str], list[int], list[dict[str, object]]]:
    table = pa.table(selected.columns, schema=selected.select.schema)
    return [list(TEXTS)[query] for query in selected.query], selected.row.tolist(), table.to_pylist()


@pytest.mark.parametrize("most", [None, 2, 1])
def test_results_by_select_list(most: int | None) -> None:
    results = Results(columns(), ROW, QUERY)
    found = list(results.selected(BATCH, most=most))
    rows = [(*one, selected.select.number) for selected in found for one in zip(*told(selected), strict=True)]
    assert sorted(rows, key=str) == [
        ("a", 0, {"symbol": "A"}, 0),
        ("b", 0, {"rest": 0}, 1),
        ("b", 2, {"rest": None}, 1),
        ("c", 0, {"symbol": "A"}, 0),
        ("c", 1, {"symbol": "B"}, 0),
    ]
    assert sorted(place for selected in found for place in selected.place.tolist()) == [0, 1, 2, 3, 5]
    results.accounts.check()
    assert results.matched == 3 and dict(results.accounts) == {
        0: Account(matches=1, delivered=1),
        1: Account(matches=2, delivered=2, failures=1),
        2: Account(matches=2, delivered=2),
        3: Account(matches=1, shadowed=1),
    }


def test_a_row_is_computed_once() -> None:
    (selected,) = Results(columns(), np.array([1, 1, 2]), np.array([0, 2, 0])).selected(BATCH)
    assert [values.to_pylist() for values in selected.values] == [["B", "C"]]
    assert [values.to_pylist() for values in selected.columns] == [["B", "B", "C"]]
    table = file_table(selected, pa.array(["a", "c", "a"]), "x.csv", selected.row)
    assert table.schema.names == [*LEAD.names, "symbol"] and table["row"].to_pylist() == [2, 2, 3]


def test_a_select_list_that_fails() -> None:
    results = Results(columns(), ROW, QUERY)
    names, rest = results.selected(BATCH.select(["price"]))
    with pytest.raises(Exception, match='no column "symbol"') as caught:
        names.columns  # noqa: B018  asking for them raises
    assert caught.value is names.error and rest.error is None
    assert results.accounts.total == Account(6, 2, 1, 3, failures=1, errors=2)
    assert dict(results.accounts)[2] == Account(matches=2, undelivered=2, errors=1)


def test_results_that_nobody_takes() -> None:
    results = Results(columns(), ROW, QUERY)
    for selected in results.selected(BATCH):
        results.accounts.withdraw(selected.account[selected.query == 2])
    results.accounts.check()
    assert dict(results.accounts)[2] == Account(matches=2, undelivered=2)


def test_no_matches() -> None:
    none = np.empty(0, np.int64)
    results = Results(columns(), none, none)
    assert list(results.selected(BATCH)) == [] and results.matched == 0
    assert results.accounts.total == Account() and len(results.accounts) == 0


def test_few_matches_of_a_large_set() -> None:
    """Of a large set only the queries that are met are looked at; the account says the same."""
    few = columns()
    large = QueryColumns(
        np.append(few.select, np.zeros(1000, np.int64)),
        np.append(few.shadow, np.zeros(1000, np.bool_)),
        few.select_list,
    )
    one, other = Results(few, ROW, QUERY), Results(large, ROW, QUERY)
    assert [told(s) for s in one.selected(BATCH)] == [told(s) for s in other.selected(BATCH)]
    assert dict(one.accounts) == dict(other.accounts)


def test_accounts_add_up_and_travel() -> None:
    results = Results(columns(), ROW, QUERY)
    assert len(list(results.selected(BATCH))) == 2
    once = results.accounts
    again = QueryAccounts.of_ipc(once.to_ipc())
    assert dict(again) == dict(once)
    other = QueryAccounts.of(np.array([2, 9]), matches=[1, 4], undelivered=[1, 4])
    both = together([again, other, once])
    assert dict(both)[2] == Account(matches=5, delivered=4, undelivered=1) and both.query.tolist() == [
        0,
        1,
        2,
        3,
        9,
    ]
    assert both.total == once.total + once.total + other.total
    both.check()
    with pytest.raises(LedgerError, match="matches of 1 queries are unaccounted for, first of query 9"):
        both.plus(QueryAccounts.of(np.array([9]), matches=1)).check()
    assert together([]).total == Account()
