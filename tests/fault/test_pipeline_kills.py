"""A pipeline killed at random moments, its queries changing: each result is delivered once, as its version says."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.registry import Registry
from tests.fault.kills import Aftermath, storm, taken


def check(folder: Path, kills: int, seed: int) -> None:
    done = storm(folder, kills, seed)
    assert done.kills.total() == kills
    aftermath = Aftermath(folder)
    expected, matches, deliveries = aftermath.expected()
    assert aftermath.all_committed() and expected
    assert sorted([*aftermath.found(), *taken(done.received)]) == expected
    with Registry.open(folder / "registry.db") as registry:
        counters = registry.counters()
    assert {id: c["matches"] for id, c in counters.items() if c.get("matches")} == matches
    assert {id: c["deliveries"] for id, c in counters.items() if c.get("deliveries")} == deliveries


@pytest.mark.spark
@pytest.mark.slow
def test_five_kills(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    check(tmp_path, 5, seed=7)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_twenty_kills(tmp_path: Path, seed: int) -> None:
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    check(tmp_path, 20, seed)
