"""Web addresses that results may go to: only what the operator allowed, whatever a query's destination says.

An address is refused rather than repaired. Two programs that read one text differently are how a request ends up
where nobody allowed it, so everything that can be read in two ways is not accepted: user names, backslashes, dots
as steps of a path, escaped slashes and dots, control characters, hosts that are not plain ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

PORTS: Final = {"http": 80, "https": 443}
LONGEST: Final = 2048  # characters
_PLAIN: Final = re.compile(r"[!#-;=?-\[\]_a-z~]+", re.IGNORECASE)  # printable ASCII, less " < > \ ^ ` { | }
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?)*")
_SIX: Final = re.compile(r"[0-9a-f:.]+")  # inside the brackets of an IPv6 address
_ESCAPED: Final = re.compile(r"%(?:2e|2f|5c|00|25)|%(?![0-9a-f]{2})", re.IGNORECASE)


class AddressError(ValueError):
    """A text is no address that we would ask; the text itself is not in the message, it may hold secrets."""


@dataclass(frozen=True, slots=True)
class Address:
    """A web address in its parts; `path` begins with a slash, `query` is without its question mark."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    @property
    def target(self) -> str:
        """What stands in the first line of a request."""
        return self.path + (f"?{self.query}" if self.query else "")

    @property
    def place(self) -> str:
        """Where it leads, without path and query, which may hold secrets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")


def read_address(text: str) -> Address:
    """The parts of an address, or an `AddressError` that says what is wrong with it.

    >>> read_address("https://Example.com/hooks/a?b=1")
    Address(scheme='https', host='example.com', port=443, path='/hooks/a', query='b=1')
    """
    if len(text) > LONGEST or not _PLAIN.fullmatch(text):
        raise AddressError("it is too long, or has characters that an address does not have")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise AddressError("its host or port cannot be read") from error
    if parts.scheme not in PORTS:
        raise AddressError("it does not begin with https:// or http://")
    if "@" in parts.netloc:
        raise AddressError("it names a user")
    if parts.fragment or "#" in text:
        raise AddressError("it names a part of a page (#)")
    host = parts.hostname or ""
    if not (_SIX if parts.netloc.startswith("[") else _NAME).fullmatch(host):
        raise AddressError("it names no host, or one that is not plain")
    if port == 0 or parts.netloc.endswith(":"):
        raise AddressError("its port is empty or zero")
    return Address(parts.scheme, host, port or PORTS[parts.scheme], _checked_path(parts.path), parts.query)


def _checked_path(path: str) -> str:
    if _ESCAPED.search(path) or "//" in path or any(step in (".", "..") for step in path.split("/")):
        raise AddressError("its path has empty steps, dots as steps, or escapes of slashes, dots or percents")
    return path or "/"


@dataclass(frozen=True, slots=True)
class Allowed:
    """The addresses at and below some prefixes: scheme, host and port are the same, and whole steps of the path.

    >>> allowed = Allowed.read(["https://example.com/hooks"])
    >>> [
    ...     allowed.covers(read_address(f"https://example.com{path}"))
    ...     for path in ("/hooks", "/hooks/a", "/hooksy")
    ... ]
    [True, True, False]
    """

    prefixes: tuple[Address, ...] = ()

    @classmethod
    def read(cls, texts: Iterable[str]) -> Allowed:
        """Prefixes of texts; one that has a query is an `AddressError`."""
        prefixes = tuple(read_address(text) for text in texts)
        if any(prefix.query for prefix in prefixes):
            raise AddressError("a prefix has a question mark")
        return cls(prefixes)

    def covers(self, address: Address) -> bool:
        """Whether an address is at or below one of the prefixes."""
        return self.reach(address) >= 0

    def reach(self, address: Address) -> int:
        """The length of the longest prefix that covers an address, -1 where none does."""
        lengths = [len(prefix.path) for prefix in self.prefixes if _covers(prefix, address)]
        return max(lengths, default=-1)


def _covers(prefix: Address, address: Address) -> bool:
    if (prefix.scheme, prefix.host, prefix.port) != (address.scheme, address.host, address.port):
        return False
    steps = prefix.path.rstrip("/")
    return address.path.rstrip("/") == steps or address.path.startswith(steps + "/")
