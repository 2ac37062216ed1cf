"""Posting to a server that answers as it likes."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from eddyline.delivery.addresses import Address, read_address
from eddyline.delivery.retry import Patience, TryAgainError
from eddyline.delivery.webhook import NotTakenError, Poster
from tests.web_server import Receiver, receiver


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


class Clock:
    """Takes the place of sleeping."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.pauses.append(seconds)


def poster(clock: Clock, **more: object) -> Poster:
    return Poster(
        {"X-Api-Key": "hunter2"}, timeout=2, patience=Patience(attempts=3, first=1), sleep=clock, **more
    )  # type: ignore[arg-type]


def address(server: Receiver) -> Address:
    return read_address(f"{server.address}/hook?token=hush")


def test_a_document_arrives(server: Receiver) -> None:
    mine = poster(Clock())
    mine.post(address(server), b'{"a": 1}', "p/1")
    mine.post(address(server), b'{"a": 2}', "p/2")
    mine.close()
    first, second = server.received
    assert (first.path, first.document, second.document) == ("/hook?token=hush", {"a": 1}, {"a": 2})
    assert first.headers["Idempotency-Key"] == "p/1" and first.headers["X-Api-Key"] == "hunter2"
    assert first.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("answer", [500, 503, 429, 408, None])
def test_what_may_pass_is_sent_again_with_the_same_key(server: Receiver, answer: int | None) -> None:
    server.answers.extend([answer, answer])
    clock = Clock()
    mine = poster(clock)
    mine.post(address(server), b"{}", "p/1")
    mine.close()
    assert [one.headers["Idempotency-Key"] for one in server.received] == ["p/1"] * 3
    assert len(clock.pauses) == 2 and 0.5 <= clock.pauses[0] <= 1 <= clock.pauses[1] <= 2


def test_retry_after_is_kept(server: Receiver) -> None:
    server.answers.append((503, {"Retry-After": "17"}, b""))
    clock = Clock()
    mine = poster(clock)
    mine.post(address(server), b"{}", "k")
    mine.close()
    assert clock.pauses == [17]


def test_patience_ends(server: Receiver) -> None:
    server.answers.extend([(500, {}, b"out of\norder")] * 3)
    mine = poster(Clock())
    with pytest.raises(TryAgainError) as failure:
        mine.post(address(server), b"{}", "k")
    mine.close()
    assert failure.value.reason == f"{server.address} answered 500: out of order"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422])
def test_what_is_refused_is_not_sent_again(server: Receiver, status: int) -> None:
    server.answers.append(status)
    mine = poster(Clock())
    with pytest.raises(NotTakenError, match=f"answered {status}") as failure:
        mine.post(address(server), b"{}", "k")
    mine.close()
    assert len(server.received) == 1
    assert "hush" not in str(failure.value) and "hunter2" not in str(failure.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_nothing_is_followed(server: Receiver, status: int) -> None:
    with receiver() as elsewhere:
        server.answers.append((status, {"Location": f"{elsewhere.address}/steal"}, b""))
        mine = poster(Clock())
        with pytest.raises(NotTakenError, match="leads elsewhere"):
            mine.post(address(server), b"{}", "k")
        mine.close()
        assert not elsewhere.received


def test_nobody_is_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        clock = Clock()
        with pytest.raises(TryAgainError, match="cannot be reached: Connection refused"):
            poster(clock).post(read_address(f"http://127.0.0.1:{port}/"), b"{}", "k")
        assert len(clock.pauses) == 2


def test_a_server_that_never_answers() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mine = Poster(timeout=0.05, patience=Patience(attempts=1))
        with pytest.raises(TryAgainError, match="did not answer in time"):
            mine.post(read_address(f"http://127.0.0.1:{silent.getsockname()[1]}/"), b"{}", "k")
        mine.close()


@pytest.mark.parametrize(("name", "value"), [("a b", "x"), ("a\r\n", "x"), ("a", "x\r\ny: z"), ("a", "ü")])
def test_headers_that_are_none(name: str, value: str) -> None:
    with pytest.raises(ValueError) as failure:
        Poster({name: value})
    assert "x\r\ny" not in str(failure.value)


def test_a_poster_shows_no_headers() -> None:
    assert "hunter2" not in repr(poster(Clock()))
