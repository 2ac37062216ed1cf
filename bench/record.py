"""One measured line, and the file and table that collect them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

LATEST = Path(__file__).parent / "results" / "latest.json"


@dataclass(frozen=True)
class Record:
    """A figure of ours beside a peer's, from one run; `equal` says that both gave the same results."""

    workload: str
    queries: int
    rows: int
    metric: str
    ours: float
    peer: str
    peer_value: float
    ratio: float
    equal: bool


def write(records: list[Record], path: Path = LATEST) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([asdict(record) for record in records], indent=2) + "\n", encoding="utf-8")


def show(records: list[Record], console: Console) -> None:
    table = Table("workload", "queries", "rows", "metric", "ours", "peer", "peer's", "ratio", "equal")
    for r in records:
        figures = (f"{r.queries:,}", f"{r.rows:,}", r.metric, f"{r.ours:,.4g}")
        table.add_row(r.workload, *figures, r.peer, f"{r.peer_value:,.4g}", f"{r.ratio:.3g}x", str(r.equal))
    console.print(table)
