"""Which sink takes the results of a query: by the destination that the query names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from eddyline.delivery.addresses import AddressError, Allowed, read_address


@dataclass(frozen=True, slots=True)
class Outlet:
    """What a router knows of a sink: its name, whether it is the default, which addresses it may go to."""

    name: str
    default: bool = False
    allowed: Allowed = field(default_factory=Allowed)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a destination leads: to a sink, or nowhere for a reason."""

    sink: str | None
    reason: str | None = None


class Router:
    """Destinations to sinks.

    >>> allowed = Allowed.read(["https://example.com/hooks"])
    >>> router = Router([Outlet("results", default=True), Outlet("hook", allowed=allowed)])
    >>> router.find(None).sink, router.find("hook").sink, router.find("https://example.com/hooks/7").sink
    ('results', 'hook', 'hook')
    >>> router.find("result").reason
    'the destination "result" has no sink; did you mean "results"?'
    """

    def __init__(self, outlets: Iterable[Outlet]) -> None:
        self._outlets = tuple(outlets)
        self._names = {outlet.name for outlet in self._outlets}
        self._default = next((outlet.name for outlet in self._outlets if outlet.default), None)

    def find(self, destination: str | None) -> Route:
        """The sink of a destination; NULL and empty text lead to the default sink."""
        if not destination:
            missing = "the query has no destination, and no sink is the default"
            return Route(self._default, None if self._default else missing)
        if destination in self._names:
            return Route(destination)
        if "://" in destination or destination.lower().startswith(("http:", "https:")):
            return self._by_address(destination)
        near = get_close_matches(destination, self._names, n=1)
        guess = f'; did you mean "{near[0]}"?' if near else ""
        return Route(None, f'the destination "{_short(destination)}" has no sink{guess}')

    def _by_address(self, text: str) -> Route:
        try:
            address = read_address(text)
        except AddressError as error:
            return Route(None, f"the destination is an address that is not accepted: {error}")
        reaches = [(outlet.allowed.reach(address), outlet.name) for outlet in self._outlets]
        best = max(reaches, key=lambda found: found[0], default=(-1, ""))
        if best[0] >= 0:
            return Route(best[1])
        return Route(None, f"no webhook is allowed to go to this address at {address.place}")


def _short(text: str) -> str:
    """A text as a message can hold it."""
    plain = "".join(c if c.isprintable() else "?" for c in text[:100])
    return plain + ("..." if len(text) > 100 else "")
