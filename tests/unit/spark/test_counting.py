"""Counters wait for a registry that cannot be reached, and are added once and in order when it is back."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.errors import RegistryError
from eddyline.registry import Registry
from eddyline.runtime.spark.pipeline import counting
from eddyline.runtime.spark.pipeline.counting import Counting


def test_registry_away_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "AGAIN", 0.0)
    real = Registry.add_counters
    away = [False]

    def add(self: Registry, *args: object, **named: object) -> bool:
        if away[0]:
            raise RegistryError("the registry is locked")
        return real(self, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Registry, "add_counters", add)
    with Registry.open(tmp_path / "r.db") as registry:
        one = Counting(registry, tmp_path / "uncounted", "p")
        assert one.add("quotes", 0, {"a": {"matches": 1}}) is None
        away[0] = True
        assert "1 batches wait" in (one.add("quotes", 1, {"a": {"matches": 10}}) or "")
        assert "1 batches wait" in (one.add("quotes", 1, {"a": {"matches": 10}}) or ""), "replayed"
        assert "2 batches wait" in (one.add("quotes", 2, {"a": {"matches": 100}}) or "")
        assert registry.counters("a") == {"a": {"matches": 1}}
        away[0] = False
        later = Counting(registry, tmp_path / "uncounted", "p")
        assert later.add("quotes", 3, {"a": {"matches": 1000}}) is None
        assert later.add("quotes", 3, {"a": {"matches": 1000}}) is None, "replayed"
        assert registry.counters("a") == {"a": {"matches": 1111}}
        assert list((tmp_path / "uncounted").rglob("*.json")) == []
