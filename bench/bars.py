"""What the project holds itself to: for each line the least ratio, the least rate, or the most seconds or bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.record import SPARK_PEERS, Record


@dataclass(frozen=True)
class Bar:
    """Applies to the lines of a workload, metric and peer, from so many queries to so many, with so many rows; peer "" is any."""

    workload: str
    metric: str
    peer: str
    ratio: float | None = None
    ours: float | None = None
    at_least: int = 0
    at_most: int = 1 << 60
    rows: tuple[int, ...] = ()  # any if none are named

    def applies(self, record: Record) -> bool:
        """Whether the line is this bar's."""
        named = (record.workload, record.metric) == (self.workload, self.metric)
        fits = self.at_least <= record.queries <= self.at_most and record.rows in (
            self.rows or (record.rows,)
        )
        return named and fits and self.peer in ("", record.peer)

    def met(self, record: Record) -> bool:
        """Whether the line reaches it."""
        if self.ratio is not None:
            return record.ratio >= self.ratio
        assert self.ours is not None, "a bar has a ratio or a figure"
        return record.ours <= self.ours if record.metric in LESS_IS_BETTER else record.ours >= self.ours

    def __str__(self) -> str:
        if self.ratio is not None:
            return f"{self.ratio:.2g}x" if self.ratio < 1 else f"{self.ratio:g}x"
        sign = "<" if self.metric in LESS_IS_BETTER else ">"
        return f"{sign} {self.ours:,g}"


