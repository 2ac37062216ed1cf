"""A pipeline killed at random moments and after every step, its queries changing: each result is delivered once, as its version says.

One suite for every store that can hold state and results: this machine's disk, and a server that speaks S3.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from eddyline.registry import Registry
from tests.cluster import master, worker_apart
from tests.fault.kills import BROKEN, ROWS, Aftermath, stepwise, storm, taken
from tests.fault.pipeline_script import STEPS, TOGETHER
from tests.fault.stores import DiskStore, store_of, use_bucket
from tests.s3 import Bucket, bucket
from tests.web_server import Received

pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def s3() -> Iterator[Bucket]:
    with bucket() as running:
        yield running


@pytest.fixture(params=["disk", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a pipeline, with its state and results there or in a bucket."""
    if request.param == "s3":
        use_bucket(tmp_path, request.getfixturevalue("s3"))
    return tmp_path


def check(folder: Path, received: list[Received]) -> None:
    """What was delivered is what a run without kills delivers, whose batches have the same files and versions."""
    aftermath = Aftermath(folder)
    expected, matches, deliveries = aftermath.expected()
    assert aftermath.all_committed() and expected
    assert sorted([*aftermath.found(), *taken(received)]) == expected
    with Registry.open(folder / "registry.db") as registry:
        counters = registry.counters()
    assert {id: c["matches"] for id, c in counters.items() if c.get("matches")} == matches
    assert {id: c["deliveries"] for id, c in counters.items() if c.get("deliveries")} == deliveries


def _is_disk(folder: Path) -> bool:
    return isinstance(store_of(folder), DiskStore)


@pytest.mark.slow
def test_killed_three_times(folder: Path) -> None:
    """Before anything is delivered, when results are written out of sight, and when a batch is done and Spark does not know it."""
    stepwise(folder, ["pin", "write together" if _is_disk(folder) else "write", "commit"], seed=5)
    check(folder, [])


@pytest.mark.long
def test_killed_after_every_step(folder: Path) -> None:
    elsewhere = TOGETHER if (folder / "store.json").exists() else {"move"}
    stepwise(folder, [step for step in STEPS if step not in elsewhere], seed=6)
    check(folder, [])


@pytest.mark.long
def test_killed_on_a_cluster(tmp_path: Path, s3: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """State, inputs, results and dead letters are in a bucket, and nothing else of the driver is seen by the workers."""
    folder = tmp_path / "driver"
    (folder / "tmp").mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    with ExitStack() as running:
        address = running.enter_context(master(tmp_path))
        for name in ("one", "two"):
            own = worker_apart(tmp_path / name, address, folder, read_only_home=name == "two")
            running.enter_context(own)
        settings = {"spark.master": address, "spark.executor.memory": "600m"}
        store = use_bucket(folder, s3, inputs=True, **settings)
        stepwise(folder, ["write", "count"], seed=8, lines=BROKEN)
    check(folder, [])
    assert list((folder / "quotes").iterdir()) == []
    letters = [(one["text"], one["tuple_key"].rpartition("/")[2]) for one in store.letters()]
    assert letters == [(line, f"{name}#{ROWS}") for name in store.inputs.list("") for line in BROKEN]


@pytest.mark.long
@pytest.mark.parametrize(("kills", "seed"), [(1, 7), (2, 7), (5, 7), (20, 1), (20, 2)])
def test_killed_at_random_moments(tmp_path: Path, kills: int, seed: int) -> None:
    done = storm(tmp_path, kills, seed)
    assert done.kills.total() == kills
    check(tmp_path, done.received)


@pytest.mark.long
def test_killed_at_random_moments_with_a_bucket(tmp_path: Path, s3: Bucket) -> None:
    use_bucket(tmp_path, s3)
    done = storm(tmp_path, 12, seed=3)
    assert done.kills.total() == 12
    check(tmp_path, done.received)
