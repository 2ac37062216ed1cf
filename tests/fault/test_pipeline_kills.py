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
@pytest.mark.long
@pytest.mark.parametrize(
    ("kills", "seed"),
    [(1, 7), (2, 7), (5, 7), (20, 1), (20, 2)],
)
def test_kills(tmp_path: Path, kills: int, seed: int) -> None:
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    check(tmp_path, kills, seed)
