"""Counters wait for a registry that cannot be reached, and are added once and in order when it is back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.errors import FileError, RegistryError
from eddyline.registry import Registry
from eddyline.runtime.spark.pipeline.batch import counting
from eddyline.runtime.spark.pipeline.batch.counting import Counting
from eddyline.storage.local import LocalStorage


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
        one = Counting(registry, LocalStorage(tmp_path), "p")
        assert one.add("quotes", 0, {"a": {"matches": 1}}) is None
        away[0] = True
        assert "1 batches wait" in (one.add("quotes", 1, {"a": {"matches": 10}}) or "")
        assert "1 batches wait" in (one.add("quotes", 1, {"a": {"matches": 10}}) or ""), "replayed"
        assert "2 batches wait" in (one.add("quotes", 2, {"a": {"matches": 100}}) or "")
        assert registry.counters("a") == {"a": {"matches": 1}}
        away[0] = False
        later = Counting(registry, LocalStorage(tmp_path), "p")
        assert later.add("quotes", 3, {"a": {"matches": 1000}}) is None
        assert later.add("quotes", 3, {"a": {"matches": 1000}}) is None, "replayed"
        assert registry.counters("a") == {"a": {"matches": 1111}}
        assert list((tmp_path / "uncounted").rglob("*.json")) == []


def test_counters_of_another_format_are_refused_by_name(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    storage.put("uncounted/quotes/1.json", b'{"format": 2}')
    refused = pytest.raises(FileError, match=r"uncounted/quotes/1\.json has format 2, .* reads format 1")
    with Registry.open(tmp_path / "r.db") as registry, refused:
        Counting(registry, storage, "p").add("quotes", 2, {})


def test_damaged_counters_are_named(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    storage.put("uncounted/quotes/1.json", b'{"for')
    refused = pytest.raises(FileError, match=r"uncounted/quotes/1\.json is damaged")
    with Registry.open(tmp_path / "r.db") as registry, refused:
        Counting(registry, storage, "p").add("quotes", 2, {})


class Flaky:
    """A registry with a clock beside it: each batch comes some seconds after the last one, and finds it up or down."""

    def __init__(self) -> None:
        self.now = 0.0
        self.up = True
        self.asked: list[float] = []
        self.counted: list[int] = []

    def add_counters(self, counters: Mapping[str, Mapping[str, int]], *, once: tuple[str, int]) -> bool:
        self.asked.append(self.now)
        if not self.up:
            raise RegistryError("the server is down")
        assert counters == {"a": {"matches": once[1]}}
        self.counted.append(once[1])
        return True


def counting_with(registry: Flaky, folder: str | Path) -> Counting:
    return Counting(cast(Registry, registry), LocalStorage(Path(folder)), "p", clock=lambda: registry.now)


def test_frequent_batches_do_not_keep_a_registry_away_that_is_back(tmp_path: Path) -> None:
    registry = Flaky()
    one = counting_with(registry, tmp_path)
    registry.up = False
    assert "the server is down" in (one.add("quotes", 0, {"a": {"matches": 0}}) or "")
    registry.up = True
    for batch in range(1, 100):
        registry.now += 0.25
        said = one.add("quotes", batch, {"a": {"matches": batch}})
        assert (said is None) == (registry.now >= counting.AGAIN)
        if said is not None:
            assert said == f"the counters of {batch + 1} batches wait for the registry: the server is down"
    assert registry.counted == list(range(100))


@settings(max_examples=50)
@given(steps=st.lists(st.tuples(st.sampled_from([0.0, 0.1, 3.0, 10.0, 60.0]), st.booleans()), max_size=30))
def test_every_course_of_failures_ends_with_everything_counted(steps: list[tuple[float, bool]]) -> None:
    """However failures and batches fall, a registry is left alone for a pause after a failure, and never for longer."""
    registry = Flaky()
    with TemporaryDirectory() as folder:
        one = counting_with(registry, folder)
        failed = -counting.AGAIN
        for batch, (seconds, up) in enumerate([*steps, (counting.AGAIN, True)]):
            registry.now += seconds
            registry.up = up
            due, asked = registry.now >= failed + counting.AGAIN, len(registry.asked)
            said = one.add("quotes", batch, {"a": {"matches": batch}})
            assert (len(registry.asked) > asked) == due and (said is None) == (due and up)
            if due and not up:
                failed = registry.now
        assert registry.counted == list(range(len(steps) + 1))
