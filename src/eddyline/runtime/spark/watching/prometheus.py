"""A pipeline's sums, and how it is right now, in Prometheus' text format, version 0.0.4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from eddyline.runtime.spark.watching.totals import BOUNDS, PipelineTotals, SourceTotals
from eddyline.runtime.spark.watching.values import STAGES
from eddyline.runtime.spark.watching.vitals import PipelineVitals, SourceVitals, not_ready, unhealthy

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
QUERIES_SHOWN: Final = 50  # each is a series of its own, and Prometheus keeps every series it has ever seen

Sample = tuple[str, Mapping[str, str], float]
Families = list[tuple[str, str, str, list[Sample]]]


def exposition(
    totals: PipelineTotals,
    *,
    pipeline: str,
    queries: Mapping[str, int] | None = None,
    queries_shown: int = QUERIES_SHOWN,
    vitals: PipelineVitals | None = None,
    stalled_after: float = 0,
) -> str:
    """The text of a scrape; `vitals` is how the pipeline is right now, judged by `stalled_after`.

    `queries` has the matches of each query, as the registry counts them; without it those of the reports are taken,
    where a query counts only in batches in which it was among the busiest.
    """
    counts = totals.queries if queries is None else queries
    busiest = sorted(counts, key=lambda id: (-counts[id], id))[:queries_shown]
    families: Families = [
        ("eddyline_info", "gauge", "The pipeline.", [("", {"pipeline": pipeline}, 1)]),
        *(() if vitals is None else _vital_gauges(vitals, totals, stalled_after)),
        *_counters(totals),
        *_gauges(totals),
        _histogram(totals),
        _family(
            "eddyline_batch_stage_seconds_total",
            "Seconds in the stages of batches.",
            [
                ({"source": name, "stage": stage}, one.seconds.get(stage, 0.0))
                for name, one in totals.sources.items()
                for stage in STAGES
            ],
        ),
        _family(
            "eddyline_delivered_rows_total",
            "Result rows that sinks have taken.",
            [({"sink": name}, count) for name, count in totals.delivered.items()],
        ),
        _family(
            "eddyline_query_matches_total",
            f"Matches of the busiest queries, {queries_shown} at most.",
            [({"query": id}, counts[id]) for id in busiest],
        ),
        _family(
            "eddyline_query_failures_total",
            f"Operations that failed and counted as NULL, of the queries with the most, {queries_shown} at most.",
            [({"query": id}, totals.failing[id]) for id in totals.most_failing(queries_shown)],
        ),
    ]
    return "".join(_text(*family) for family in families if family[3])


def _counters(totals: PipelineTotals) -> Families:
    texts = {
        "rows": "Rows that sources have given.",
        "matched_rows": "Rows that met at least one query.",
        "matches": "Pairs of a row and a query that it met.",
        "dead_letters": "Rows that could not be read or delivered.",
        "dropped_files": "Files that could not be read and were set aside.",
        "failures": "Operations that failed for a row and counted as NULL.",
        "problems": "Problems that batches have reported.",
        "batches": "Batches that were committed.",
        "row_by_row": "Tuples evaluated row by row, once for each segment of the queries.",
        "visited": "Subjects that tuples visited row by row.",
        "working_seconds": "Seconds of the workers' processors.",
        "monitor_seconds": "Seconds of these that went into what orders of subjects are found from.",
        "thinking_seconds": "Seconds of the driver that went into finding orders.",
    }
    fields = {
        "dead_letters": "dropped_rows",
        "row_by_row": "by_row",
        "working_seconds": "working",
        "monitor_seconds": "watching",
        "thinking_seconds": "thinking",
    }
    return [
        _family(
            f"eddyline_{name}_total",
            text,
            [
                ({"source": source}, getattr(one, fields.get(name, name)))
                for source, one in totals.sources.items()
            ],
        )
        for name, text in texts.items()
    ]


def _gauges(totals: PipelineTotals) -> Families:
    gauges: dict[str, tuple[str, Callable[[SourceTotals], float]]] = {
        "version": ("Version of the query set in the last batch.", lambda one: one.last.version),
        "queries": ("Queries that stood in the last batch.", lambda one: one.last.queries),
        "last_batch": ("Number of the last batch.", lambda one: one.last.batch_id),
        "last_batch_timestamp_seconds": (
            "When the last batch began, in seconds since 1970.",
            lambda one: one.last.at.timestamp(),
        ),
        "last_commit_timestamp_seconds": (
            "When the last batch was committed, in seconds since 1970.",
            lambda one: one.last.end.timestamp(),
        ),
    }
    return [
        _gauge(name, text, [({"source": source}, value(one)) for source, one in totals.sources.items()])
        for name, (text, value) in gauges.items()
    ]


def _vital_gauges(vitals: PipelineVitals, totals: PipelineTotals, stalled_after: float) -> Families:
    """How the pipeline is right now. What nobody knows has no sample."""
    owner = {"host": vitals.host, "pid": str(vitals.pid)}
    newest = vitals.newest_version
    healthy, ready = unhealthy(vitals, stalled_after) is None, not_ready(vitals, stalled_after) is None
    return [
        _gauge(
            "owner", "Who runs the pipeline, and since when, in seconds since 1970.", [(owner, vitals.since)]
        ),
        _gauge("healthy", "1, or 0 where the process should be started again.", [({}, int(healthy))]),
        _gauge("ready", "1, or 0 where no rows come through.", [({}, int(ready))]),
        _gauge("queries_left_out", "Queries that cannot be evaluated.", [({}, vitals.left_out)]),
        _gauge("newest_version", "Version of the registry.", [({}, newest)] if newest is not None else []),
        *_source_gauges(vitals),
        _gauge(
            "seconds_since_commit",
            "Seconds since the last batch was committed.",
            [
                ({"source": name}, max(0.0, vitals.now - one.last.end.timestamp()))
                for name, one in totals.sources.items()
            ],
        ),
        _gauge(
            "event_time_lag_seconds",
            "Seconds from the newest event time of the last batch to its commit.",
            [
                ({"source": name}, (one.last.end - one.last.newest_event).total_seconds())
                for name, one in totals.sources.items()
                if one.last.newest_event is not None
            ],
        ),
    ]


def _source_gauges(vitals: PipelineVitals) -> Families:
    def of(value: Callable[[SourceVitals], float | None]) -> list[tuple[Mapping[str, str], float]]:
        found = [(one.name, value(one)) for one in vitals.sources]
        return [({"source": name}, number) for name, number in found if number is not None]

    units = sorted({unit for one in vitals.sources for unit in one.backlog})
    return [
        _gauge(
            "source_running", "1 while its streaming query runs.", of(lambda one: int(one.state == "running"))
        ),
        _gauge("idle", "1 where there was nothing to read.", of(lambda one: int(one.idle))),
        _gauge(
            "trigger_seconds",
            "Seconds that the running trigger has taken so far, 0 between two.",
            of(lambda one: one.trigger or 0.0),
        ),
        _gauge(
            "last_trigger_timestamp_seconds",
            "When the source was last seen between two triggers, in seconds since 1970.",
            of(lambda one: one.between),
        ),
        _gauge(
            "failures_in_a_row",
            "Failures since a batch last came to its end.",
            of(lambda one: one.failures_in_a_row),
        ),
        _family(
            "eddyline_restarts_total",
            "How often the source was started again after a failure, since the process began.",
            of(lambda one: one.restarts),
        ),
        _gauge("executors", "Executors of the Spark session.", of(lambda one: one.executors)),
        *(
            _gauge(f"backlog_{unit}", f"What waits to be read, in {unit}.", of(_backlog(unit)))
            for unit in units
        ),
    ]


def _backlog(unit: str) -> Callable[[SourceVitals], float | None]:
    return lambda one: one.backlog.get(unit)


def _histogram(totals: PipelineTotals) -> tuple[str, str, str, list[Sample]]:
    samples: list[Sample] = []
    for source, one in totals.sources.items():
        below = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), one.buckets, strict=True):
            below += count
            samples.append(("_bucket", {"source": source, "le": bound}, below))
        samples.append(("_sum", {"source": source}, one.seconds.get("total", 0.0)))
        samples.append(("_count", {"source": source}, below))
    return "eddyline_batch_seconds", "histogram", "Seconds of whole batches.", samples


def _family(
    name: str, text: str, values: Iterable[tuple[Mapping[str, str], float]]
) -> tuple[str, str, str, list[Sample]]:
    return name, "counter", text, [("", labels, value) for labels, value in values]


def _gauge(
    name: str, text: str, values: Iterable[tuple[Mapping[str, str], float]]
) -> tuple[str, str, str, list[Sample]]:
    return f"eddyline_{name}", "gauge", text, [("", labels, value) for labels, value in values]


def _text(name: str, kind: str, text: str, samples: list[Sample]) -> str:
    lines = [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
    for suffix, labels, value in samples:
        inside = ",".join(f'{label}="{_escaped(content)}"' for label, content in labels.items())
        lines.append(f"{name}{suffix}{{{inside}}} {value if isinstance(value, int) else repr(float(value))}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    r"""A label's value.

    >>> print(_escaped('a "b"\\ \n'))
    a \"b\"\\ \n
    """
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
