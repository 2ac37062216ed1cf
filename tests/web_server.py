"""A web server for tests that notes what it is sent and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes
    answer: Any

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """`answers` are given one after the other: a status, a status with headers and text, or None to hang up.

    `hold` is called before each one.
    """

    port: int = 0
    hold: Callable[[Received], object] = bool
    received: list[Received] = field(default_factory=list)
    answers: deque[Any] = field(default_factory=deque)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Run a server on a free port of this machine."""
    notes = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = notes.answers.popleft() if notes.answers else 204
            received = Received(self.path, dict(self.headers), body, answer)
            notes.received.append(received)
            notes.hold(received)
            if answer is None:
                self.close_connection = True
                return
            status, headers, text = answer if isinstance(answer, tuple) else (answer, {}, b"")
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    notes.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield notes
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
