"""A pipeline's sums in Prometheus' text format, version 0.0.4, and an endpoint on this machine that serves them."""

from __future__ import annotations

import logging
import socketserver
import threading
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final

from eddyline.errors import SetupError
from eddyline.runtime.spark.watching.totals import BOUNDS, PipelineTotals, SourceTotals
from eddyline.runtime.spark.watching.values import STAGES

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
QUERIES_SHOWN: Final = 50  # each is a series of its own, and Prometheus keeps every series it has ever seen
PATIENCE: Final = 10  # seconds that a client may take for its request

_log = logging.getLogger(__name__)

Sample = tuple[str, Mapping[str, str], float]
Families = list[tuple[str, str, str, list[Sample]]]


def exposition(
    totals: PipelineTotals,
    *,
    pipeline: str,
    queries: Mapping[str, int] | None = None,
    queries_shown: int = QUERIES_SHOWN,
) -> str:
    """The text of a scrape.

    `queries` has the matches of each query, as the registry counts them; without it those of the reports are taken,
    where a query counts only in batches in which it was among the busiest.
    """
    counts = totals.queries if queries is None else queries
    busiest = sorted(counts, key=lambda id: (-counts[id], id))[:queries_shown]
    families: Families = [
        ("eddyline_info", "gauge", "The pipeline.", [("", {"pipeline": pipeline}, 1)]),
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
    }
    return [
        (
            f"eddyline_{name}",
            "gauge",
            text,
            [("", {"source": source}, value(one)) for source, one in totals.sources.items()],
        )
        for name, (text, value) in gauges.items()
    ]


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


class Endpoint:
    """Serves `/metrics` and `/healthz` on 127.0.0.1, from a thread of its own, until it is closed.

    `text` gives a scrape, `trouble` a sentence when the pipeline is not well, and None when it is.
    """

    def __init__(
        self, port: int, text: Callable[[], str], *, trouble: Callable[[], str | None] = lambda: None
    ) -> None:
        handler = type("Handler", (_Handler,), {"text": staticmethod(text), "trouble": staticmethod(trouble)})
        try:
            self._server = _Server(("127.0.0.1", port), handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SetupError(
                f"the metrics endpoint cannot listen on 127.0.0.1:{port}: {reason}",
                hint="give another port as `prometheus` in the pipeline's settings, or stop what uses this one",
            ) from None
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.1},
            name="eddyline-metrics",
            daemon=True,
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where a scrape is found."""
        return f"http://127.0.0.1:{self.port}/metrics"

    def close(self) -> None:
        """Stop serving and give the port back."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    def server_bind(self) -> None:
        """Without the lookup of the host's name, which can take seconds and serves nobody here."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away, or a sum that could not be read: nothing for the terminal."""
        _log.warning("a request for metrics failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE
    text: Callable[[], str]
    trouble: Callable[[], str | None]

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/metrics":
            self._answer(HTTPStatus.OK, self.text(), CONTENT_TYPE)
        elif path == "/healthz":
            trouble = self.trouble()
            status = HTTPStatus.OK if trouble is None else HTTPStatus.SERVICE_UNAVAILABLE
            self._answer(status, f"{trouble or 'ok'}\n", "text/plain; charset=utf-8")
        else:
            self._answer(
                HTTPStatus.NOT_FOUND, "there are /metrics and /healthz\n", "text/plain; charset=utf-8"
            )

    def _answer(self, status: HTTPStatus, text: str, kind: str) -> None:
        content = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: standard error belongs to the pipeline."""
