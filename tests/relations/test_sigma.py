"""Real detection rules: which say the same, and which are covered by others."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream, implies
from tests.comparisons import compared
from tests.differential import data

TYPES = {"string": pa.string(), "long": pa.int64()}


@pytest.mark.long
def test_duplicates_and_covers() -> None:
    rules = data.lines(data.folder("sigma") / "rules.jsonl.gz")
    columns = json.loads((data.folder("sigma") / "schema.json").read_text())
    events = Stream("events", pa.schema([(column["name"], TYPES[column["type"]]) for column in columns]))
    texts = {rule["id"]: rule["sql"] for rule in rules}
    found = QuerySet.build(texts, streams=[events]).redundancies()
    rows = found.table.to_pylist()
    groups = {row["other"] for row in rows if row["relation"] == "equivalent"}
    covered = [row for row in rows if row["relation"] == "implied"]
    compared("Sigma: covered rules", len(covered))
    assert len(groups) >= 11
    for row in covered[:50]:
        assert implies(texts[row["query"]], texts[row["other"]], streams=events)
