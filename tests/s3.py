"""A server on this machine that speaks S3, for tests, with a relay before it that makes it fail in every way a store can.

The server is moto's, a process of its own with all objects in its memory. Spark is given the address of the relay; tests look at
objects past it (`Bucket.objects`), so that they see what is there whatever fails.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from eddyline.storage.local import LocalStorage
from eddyline.storage.object_log import ObjectLineLog
from tests.jars import S3_FOR_SPARK, spark_jars
from tests.missing import missing

STARTS_WITHIN = 60  # seconds
BUCKET = "bucket"
KEYS = {"spark.hadoop.fs.s3a.access.key": "tester", "spark.hadoop.fs.s3a.secret.key": "secret"}
QUICK_TO_GIVE_UP = {  # S3A tries for minutes by itself
    "spark.hadoop.fs.s3a.attempts.maximum": "1",
    "spark.hadoop.fs.s3a.retry.limit": "1",
    "spark.hadoop.fs.s3a.retry.interval": "100ms",
    "spark.hadoop.fs.s3a.retry.throttle.limit": "1",
    "spark.hadoop.fs.s3a.retry.throttle.interval": "100ms",
}


@dataclass(frozen=True)
class Fault:
    """What happens to some requests: the status they are answered with, seconds that they wait, or no answer at all.

    Those with a word in their address are meant, or all; of the methods named, or all. `late` hides objects from listings for so many
    seconds after they were put.
    """

    status: int = 0
    delay: float = 0.0
    hangs_up: bool = False
    late: float = 0.0
    methods: frozenset[str] = frozenset()
    word: str = ""

    def means(self, method: str, path: str) -> bool:
        return (not self.methods or method in self.methods) and self.word in unquote(path)


REFUSES = Fault(status=403)
IS_BUSY = Fault(status=503)
IS_AWAY = Fault(hangs_up=True)
DENIES_WRITING = Fault(status=403, methods=frozenset({"PUT", "POST", "DELETE"}))


@dataclass
class Bucket:
    """A bucket of a running server, and what is done to requests for it."""

    port: int  # of the relay
    server: int  # the port of moto
    faults: tuple[Fault, ...] = ()
    asked: Counter[str] = field(default_factory=Counter)  # requests, by method
    put: dict[str, float] = field(default_factory=dict)  # when objects were put

    @property
    def address(self) -> str:
        return f"s3a://{BUCKET}"

    @property
    def settings(self) -> dict[str, str]:
        """What a session needs to reach it: jars, the address, keys."""
        return {"spark.jars": spark_jars(*S3_FOR_SPARK), **self.endpoint, **KEYS}

    @property
    def endpoint(self) -> dict[str, str]:
        return {
            "spark.hadoop.fs.s3a.endpoint": f"http://127.0.0.1:{self.port}",
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        }

    @contextmanager
    def failing(self, *faults: Fault) -> Iterator[None]:
        """For as long as this lasts, requests meet the first fault that means them."""
        self.faults = faults
        try:
            yield
        finally:
            self.faults = ()

    def objects(self, prefix: str = "") -> Objects:
        """What is in a folder of the bucket."""
        return Objects(self.server, prefix)


class Objects:
    """The objects below a prefix, past the relay: enough of a storage to read what others have written."""

    def __init__(self, port: int, prefix: str = "") -> None:
        self._port, self._prefix = port, prefix.strip("/")

    @property
    def address(self) -> str:
        """What Spark calls the prefix."""
        return f"s3a://{BUCKET}/{self._prefix}"

    def within(self, folder: str) -> Objects:
        """The objects of a folder."""
        return Objects(self._port, self._key(folder))

    def walk(self, folder: str = "") -> list[str]:
        """All names below a folder, as seen from the prefix."""
        start = self._key(folder) + "/" if self._key(folder) else ""
        names, more = [], ""
        while True:
            answer = _asked(self._port, "GET", f"/{BUCKET}?list-type=2&prefix={quote(start)}{more}")
            names += [_plain(key) for key in re.findall(r"<Key>(.*?)</Key>", answer.decode())]
            token = re.search(r"<NextContinuationToken>(.*?)<", answer.decode())
            if token is None:
                break
            more = f"&continuation-token={quote(_plain(token.group(1)))}"
        cut = len(self._prefix) + 1 if self._prefix else 0
        return sorted(name[cut:] for name in names if not name.endswith("/"))

    def list(self, folder: str) -> list[str]:
        """The names of the files in a folder, without it."""
        return sorted(name for name in self._below(folder) if "/" not in name)

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder, without it."""
        return sorted({name.partition("/")[0] for name in self._below(folder) if "/" in name})

    def exists(self, name: str) -> bool:
        return name in self.walk(name.rpartition("/")[0])

    def read(self, name: str) -> bytes:
        return _asked(self._port, "GET", f"/{BUCKET}/{quote(self._key(name))}")

    def put(self, name: str, content: bytes) -> None:
        _asked(self._port, "PUT", f"/{BUCKET}/{quote(self._key(name))}", content)

    def line_log(self, name: str) -> ObjectLineLog:
        return ObjectLineLog(self, name)  # type: ignore[arg-type]

    def copy_to(self, folder: Path) -> None:
        """Bring everything to this machine."""
        for name in self.walk():
            LocalStorage(folder).put(name, self.read(name))

    def _below(self, folder: str) -> Iterator[str]:
        start = f"{folder.strip('/')}/" if folder else ""
        return (name.removeprefix(start) for name in self.walk(folder))

    def _key(self, name: str) -> str:
        return "/".join(part for part in (self._prefix, name.strip("/")) if part)


