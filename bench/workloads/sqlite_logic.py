"""`sqlite-logic`: conditions of SQLite's own logic tests, over columns of one table for each file.

The data lies beside the repository, or where EDDYLINE_TEST_DATA says; it is not ours to copy.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

from bench.workloads.data import beside
from eddyline import Stream

_TYPES: Final = {"INTEGER": pa.int64(), "FLOAT": pa.float64(), "TEXT": pa.string()}


@dataclass(frozen=True)
class LogicFile:
    """The queries of one file, as SQL text, and their stream."""

    stream: Stream
    texts: list[str]


def folder() -> Path | None:
    """Where the data lies, if it is there."""
    return beside("sqlite-logic")


def load(data: Path) -> Iterator[LogicFile]:
    """Read all files."""
    for path in sorted(data.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            head, *cases = map(json.loads, lines)
        schema = pa.schema([(name, _TYPES[kind]) for name, kind in head["columns"]])
        yield LogicFile(Stream(head["table"], schema), [case["sql"] for case in cases])
