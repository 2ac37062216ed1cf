"""The demo of the pipeline without its looks: registry, feeder, people and pipeline together, and what came of it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from statistics import median
from types import TracebackType
from typing import Any, Final, Protocol

from eddyline.cli.demo.pipeline.check import DemoVerdict, check
from eddyline.cli.demo.pipeline.feeder import Feeder
from eddyline.cli.demo.pipeline.people import MadeChange, People, destination_of
from eddyline.cli.demo.pipeline.plan import FILES_A_SECOND, PipelineDemoPlan
from eddyline.cli.run.course import STARTING, rows_per_busy_second
from eddyline.compile import Compiler
from eddyline.registry import Put, Registry
from eddyline.runtime.spark.pipeline.pipeline import Pipeline
from eddyline.runtime.spark.pipeline.running import RunningPipeline
from eddyline.runtime.spark.watching import BatchReport, Tail
from eddyline.testing.market import QUOTES
from eddyline.testing.market_queries import some_standing, standing

LOOK: Final = 0.2  # seconds between two looks at the reports
SHORTEST_PAUSE: Final = 1.0  # seconds between two steps of the people
STEPS: Final = 8  # of the people, while files come in
LONGER: Final = 50  # seconds beyond their time after which no file comes any more, on a slow machine


class DemoWatch(Protocol):
    """Who is told of the run: entered when Spark is there, whose start writes to the terminal as it likes."""

    def __enter__(self) -> DemoWatch: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def update(self, report: BatchReport) -> None:
        """A batch was committed."""

    def tell(self, text: str, *, version: int | None = None) -> None:
        """Somebody did something."""


@dataclass(frozen=True, slots=True)
class DemoOutcome:
    """What came of a run."""

    plan: PipelineDemoPlan
    reports: tuple[BatchReport, ...]
    events: tuple[MadeChange, ...]
    verdict: DemoVerdict
    files: int
    broken: int  # lines that no reader could read
    seconds_to_start: float
    seconds_to_first: float  # from the start of everything to the first batch that was committed
    seconds: float  # from the first file to the last result

    @property
    def versions(self) -> dict[int, int]:
        """Batches by the version that served them."""
        found: dict[int, int] = {}
        for report in self.reports:
            found[report.version] = found.get(report.version, 0) + 1
        return found

    @property
    def steady(self) -> tuple[BatchReport, ...]:
        """The batches after the first ones, in which workers start; all where there are no others."""
        return self.reports[STARTING:] or self.reports

    @property
    def rows_per_second(self) -> float:
        """Rows in a second of work, of steady batches."""
        return rows_per_busy_second(self.steady)

    @property
    def batch_seconds(self) -> float:
        """What a steady batch usually takes."""
        return median([report.total for report in self.steady] or [0.0])

    def sum(self, name: str) -> int:
        """The sum of a count over all batches."""
        return sum(getattr(report, name) for report in self.reports)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "runtime": "spark",
            "folder": str(self.plan.folder),
            "seed": self.plan.seed,
            "files": self.files,
            "batches": len(self.reports),
            "rows": self.sum("rows"),
            "matched": self.sum("matched_rows"),
            "matches": self.sum("matches"),
            "dead_letters": self.sum("dropped_rows"),
            "results": self.verdict.results,
            "expected": self.verdict.expected,
            "missing": self.verdict.missing,
            "too_many": self.verdict.too_many,
            "exactly_once": self.verdict.is_exact,
            "versions": {str(version): count for version, count in self.versions.items()},
            "changes": [
                {"version": event.version, "text": event.text, "command": event.command}
                for event in self.events
            ],
            "seconds_to_start": round(self.seconds_to_start, 1),
            "seconds_to_first_batch": round(self.seconds_to_first, 1),
            "steady_rows_per_second": round(self.rows_per_second),
            "steady_batch_seconds": round(self.batch_seconds, 3),
            "seconds": round(self.seconds, 1),
        }


def run(plan: PipelineDemoPlan, watch: DemoWatch) -> DemoOutcome:
    """Run the demo; it ends when every file that came in was read."""
    begin, began = time.monotonic(), datetime.now(UTC)
    plan.write_settings()
    _enter_queries(plan)
    tail = Tail(plan.metrics)
    feeder = Feeder(
        plan.incoming,
        seed=plan.seed,
        rows=plan.rows,
        files=plan.files,
        pace=FILES_A_SECOND,
        longest=plan.seconds + LONGER,
        read=lambda: tail.totals.count("batches"),
    )
    try:
        with Pipeline(plan.settings).start() as running, watch:
            started = time.monotonic()
            feeder.start()
            reports, events = _flow(plan, running, feeder, tail, watch)
            ended = time.monotonic()
    finally:
        feeder.stop()
    return DemoOutcome(
        plan=plan,
        reports=tuple(reports),
        events=tuple(events),
        verdict=check(plan, feeder.files),
        files=feeder.files,
        broken=feeder.broken,
        seconds_to_start=started - begin,
        seconds_to_first=min((one.end for one in reports), default=began).timestamp() - began.timestamp(),
        seconds=ended - started,
    )


def _enter_queries(plan: PipelineDemoPlan) -> None:
    """The queries that stand from the start, as one version."""
    queries = some_standing(plan.queries, plan.seed)
    puts = [
        Put(query.id, query.sql, tags=query.tags, owner=query.owner, destination=destination_of(query))
        for query in queries
    ]
    with Registry.open(plan.registry) as registry:
        check = Compiler([QUOTES]).check
        registry.change(puts, streams=[QUOTES], author="ann", reason="the first set", check=check)


def _flow(
    plan: PipelineDemoPlan, running: RunningPipeline, feeder: Feeder, tail: Tail, watch: DemoWatch
) -> tuple[list[BatchReport], list[MadeChange]]:
    """From the first file to the last result."""
    reports: list[BatchReport] = []
    with PeopleAtWork(plan, tail, watch) as work:
        while not (feeder.is_done and tail.totals.count("rows") >= feeder.rows):
            time.sleep(LOOK)
            for report in tail.read():
                reports.append(report)
                watch.update(report)
            if not running.is_active:
                running.await_termination()  # raises why it ended
    return reports, work.events


class PeopleAtWork:
    """People who change queries, in a thread of their own, from when there are matches to look at."""

    def __init__(self, plan: PipelineDemoPlan, tail: Tail, watch: DemoWatch) -> None:
        self.events: list[MadeChange] = []
        self._pause = max(SHORTEST_PAUSE, plan.seconds / STEPS)
        self._tail = tail
        self._watch = watch
        self._ended = threading.Event()
        self._failure: BaseException | None = None
        self._people = People(
            plan.registry, islice(standing(plan.seed), plan.queries, None), lambda: tail.totals.busiest(STEPS)
        )
        self._thread = threading.Thread(target=self._run, name="eddyline-people", daemon=True)

    def __enter__(self) -> PeopleAtWork:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if error is None and self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        while len(self._tail.totals.queries) <= STEPS:
            if self._ended.wait(LOOK):
                return
        try:
            while not self._ended.is_set():
                event = self._people.act()
                self.events.append(event)
                self._watch.tell(event.text, version=event.version)
                self._ended.wait(self._pause)
        except BaseException as error:
            self._failure = error
