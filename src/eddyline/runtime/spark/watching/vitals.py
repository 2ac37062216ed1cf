"""How a pipeline is right now, as values, and what follows from them: whether it is healthy, whether it is ready.

Unhealthy is what only a new process mends: a supervisor (systemd, Kubernetes) should start it again. What passes by itself,
such as a pause before the next attempt, a registry that is away or a folder that is missing, makes it not ready.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

SILENCE: Final = 120.0  # seconds in which Spark has to answer a simple question
NO_EXECUTOR: Final = 60.0  # seconds that a batch may wait for an executor, when there is none at all


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceVitals:
    """A source and its streaming query. A trigger is what Spark does at one go: look for rows, then a batch if any came."""

    name: str
    state: str = "running"  # starting, running, waiting (for another attempt), failed, stopped, ended
    failure: str | None = None  # why it has given up
    trouble: str | None = None  # what is wrong and may pass
    failures_in_a_row: int = 0
    restarts: int = 0  # of the query, since the process began
    silent: float = 0.0  # seconds since Spark last answered
    trigger: float | None = None  # seconds that the running trigger has taken; None between two
    idle: bool = False  # there was nothing to read at the last trigger
    between: float | None = None  # when it was last seen between two triggers, in seconds since 1970
    executors: int | None = None  # None where tasks run in the driver, or where nobody can say
    no_executor: float = 0.0  # seconds without any
    backlog: Mapping[str, int] = field(default_factory=dict)  # what waits to be read, by its unit

    @property
    def is_active(self) -> bool:
        """Whether its query should be running now."""
        return self.state in ("starting", "running")


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineVitals:
    """A pipeline: who runs it, its sources, its queries."""

    pipeline: str
    host: str
    pid: int
    since: float  # when the process began to start it, in seconds since 1970
    now: float = field(default_factory=time.time)
    starting: bool = False  # before there are sources
    stopping: bool = False
    sources: tuple[SourceVitals, ...] = ()
    trouble: str | None = None  # why the newest queries are not in force
    newest_version: int | None = None  # of the registry; None where it cannot be asked
    left_out: int = 0  # queries that cannot be evaluated


def unhealthy(vitals: PipelineVitals, stalled_after: float) -> str | None:
    """Why the process should be started again; None where it is well. A `stalled_after` of 0 is never.

    >>> hangs = SourceVitals(name="quotes", trigger=1_000)
    >>> unhealthy(PipelineVitals(pipeline="market", host="a", pid=1, since=0, sources=(hangs,)), 900)
    'source quotes: its batch has run for 1000 s, and 900 s are allowed (stalled_after)'
    """
    bound = stalled_after or float("inf")
    if vitals.starting and vitals.now - vitals.since > bound:
        return (
            f"starting for {vitals.now - vitals.since:.0f} s, and {bound:.0f} s are allowed (stalled_after)"
        )
    return next((reason for one in vitals.sources if (reason := _source(one, bound)) is not None), None)


def _source(one: SourceVitals, bound: float) -> str | None:
    if one.failure is not None:
        return one.failure
    if not one.is_active:
        return None
    if one.executors == 0 and one.trigger is not None and one.no_executor > NO_EXECUTOR:
        return (
            f"source {one.name}: its batch waits, and there has been no executor for {one.no_executor:.0f} s"
        )
    if (one.trigger or 0.0) > bound:
        return (
            f"source {one.name}: its batch has run for {one.trigger:.0f} s, and {bound:.0f} s are allowed "
            "(stalled_after)"
        )
    if one.silent > SILENCE:
        return f"source {one.name}: Spark has not answered for {one.silent:.0f} s"
    return None


def not_ready(vitals: PipelineVitals, stalled_after: float) -> str | None:
    """What keeps rows from coming through now; None where nothing does."""
    if vitals.starting:
        return "starting"
    failed = unhealthy(vitals, stalled_after)
    if failed is not None:
        return failed
    if vitals.stopping:
        return "stopping"
    for state, words in (("starting", "starting"), ("waiting", "waiting to start again")):
        names = [one.name for one in vitals.sources if one.state == state]
        if names:
            return f"{words}: {', '.join(names)}"
    return trouble_in(vitals)


def trouble_in(vitals: PipelineVitals) -> str | None:
    """What is wrong and may pass."""
    troubles = [one.trouble for one in vitals.sources if one.trouble is not None]
    return troubles[0] if troubles else vitals.trouble