def copied(bucket: Bucket, source: str, target: str) -> None:
    """Copy all objects below a prefix to another one."""
    objects, copies = bucket.objects(source), bucket.objects(target)
    for name in objects.walk():
        copies.put(name, objects.read(name))


@contextmanager
def bucket() -> Iterator[Bucket]:
    """Start a server with an empty bucket, and the relay; stop both at the end."""
    port = _free_port()
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_server(server, port)
        _asked(port, "PUT", f"/{BUCKET}")
        with _relay(port) as found:
            yield found
    finally:
        server.terminate()
        server.wait(30)


def _await_server(server: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + STARTS_WITHIN
    while True:
        try:
            _asked(port, "GET", "/moto-api/")
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > until:
                missing("moto's server does not start: the extra 'dev' is not installed")
            time.sleep(0.05)


@contextmanager
def _relay(server: int) -> Iterator[Bucket]:
    found = Bucket(0, server)
    one_at_a_time = threading.Lock()  # moto looks whether an object is there, and then puts it

    class Handler(_Handler):
        bucket, conditions = found, one_at_a_time

    relay = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    relay.daemon_threads = True
    found.port = relay.server_port
    thread = threading.Thread(target=relay.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield found
    finally:
        relay.shutdown()
        relay.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Passes a request on, unless a fault means it."""

    bucket: Bucket
    conditions: threading.Lock
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.bucket.asked[self.command] += 1
        fault = next((one for one in self.bucket.faults if one.means(self.command, self.path)), Fault())
        time.sleep(fault.delay)
        if fault.hangs_up:
            self.close_connection = True
            return
        if fault.status:
            self._answer(fault.status, [], b"" if self.command == "HEAD" else _error(fault.status))
            return
        with suppress(ConnectionError):
            self._pass_on(body, fault)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any

    def _pass_on(self, body: bytes, fault: Fault) -> None:
        is_conditional = self.headers.get("If-None-Match") or self.headers.get("If-Match")
        with self.conditions if is_conditional else nullcontext():
            answer, content = self._from_server(body)
        key = unquote(urlsplit(self.path).path).removeprefix(f"/{BUCKET}/")
        if self.command == "PUT":
            self.bucket.put.setdefault(key, time.monotonic())
        if fault.late and "list-type=2" in self.path:
            content = self._without_new(content, fault.late)
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OWN]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else None
        self._answer(answer.status, headers, content, length)

    def _from_server(self, body: bytes) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection("127.0.0.1", self.bucket.server, timeout=60)
        try:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("connection", "expect"):
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer, answer.read()
        except HTTPException as error:
            raise ConnectionError(str(error)) from error
        finally:
            connection.close()

    def _without_new(self, listing: bytes, seconds: float) -> bytes:
        """A listing without the objects that were put a moment ago."""
        now, put = time.monotonic(), self.bucket.put

        def shown(found: re.Match[str]) -> str:
            key = _plain(found.group(1))
            return "" if now - put.get(key, -1e9) < seconds else found.group(0)

        pattern = r"<Contents>(?:(?!</Contents>).)*?<Key>(.*?)</Key>.*?</Contents>"
        return re.sub(pattern, shown, listing.decode(), flags=re.DOTALL).encode()

    def _answer(
        self, status: int, headers: list[tuple[str, str]], content: bytes, length: str | None = None
    ) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


_OWN = frozenset({"content-length", "connection", "transfer-encoding", "server", "date"})


def _error(status: int) -> bytes:
    code = {403: "AccessDenied", 503: "SlowDown"}.get(status, "InternalError")
    return f"<Error><Code>{code}</Code><Message>as the test wants it</Message></Error>".encode()


def _asked(port: int, method: str, path: str, body: bytes = b"") -> bytes:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    # moto takes from a signature which service is meant, and checks no more of it
    signature = "AWS4-HMAC-SHA256 Credential=tester/20260101/us-east-1/s3/aws4_request"
    try:
        connection.request(method, path, body, headers={"Authorization": signature})
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    if answer.status == 404:
        raise FileNotFoundError(path)
    assert answer.status < 300, f"{method} {path}: {answer.status} {content[:300]!r}"
    return content


def _plain(text: str) -> str:
    return unquote(unescape(text))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
