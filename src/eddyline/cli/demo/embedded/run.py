"""The demo without its looks: batches at an even pace through a real engine, and a record of what happened."""

from __future__ import annotations

import heapq
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from eddyline.cli.demo.embedded.story import Story, StoryEvent
from eddyline.engine import Deliveries, Engine
from eddyline.registry import Registry
from eddyline.testing.market import QUOTES, Market
from eddyline.testing.market_queries import some_standing, standing

ROWS: Final = 20_000  # tuples in a batch
PACE: Final = 5  # batches a second
KEPT: Final = 12  # deliveries that are remembered for the view
BUSIEST: Final = 10


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """What is asked for. Nothing but this decides what is matched."""

    seconds: int
    queries: int
    seed: int
    folder: Path

    @property
    def batches(self) -> int:
        """As many as fit into the time."""
        return self.seconds * PACE


@dataclass(frozen=True, slots=True)
class Beat:
    """One batch on the record."""

    tuples: int
    matched: int
    matches: Counter[str]  # by family
    seconds: float  # in the push


@dataclass(slots=True)
class DemoRecord:
    """What happened so far."""

    plan: DemoPlan
    beats: list[Beat] = field(default_factory=list)
    events: list[StoryEvent] = field(default_factory=list)
    latest: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=KEPT))
    busiest: list[tuple[str, int]] = field(default_factory=list)
    version: int = 0
    queries: int = 0
    tuples: int = 0
    matched: int = 0
    matches: int = 0
    delivered: int = 0
    pushing: float = 0.0  # seconds inside of push
    taken: float = 0.0  # seconds in all

    @property
    def families(self) -> Counter[str]:
        """Matches by family of queries."""
        return sum((beat.matches for beat in self.beats), Counter[str]())

    def as_json(self) -> dict[str, Any]:
        """For machines; only what begins with "seconds" differs from run to run."""
        return {
            "folder": str(self.plan.folder),
            "seed": self.plan.seed,
            "batches": len(self.beats),
            "tuples": self.tuples,
            "matched": self.matched,
            "matches": self.matches,
            "delivered": self.delivered,
            "version": self.version,
            "queries": self.queries,
            "families": dict(sorted(self.families.items())),
            "busiest": dict(self.busiest),
            "changes": [
                {"batch": event.batch, "version": event.version, "text": event.text} for event in self.events
            ],
            "seconds": round(self.taken, 3),
            "seconds_pushing": round(self.pushing, 3),
        }


def run(plan: DemoPlan, watch: Callable[[DemoRecord], None]) -> DemoRecord:
    """Set up, let the market flow, and call `watch` after every batch; leaves the folder with all that it made."""
    record = DemoRecord(plan)
    registry = Registry.open(plan.folder / "registry.db")
    with registry, Engine(registry=registry, deliveries=plan.folder / "deliveries") as engine:
        story = Story(registry, engine, _after_first(plan))
        story.begin(some_standing(plan.queries, plan.seed))
        _warm_up(engine.queries())
        market = Market(plan.seed)
        start = time.perf_counter()
        for number in range(plan.batches):
            batch = market.batch(ROWS)
            _push(engine, batch, number, record)
            event = story.after(number)
            if event is not None:
                record.events.append(event)
            record.version, record.queries = engine.version, len(engine)
            record.taken = time.perf_counter() - start
            watch(record)
            time.sleep(max(0.0, start + (number + 1) / PACE - time.perf_counter()))
        record.taken = time.perf_counter() - start
        engine.ledger.check()
        engine.save_counters()
    pq.write_table(pa.Table.from_batches([batch]), plan.folder / "quotes.parquet")
    return record


def _after_first(plan: DemoPlan) -> Any:
    """Queries beyond those that stand from the start."""
    fresh = standing(plan.seed)
    for _ in range(plan.queries):
        next(fresh)
    return fresh


def _warm_up(queries: dict[str, str]) -> None:
    """Have machine code ready: the very first push on a machine compiles it, which takes seconds."""
    engine = Engine([QUOTES])
    engine.add(queries)
    engine.push("quotes", Market().batch(ROWS))


def _push(engine: Engine, batch: pa.RecordBatch, number: int, record: DemoRecord) -> None:
    start = time.perf_counter()
    deliveries = engine.push("quotes", batch, batch_id=f"batch {number}")
    seconds = time.perf_counter() - start
    account = deliveries.ledger
    families: Counter[str] = Counter()
    for id, count in account.queries.items():
        families[id.partition("-")[0]] += count
    record.beats.append(Beat(account.tuples, account.matched, families, seconds))
    record.tuples += account.tuples
    record.matched += account.matched
    record.matches += account.total.matches
    record.delivered += account.total.delivered
    record.pushing += seconds
    record.latest.extend(_samples(deliveries))
    accounts = engine.ledger.queries()
    record.busiest = [
        (id, accounts[id].matches)
        for id in heapq.nsmallest(BUSIEST, accounts, key=lambda id: (-accounts[id].matches, id))
    ]


def _samples(deliveries: Deliveries) -> list[tuple[str, str]]:
    """A delivered row of each table: the query, and the row in words."""
    found = []
    for table in deliveries:
        row = table.slice(table.num_rows - 1, 1).to_pylist()[0]
        query, symbol = row.pop("query"), row.pop("symbol")
        rest = [
            f"{name} {_shown(value)}" for name, value in row.items() if name in _TELLING and value is not None
        ]
        found.append((query, row.get("headline") or f"{symbol} {', '.join(rest)}"))
    return found


_TELLING: Final = ("price", "change", "volume", "turnover")


def _shown(value: object) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
