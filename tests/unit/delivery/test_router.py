"""Destinations to sinks."""

from __future__ import annotations

import pickle

import pytest

from eddyline.delivery.addresses import Allowed
from eddyline.delivery.router import Outlet, Router

ROUTER = Router(
    [
        Outlet("results", default=True),
        Outlet("wide", allowed=Allowed.read(["https://example.com/"])),
        Outlet("narrow", allowed=Allowed.read(["https://example.com/hooks"])),
    ]
)


@pytest.mark.parametrize(
    ("destination", "sink"),
    [
        (None, "results"),
        ("", "results"),
        ("results", "results"),
        ("narrow", "narrow"),
        ("https://example.com/hooks/a", "narrow"),
        ("https://example.com/other", "wide"),
    ],
)
def test_routes(destination: str | None, sink: str) -> None:
    assert ROUTER.find(destination).sink == sink
    assert pickle.loads(pickle.dumps(ROUTER)).find(destination).sink == sink


@pytest.mark.parametrize(
    ("destination", "reason"),
    [
        ("resluts", 'the destination "resluts" has no sink; did you mean "results"?'),
        ("Results", 'the destination "Results" has no sink; did you mean "results"?'),
        ("x\ny", 'the destination "x?y" has no sink'),
        ("https://evil.test/key=1", "no webhook is allowed to go to this address at https://evil.test"),
        ("https://me:pw@example.com/", "the destination is an address that is not accepted: it names a user"),
        (
            "file:///etc/passwd",
            "the destination is an address that is not accepted: it does not begin with https:// or http://",
        ),
    ],
)
def test_dead_ends(destination: str, reason: str) -> None:
    route = ROUTER.find(destination)
    assert route.sink is None and route.reason == reason


def test_no_default() -> None:
    assert (
        Router([Outlet("a")]).find(None).reason == "the query has no destination, and no sink is the default"
    )
