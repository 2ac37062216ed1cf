"""Real detection rules: all are accepted, and every matcher finds exactly the expected pairs of event and rule."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.sql import bind
from tests.comparisons import compared
from tests.differential import data
from tests.differential.matchers import MATCHERS

TYPES = {"string": pa.string(), "long": pa.int64()}


@pytest.fixture(scope="module")
def rules() -> list[dict[str, Any]]:
    return data.lines(data.folder("sigma") / "rules.jsonl.gz")


@pytest.fixture(scope="module")
def events() -> Stream:
    columns = json.loads((data.folder("sigma") / "schema.json").read_text())
    return Stream("events", pa.schema([(column["name"], TYPES[column["type"]]) for column in columns]))


def test_all_rules_are_accepted(rules: list[dict[str, Any]], events: Stream) -> None:
    refused = []
    for rule in rules:
        for sql in [rule["sql"], *source_query(rule)]:
            try:
                bind(Query(rule["id"], sql), [events])
            except QueryError as error:
                refused.append(str(error))
    assert len(rules) == 3755
    assert not refused, f"{len(refused)} refused, such as\n" + "\n".join(sorted(refused, key=len)[:5])


def source_query(rule: dict[str, Any]) -> list[str]:
    """The rule's log source as a query of its own, where it is known."""
    where = rule["logsource_where"]
    return [] if where is None else [f"SELECT * FROM events WHERE {where}"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("matcher", "every"),
    [("queryset", 1), pytest.param("reference", 1, marks=pytest.mark.long)],
)
def test_expected_pairs(matcher: str, every: int, rules: list[dict[str, Any]], events: Stream) -> None:
    """All events, or one of so many: the reference takes its time."""
    table = pq.read_table(data.folder("sigma") / "events.parquet").select(events.schema.names)
    assert table.column("_idx").to_pylist() == list(range(table.num_rows))
    chosen = range(0, table.num_rows, every)
    batch = table.take(list(chosen)).cast(events.schema).combine_chunks().to_batches()[0]
    queries = [Query(rule["id"], rule["sql"]) for rule in rules]
    compared(f"Sigma: {matcher}", len(queries))
    matches = MATCHERS[matcher](queries, batch, events)
    found = {(chosen[row], rule["id"]) for rule in rules for row in matches.rows(rule["id"]).tolist()}
    pairs = data.lines(data.folder("sigma") / "expected.jsonl.gz")
    expected = {(pair["event"], pair["rule"]) for pair in pairs if pair["event"] in chosen}
    assert len(pairs) == 756 and len(expected) >= 756 // (2 * every)
    assert found == expected, (
        f"missing {sorted(expected - found)[:5]}, too many {sorted(found - expected)[:5]}"
    )
