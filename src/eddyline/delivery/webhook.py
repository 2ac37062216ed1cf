"""Posts JSON documents to web addresses: tries again what may pass, tells apart what never will.

Nothing is followed: an answer that leads elsewhere (3xx) is a refusal, so a request never goes where nobody allowed
it. No proxy is used. Headers may be secrets; no message names them, nor paths and queries of addresses.
"""

from __future__ import annotations

import http.client
import re
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from eddyline.delivery.addresses import Address
from eddyline.delivery.retry import Patience, TryAgainError, persist

PASSING: Final = frozenset({408, 425, 429})  # besides 5xx: refusals of this moment, not of the document
ANSWER: Final = 1 << 16  # bytes of an answer that are read, so that the connection can be used again
EXCERPT: Final = 200  # characters of an answer that a reason shows
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class NotTakenError(Exception):
    """The other side will not take this document, however often it is sent."""


@dataclass(slots=True)
class Poster:
    """Posts documents, with one open connection for each host."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 10.0
    patience: Patience = field(default_factory=Patience)
    quotes_answers: bool = True  # whether reasons show what was answered; it may repeat what was sent
    sleep: Callable[[float], None] = time.sleep
    context: ssl.SSLContext | None = None
    _open: dict[tuple[str, str, int], http.client.HTTPConnection] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            if not _HEADER.fullmatch(name) or not value.isprintable() or not value.isascii():
                raise ValueError(f'the header "{name}" is none that a request can have')

    def post(self, address: Address, body: bytes, key: str) -> None:
        """Send a document until it is taken; `key` is the same each time, so that the other side can tell.

        `NotTakenError` where it is refused for good, `TryAgainError` where the patience ended.
        """
        persist(lambda: self._once(address, body, key), self.patience, sleep=self.sleep)

    def _once(self, address: Address, body: bytes, key: str) -> None:
        headers = {
            **self.headers,
            "Content-Type": "application/json",
            "User-Agent": "eddyline",
            "Idempotency-Key": key,
        }
        place = (address.scheme, address.host, address.port)
        connection = self._open.get(place) or self._connect(address)
        try:
            connection.request("POST", address.target, body, headers)
            answer = connection.getresponse()
            text = answer.read(ANSWER)
            if answer.will_close or not answer.isclosed():
                self._forget(place)
        except ssl.SSLCertVerificationError as error:
            self._forget(place)
            raise TryAgainError(f"the certificate of {address.place} does not hold: {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            self._forget(place)
            raise TryAgainError(f"{address.place} cannot be reached: {_words(error)}") from None
        _judge(answer, text if self.quotes_answers else b"", address)

    def _connect(self, address: Address) -> http.client.HTTPConnection:
        if address.scheme == "https":
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                address.host,
                address.port,
                timeout=self.timeout,
                context=self.context or ssl.create_default_context(),
            )
        else:
            made = http.client.HTTPConnection(address.host, address.port, timeout=self.timeout)
        self._open[address.scheme, address.host, address.port] = made
        return made

    def _forget(self, place: tuple[str, str, int]) -> None:
        connection = self._open.pop(place, None)
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Close all connections."""
        for place in list(self._open):
            self._forget(place)


def _judge(answer: http.client.HTTPResponse, text: bytes, address: Address) -> None:
    status = answer.status
    if 200 <= status < 300:
        return
    reason = f"{address.place} answered {status}{_excerpt(text)}"
    if status >= 500 or status in PASSING:
        raise TryAgainError(reason, seconds(answer.headers.get("Retry-After")))
    if 300 <= status < 400:
        raise NotTakenError(f"{address.place} answered {status}, which leads elsewhere and is not followed")
    raise NotTakenError(reason)


def seconds(text: str | None, now: datetime | None = None) -> float | None:
    """The seconds that a `Retry-After` asks for: a number, or a moment.

    >>> (
    ...     seconds("7"),
    ...     seconds("Thu, 01 Jan 1970 00:01:00 GMT", datetime.fromtimestamp(0, UTC)),
    ...     seconds("soon"),
    ... )
    (7.0, 60.0, None)
    """
    if text is None:
        return None
    if text.strip().isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    whole = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (whole - (now or datetime.now(UTC))).total_seconds())


def _excerpt(text: bytes) -> str:
    shown = "".join(c if c.isprintable() else " " for c in text.decode(errors="replace")[:EXCERPT]).strip()
    return f": {shown}" if shown else ""


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
