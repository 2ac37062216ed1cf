"""`sigma`: 3,755 real detection rules over 50,000 real Windows events of 457 columns.

The data lies beside the repository, or where EDDYLINE_TEST_DATA says; it is not ours to copy.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from bench.workloads.data import beside
from eddyline import Stream

_TYPES: Final = {"string": pa.string(), "long": pa.int64()}


@dataclass(frozen=True)
class Sigma:
    """Rules by id as SQL text, and events of the stream's schema."""

    stream: Stream
    texts: dict[str, str]
    events: pa.RecordBatch


def folder() -> Path | None:
    """Where the data lies, if it is there."""
    return beside("sigma")


def load(data: Path) -> Sigma:
    """Read rules and events."""
    columns = json.loads((data / "schema.json").read_text(encoding="utf-8"))
    schema = pa.schema([(column["name"], _TYPES[column["type"]]) for column in columns])
    with gzip.open(data / "rules.jsonl.gz", "rt", encoding="utf-8") as lines:
        rules = [json.loads(line) for line in lines]
    table = pq.read_table(data / "otrf_events.parquet").select(schema.names).cast(schema)
    batch = table.combine_chunks().to_batches()[0]
    return Sigma(Stream("events", schema), {rule["id"]: rule["sql"] for rule in rules}, batch)
