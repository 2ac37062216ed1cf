"""Which sink comes of which settings, and what settings are refused."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eddyline.errors import SinkError
from eddyline.runtime.spark.base.secrets import Secret
from eddyline.runtime.spark.sinks import guarantee_of, make_router, make_sink
from tests.spark.sink_rows import US, settings_of

SERVERS = {"kafka.bootstrap.servers": "127.0.0.1:9092"}


@pytest.mark.parametrize(
    ("format", "guarantee"),
    [
        ("parquet", "exactly once"),
        ("json", "exactly once"),
        ("CSV", "exactly once"),
        ("orc", "exactly once"),
        ("delta", "exactly once"),
        ("iceberg", "exactly once"),
        ("kafka", "at least once"),
        ("console", "at least once"),
        ("callback", "at least once"),
        ("webhook", "at least once"),
        ("jdbc", "at least once"),
    ],
)
def test_guarantees(format: str, guarantee: str) -> None:
    assert guarantee_of(settings_of(format, "out")) == guarantee
    assert pickle.loads(pickle.dumps(make_sink(settings_of(format, "out"), folder=Path()))).name == "out"


@pytest.mark.parametrize(
    ("format", "more", "words"),
    [
        ("iceberg", {}, "does not say which table of Iceberg it writes"),
        ("kafka", {}, "does not say where Kafka is"),
        ("callback", {}, "names no function"),
        ("callback", {"callback": "json"}, "names no function"),
        ("callback", {"callback": "json:nothing"}, "is not there"),
        ("callback", {"callback": "no_such_module_here:f"}, "is not there"),
        ("callback", {"callback": "json:__doc__"}, "is not a function"),
        ("kafka", {"partition_by": ("date",)}, 'of format kafka cannot have "partition_by"'),
        ("parquet", {"allow": ("https://example.com",)}, 'of format parquet cannot have "allow"'),
        ("console", {"callback": "json:dumps"}, 'of format console cannot have "callback"'),
        ("jdbc", {"columns": "typed"}, "of format jdbc has no typed columns"),
        ("webhook", {}, "goes nowhere"),
        ("webhook", {"url": "ftp://example.com"}, "does not begin with https"),
        ("webhook", {"url": Secret("https://me:pw@example.com")}, "it names a user"),
        ("webhook", {"allow": ("example.com",)}, "allows an address that is not accepted"),
        ("webhook", {"allow": ("https://example.com/../",)}, "allows an address that is not accepted"),
        ("webhook", {"url": "https://example.com", "options": {"retries": "3"}}, 'option "retries"'),
        ("webhook", {"url": "https://example.com", "options": {"attempts": "no"}}, "is no, which is not"),
        ("webhook", {"url": "https://example.com", "options": {"timeout": "0"}}, "is 0, which is not"),
        ("webhook", {"url": "https://example.com", "options": {"header.a b": "c"}}, 'header "a b"'),
    ],
)
def test_refused(format: str, more: Mapping[str, Any], words: str) -> None:
    with pytest.raises(SinkError, match=words) as refusal:
        make_sink(settings_of(format, **more), folder=Path()).inspect()
    assert "pw" not in str(refusal.value)


@pytest.mark.parametrize(
    ("format", "more"),
    [
        ("kafka", {"options": SERVERS}),
        ("console", {}),
        ("callback", {"callback": "json:dumps"}),
        ("callback", {"callback": "json:JSONEncoder.encode"}),
        ("callback", {"callback": print}),
        ("webhook", {"url": "https://example.com/x", "options": {"header.X-Key": Secret("k")}}),
        ("webhook", {"allow": ("https://example.com/x",)}),
        ("noop", {}),
    ],
)
def test_accepted(format: str, more: Mapping[str, Any]) -> None:
    sink = make_sink(settings_of(format, **more), folder=Path())
    sink.inspect()
    sink.open(US)
    sink.close()


def test_a_router_of_settings() -> None:
    router = make_router(
        [
            settings_of("parquet", "out", default=True),
            settings_of("webhook", name="hook", allow=("https://example.com/a",)),
        ]
    )
    assert router.find(None).sink == "out"
    assert router.find("https://example.com/a/b").sink == "hook"
    assert router.find("https://example.com/b").sink is None
