"""Metrics, health and readiness over HTTP, from before Spark starts until the pipeline has ended.

/metrics   Prometheus' text
/healthz   200, or 503 and why the process should be started again
/readyz    200, or 503 and what keeps rows from coming through: it starts, it pauses after a failure, ...
"""

from __future__ import annotations

import logging
import socket
import socketserver
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final

from eddyline.errors import SetupError
from eddyline.runtime.spark.base.addresses import ListenAddress
from eddyline.runtime.spark.watching.prometheus import CONTENT_TYPE

PLAIN: Final = "text/plain; charset=utf-8"
PATIENCE: Final = 10  # seconds that a client may take for its request

_log = logging.getLogger(__name__)


def _nothing() -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Answers:
    """What is answered: a scrape, why the process should be started again, why it is not ready; None: it is well."""

    metrics: Callable[[], str]
    unhealthy: Callable[[], str | None] = _nothing
    not_ready: Callable[[], str | None] = _nothing


class Endpoint:
    """Serves answers from a thread of its own until it is closed. `answers` may be replaced at any time."""

    def __init__(self, where: int | str, answers: Answers) -> None:
        """`where` is a port of 127.0.0.1, or `address:port`; everybody who reaches the address can ask."""
        self.answers = answers
        try:
            address = ListenAddress.of(where)
            self._server = _Server(address, self)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            shown = f"127.0.0.1:{where}" if isinstance(where, int) else where
            raise SetupError(
                f"the metrics endpoint cannot listen on {shown}: {reason}",
                hint="give another port as `prometheus` in the pipeline's settings, or stop what uses this one",
            ) from None
        self.address = ListenAddress(address.host, self._server.server_address[1])
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.1},
            name="eddyline-metrics",
            daemon=True,
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port, also where any free one was asked for."""
        return self.address.port

    @property
    def url(self) -> str:
        """Where a scrape is found from this machine."""
        return self.address.url("/metrics")

    def close(self) -> None:
        """Stop serving and give the port back; once more does nothing."""
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
    request_queue_size = 128  # of a burst nobody is refused, who would take the pipeline for dead

    def __init__(self, address: ListenAddress, endpoint: Endpoint) -> None:
        self.address_family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        self.endpoint = endpoint
        super().__init__((address.host, address.port), _Handler)

    def server_bind(self) -> None:
        """Without the lookup of the host's name, which can take seconds and serves nobody here."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away, or a sum that could not be read: nothing for the terminal."""
        _log.warning("a request for metrics failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE
    server: _Server

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        answers = self.server.endpoint.answers
        if path == "/metrics":
            self._answer(HTTPStatus.OK, answers.metrics(), CONTENT_TYPE)
        elif path == "/healthz":
            self._judge(answers.unhealthy(), "ok")
        elif path == "/readyz":
            self._judge(answers.not_ready(), "ready")
        else:
            self._answer(HTTPStatus.NOT_FOUND, "there are /metrics, /healthz and /readyz\n", PLAIN)

    def _judge(self, trouble: str | None, well: str) -> None:
        status = HTTPStatus.OK if trouble is None else HTTPStatus.SERVICE_UNAVAILABLE
        self._answer(status, f"{trouble or well}\n", PLAIN)

    def _answer(self, status: HTTPStatus, text: str, kind: str) -> None:
        content = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: standard error belongs to the pipeline."""
