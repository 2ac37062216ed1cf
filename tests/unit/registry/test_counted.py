"""Counts that are added once however often a batch is delivered, and queries that are taken out because they do harm."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from eddyline import Stream
from eddyline.registry import Drop, Put, Registry, Set, State, accounts

TICKS = Stream("ticks", pa.schema({"a": pa.int32()}))
TEXT = "SELECT * FROM ticks WHERE a > 1"


@pytest.fixture
def registry(place: str) -> Iterator[Registry]:
    with Registry.open(place) as opened:
        opened.change([Put("a", TEXT), Put("b", TEXT)], streams=[TICKS], author="ann")
        yield opened


def test_a_batch_is_counted_once(registry: Registry) -> None:
    add = registry.add_counters
    assert add({"a": {"matches": 1}}, once=("pipeline/quotes", 0))
    assert not add({"a": {"matches": 1}}, once=("pipeline/quotes", 0))
    assert add({"a": {"matches": 10}}, once=("pipeline/trades", 0))
    assert add({"a": {"matches": 100}, "b": {"matches": 5}}, once=("pipeline/quotes", 7))
    assert not add({"a": {"matches": 1}}, once=("pipeline/quotes", 6))
    assert add({"a": {"matches": 1000}})
    assert add({}, once=("pipeline/quotes", 8)) and not add(
        {"b": {"matches": 1}}, once=("pipeline/quotes", 8)
    )
    assert registry.counters() == {"a": {"matches": 1111}, "b": {"matches": 5}}


def test_what_fails_is_not_counted(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the machine stops here")

    with monkeypatch.context() as patch:
        patch.setattr(accounts, "add_counters", fail)
        with pytest.raises(RuntimeError):
            registry.add_counters({"a": {"matches": 1}}, once=("here", 3))
    assert registry.add_counters({"a": {"matches": 1}}, once=("here", 3))
    assert registry.counters("a") == {"a": {"matches": 1}}


def test_quarantine(registry: Registry) -> None:
    change = registry.quarantine("a", "soundex(x) fails")
    assert change.changed == ("a",) and change.version == 2
    entry = registry.entry("a")
    assert entry is not None and entry.state == State.DISABLED and entry.sql == TEXT
    made = registry.history("a")[-1].version
    assert (made.author, made.reason) == ("eddyline", "soundex(x) fails")
    assert registry.quarantine("a", "again").version == 2 == registry.quarantine("gone", "no").version
    assert registry.version == 2


def test_quarantine_is_for_the_text_that_did_harm(registry: Registry) -> None:
    registry.change([Put("a", TEXT + " OR a = 0")], author="ann")
    assert registry.quarantine("a", "the first text fails", revision=1).unchanged == ("a",)
    assert registry.quarantine("a", "this one, too", revision=2).changed == ("a",)
    registry.change([Drop("a"), Set("b", state=State.SHADOW)], author="ann")
    assert registry.quarantine("b", "shadows fail as well", revision=1).changed == ("b",)


def test_quarantine_while_others_change(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is quicker: the text that is disabled is the one that was looked at."""
    plain, interfered = Registry.entry, []

    def slow(self: Registry, id: str, version: int | None = None) -> object:
        found = plain(self, id, version)
        if not interfered:
            interfered.append(self.change([Put("a", TEXT + " OR a = 9")], author="bob"))
        return found

    monkeypatch.setattr(Registry, "entry", slow)
    assert registry.quarantine("a", "fails", revision=1).unchanged == ("a",)
    monkeypatch.undo()
    entry = registry.entry("a")
    assert entry is not None and entry.state == State.ENABLED and entry.revision == 2