LESS_IS_BETTER: Final = ("start", "extra", "bytes", "seconds", "p99", "monitor", "growth", "trigger")
WAYS: Final = SPARK_PEERS[1:]
ADAPTING: Final = (
    "paper",
    "paper nulls",
    "alerts",
    "boolean",
    "boolean selective",
    "patterns",
    "selective",
    "selective drifting",
    "equality",
    "sigma",
)
BARS: Final = (
    Bar("alerts covers", "seconds", "duckdb", ratio=2, at_least=100_000),
    Bar("alerts covers", "seconds", "build", ours=60),
    Bar("paper covers", "seconds", "build", ours=60),
    Bar("sigma covers", "seconds", "build", ours=60),
    Bar("alerts covers", "bytes", "limit", ratio=1),
    Bar("paper covers", "bytes", "limit", ratio=1),
    Bar("sigma covers", "bytes", "limit", ratio=1),
    Bar("alerts proofs", "seconds", "duckdb", ours=3, at_most=100_000),
    Bar("new query", "seconds", "whole set", ours=0.05, at_most=100_000),
    Bar("new query, kept set", "seconds", "start", ours=2, at_most=100_000),
    Bar("new query, no set", "seconds", "start", ours=12, at_most=100_000),
    Bar("columns pairs", "seconds", "z3", ratio=30),
    Bar("columns pairs", "decided", "all", ours=0.999),
    Bar("sigma pairs", "decided", "all", ours=0.95),
    Bar("paper", "marginal", "polars", ratio=6, at_least=100, at_most=999),
    Bar("paper", "marginal", "polars", ratio=12, at_least=1_000, at_most=10_000),
    Bar("paper", "marginal", "polars", ratio=10, at_least=100_000),
    Bar("paper", "call", "polars", ratio=50, at_least=10_000),
    Bar("paper", "pairs", "duckdb", ratio=200, at_least=1_000),
    Bar("paper", "counts", "one thread", ratio=1.6, at_least=10_000),
    Bar("paper nulls", "marginal", "int32 without", ratio=0.7, at_least=10_000),
    Bar("alerts", "call", "polars", ratio=300, at_least=10_000, at_most=10_000),
    Bar("alerts", "call", "duckdb", ratio=10, at_least=10_000, at_most=10_000),
    Bar("alerts", "call", "at 10,000", ratio=1 / 3, at_least=100_000, at_most=100_000),
    Bar("alerts", "call", "at 10,000", ratio=1 / 12, at_least=1_000_000),
    Bar("alerts", "bytes", "SQL texts", ours=200, at_least=100_000),
    Bar("alerts", "single", "sqlite", ours=20_000, at_least=10_000),
    Bar("alerts", "start", "polars", ours=15, at_least=100_000),
    Bar("alerts", "start", "saving", ours=2),
    Bar("alerts", "seconds", "one add", ours=10),
    Bar("any", "start", "first process", ours=1.5),
    Bar("any", "start", "second process", ours=7),
    Bar("first batch, cold", "extra", "plain start", ours=8),
    Bar("first batch, warm", "extra", "plain start", ours=2),
    Bar("boolean", "marginal", "polars", ratio=6, at_least=10_000),
    Bar("boolean", "call", "polars", ratio=30, at_least=10_000),
    Bar("boolean selective", "marginal", "polars", ratio=6, at_least=10_000),
    Bar("boolean selective", "call", "polars", ratio=30, at_least=10_000),
    Bar("patterns", "call", "polars", ratio=250, at_least=2_000),
    Bar("selective", "marginal", "polars", ratio=20, at_least=1_000),
    Bar("selective drifting", "marginal", "polars", ratio=20, at_least=1_000),
    # the default order: against a bad one, against none that adapts, and against the best that can be forced
    Bar("selective", "adaptive", "worst order", ratio=1.5),
    Bar("selective drifting", "adaptive", "order of phase 1", ratio=2),
    Bar("selective drifting", "adaptive", "filter of phase 1", ratio=2),
    *(Bar(workload, "adaptive", "", ratio=1 / 1.1) for workload in ADAPTING),
    *(Bar(workload, "monitor", "", ours=0.03) for workload in ADAPTING),
    Bar("equality", "call", "", ratio=4, at_least=100_000),
    Bar("equality dictionary", "call", "", ratio=15, at_least=100_000),
    Bar("sigma", "call", "duckdb", ratio=100, at_least=3_000),
    Bar("engine", "tuples", "asked for", ours=1_000_000, at_least=10_000),
    Bar("engine", "changes", "asked for", ours=200, at_least=10_000),
    Bar("engine", "p99", "median", ratio=1 / 3, at_least=10_000),
    Bar("engine", "worn", "fresh engine", ratio=0.9, at_least=10_000),
    # window joins
    *(Bar(name, "join", "asked for", ours=1_000_000, at_least=100_000) for name in ("pairs", "pairs even")),
    Bar("ranges", "join", "asked for", ours=400_000, at_least=10_000, at_most=10_000),
    Bar("ranges", "join", "asked for", ours=200_000, at_least=100_000),
    *(Bar(name, "join", "at 1,000", ratio=0.5, at_least=100_000) for name in ("pairs", "pairs even")),
    Bar("pairs", "push", "join", ratio=0.5, at_least=100_000),
    Bar("pairs", "join", "duckdb-per-query", ratio=15, at_least=100, at_most=100),
    Bar("pairs", "join", "duckdb-per-query", ratio=100, at_least=1_000),
    Bar("pairs", "join", "duckdb-join-then-rules", ratio=30, at_least=1_000),
    Bar("pairs", "join", "unshared", ratio=8, at_least=1_000),
    *(Bar("pairs", metric, "esper", ratio=10, at_least=1_000) for metric in ("join", "push")),
    Bar("pairs", "join", "no lineage", ratio=0.9, at_most=1),
    *(Bar(f"changing, merged in a {place}", "p99", "median", ratio=1 / 3) for place in ("thread", "process")),
    *(
        Bar(f"changing, merged in a {place}", "changes", "asked for", ours=200)
        for place in ("thread", "process")
    ),
    Bar("one side", "bytes", "payload", ours=100, at_least=10_000),
    Bar("one side", "growth", "allowed", ours=0.1, at_least=10_000),
    # on Spark: at most so many times the time of a pass-through
    Bar("alerts", "numbers", "pass-through", ratio=1 / 1.3, at_most=1_000),
    Bar("alerts", "numbers", "pass-through", ratio=1 / 1.5, at_most=10_000),
    Bar("alerts", "numbers", "pass-through", ratio=1 / 2, at_most=100_000),
    Bar("alerts", "numbers", "pass-through", ratio=1 / 3, at_most=1_000_000),
    Bar("expressions", "numbers", "pass-through", ratio=1 / 2),
    # on Spark: against each of the ways that users have today
    *(Bar("paper", metric, peer, ratio=1, at_most=100) for peer in WAYS for metric in ("counts", "numbers")),
    *(Bar("paper", "counts", peer, ratio=20, at_most=1_000) for peer in WAYS),
    *(Bar("paper", "counts", peer, ratio=100, at_most=10_000) for peer in WAYS),
    *(Bar("paper", "numbers", peer, ratio=8, at_most=1_000) for peer in WAYS),
    *(Bar("paper", "numbers", peer, ratio=10, at_most=10_000) for peer in WAYS),
    # whole pipelines: at most so many times the time of another batch
    Bar("pipeline", "trigger", "plain-job", ratio=1 / 1.5, rows=(1_000, 100_000)),
    Bar("pipeline", "trigger", "pass-through-job", ratio=1 / 1.3, rows=(1_000_000,)),
    Bar("pipeline", "trigger", "at 1,000", ratio=1 / 1.5),
    Bar("two sinks", "trigger", "one sink", ratio=1 / 1.15),
    Bar("registry import", "seconds", "", ours=20, at_least=100_000),
    Bar("registry list", "seconds", "", ours=5, at_least=100_000),
    Bar("registry search", "seconds", "", ours=3, at_least=100_000),
    Bar("registry export", "seconds", "", ours=5, at_least=100_000),
)


def bar_of(record: Record) -> Bar | None:
    """The bar of a line, if it has one."""
    return next((bar for bar in BARS if bar.applies(record)), None)
