"""One measured line, and the file that collects them."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

LATEST = Path(__file__).parent / "results" / "latest.json"
SPARK_PEERS = (
    "pass-through",
    "boolean-columns",
    "if-array",
    "rules-join",
    "python-udf",
    "query-per-rule",
)
PIPELINE_WORKLOADS = ("pipeline", "two sinks", "first batch")
JOIN_WORKLOADS = ("pairs", "ranges", "one side", "changing")
RELATION_WORKLOADS = (
    "alerts covers",
    "alerts proofs",
    "alerts or covers",
    "paper covers",
    "sigma covers",
    "sigma pairs",
    "columns pairs",
    "new query",
)
CAPACITY = "capacity"  # workloads whose peer is a prediction
TableName = Literal["embedded", "joins", "relations", "spark", "pipelines", "capacity"]


@dataclass(frozen=True)
class Record:
    """A figure of ours beside a peer's, from one run; `equal` says that both gave the same results.

    `ratio` is how many times better ours is: the quotient of rates, or the inverse one of seconds and bytes.
    """

    workload: str
    queries: int
    rows: int
    metric: str
    ours: float
    peer: str
    peer_value: float
    ratio: float
    equal: bool

    @property
    def table(self) -> TableName:
        """The table that the line belongs to: those on Spark have peers of their own, joins, relations, predictions workloads."""
        if self.workload.startswith(PIPELINE_WORKLOADS):
            return "pipelines"
        if self.peer in SPARK_PEERS:
            return "spark"
        if self.workload.startswith(CAPACITY):
            return "capacity"
        if self.workload.startswith(RELATION_WORKLOADS):
            return "relations"
        return "joins" if self.workload.startswith(JOIN_WORKLOADS) else "embedded"

    @staticmethod
    def rates(
        workload: str,
        queries: int,
        rows: int,
        metric: str,
        ours: float,
        peer: str,
        peer_value: float,
        equal: bool,
    ) -> Record:
        """A line where more is better."""
        return Record(workload, queries, rows, metric, ours, peer, peer_value, ours / peer_value, bool(equal))


def write(records: list[Record], path: Path = LATEST) -> None:
    """Write all lines of a run."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([asdict(record) for record in records], indent=2) + "\n", encoding="utf-8")


def kept(path: Path, replaced: Collection[TableName]) -> list[Record]:
    """The lines of a file that a run does not replace: those of other tables."""
    return [record for record in read(path) if record.table not in replaced] if path.exists() else []


def read(path: Path = LATEST) -> list[Record]:
    """The lines of a run."""
    return [Record(**line) for line in json.loads(path.read_text(encoding="utf-8"))]
