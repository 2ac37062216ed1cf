"""Which batches a query missed, and which input belongs to them, read from what pipeline and Spark wrote down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pyarrow as pa
import pytest

from eddyline import Stream
from eddyline.errors import EddylineError, FileError
from eddyline.model.query_state import State
from eddyline.registry import Put, Registry, Set
from eddyline.runtime.spark.base.settings import SourceSettings
from eddyline.runtime.spark.catch_up.boundary import InForce, find_boundary
from eddyline.runtime.spark.pipeline.input import inputs
from eddyline.runtime.spark.pipeline.input.inputs import check_source, files_of, offsets_of
from eddyline.runtime.spark.versions import StateFolder, VersionLog
from eddyline.storage.local import LocalStorage

QUOTES = Stream("quotes", pa.schema([("price", pa.float64())]))


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """Version 1 has the query disabled, 2 enabled, 3 shadow, 4 enabled with another text, 5 and 6 with that one."""
    with Registry.open(tmp_path / "registry.db") as registry:
        registry.change([Put("q", "SELECT * FROM quotes", state=State.DISABLED)], streams=[QUOTES])
        registry.change([Set("q", state=State.ENABLED)])
        registry.change([Set("q", state=State.SHADOW)])
        registry.change([Put("q", "SELECT price FROM quotes", state=State.ENABLED)])
        registry.change([Set("q", owner="ann")])
        registry.change([Put("other", "SELECT * FROM quotes")])
        yield registry


def test_since_when_a_text_is_enabled(registry: Registry) -> None:
    found = InForce.of(registry, "q")
    assert found.since == 4 and found.entry.revision == 2
    assert [found.delivered_in(version) for version in range(8)] == [False] * 4 + [True] * 4
    registry.change([Set("q", state=State.DISABLED)])
    with pytest.raises(EddylineError, match='query "q" is not enabled'):
        InForce.of(registry, "q")
    registry.change([Set("q", state=State.ENABLED)])
    found = InForce.of(registry, "q")
    assert found.since == 8 and [found.delivered_in(version) for version in (4, 6, 7, 8)] == [
        True,
        True,
        False,
        True,
    ]


def test_what_was_missed_while_the_pipeline_stands_still(registry: Registry, tmp_path: Path) -> None:
    registry.change([Set("q", state=State.DISABLED)])
    registry.change([Set("q", state=State.ENABLED)])
    state = StateFolder.open(tmp_path / "state", name="p", sources=["a", "b", "c"])
    log = VersionLog(state.batches)
    for source, versions in {"a": (1, 2, 4, 5, 7), "b": (1, 1, 8, 8)}.items():
        for batch, version in enumerate(versions):
            log.pin(source, batch, lambda version=version: version)  # type: ignore[misc]
    settled: list[bool] = []
    found = find_boundary(
        state,
        InForce.of(registry, "q"),
        ["a", "b", "c"],
        settle=lambda: settled.append(StateFolder.is_running(state.path) is not None),
    )
    assert [(one.first, one.missed) for one in found] == [
        (None, (range(2), range(4, 5))),
        (2, (range(2),)),
        (None, ()),
    ]
    assert settled == [True]
    assert str(found[0]) == "a: in force from the next batch on, missed 0 to 1, 4"
    assert found[1].as_json() == {"first": 2, "missed": [[0, 1]]}


def test_a_pipeline_that_runs_is_waited_for(registry: Registry, tmp_path: Path) -> None:
    state = StateFolder.open(tmp_path / "state", name="p", sources=["a"])
    log = VersionLog(state.batches)
    log.pin("a", 0, lambda: 1)
    with state.lock():
        with pytest.raises(EddylineError, match="no batch of a began with the query in it within 0"):
            find_boundary(state, InForce.of(registry, "q"), ["a"], timeout=0.1)
        later = Timer(0.3, lambda: (log.pin("a", 1, lambda: 3), log.pin("a", 2, lambda: 6)))
        later.start()
        [found] = find_boundary(state, InForce.of(registry, "q"), ["a"], timeout=30)
        later.join()
    assert found.first == 2 and found.missed == (range(2),)


def offset(checkpoint: Path, batch: int, text: str) -> None:
    (checkpoint / "offsets").mkdir(parents=True, exist_ok=True)
    (checkpoint / "offsets" / str(batch)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{text}')


def files(checkpoint: Path, name: str, *entries: tuple[str, int]) -> None:
    folder = checkpoint / "sources" / "0"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps({"path": f"file:///in/{path}", "timestamp": 1, "batchId": at}) for path, at in entries
    ]
    (folder / name).write_text("\n".join(["v1", *lines]))


def test_files_of_batches(tmp_path: Path) -> None:
    """The number of a batch is not that of an entry: a start that failed may have made one more."""
    files(tmp_path, "9.compact", ("a", 0), ("b%20%5B1%5D", 1), ("c", 5), ("d", 9))
    files(tmp_path, "9", ("d", 9))
    files(tmp_path, "10", ("e", 10), ("f", 10))
    files(tmp_path, "11", ("g", 11))
    files(tmp_path, ".11.crc")
    for batch, position in enumerate((0, 1, 9, 10)):
        offset(tmp_path, batch, json.dumps({"logOffset": position}))
    assert files_of(LocalStorage(tmp_path), (range(4),)) == [
        f"file:///in/{name}" for name in ("a", "b%20%5B1%5D", "c", "d", "e", "f")
    ]
    assert files_of(LocalStorage(tmp_path), (range(1), range(2, 3))) == [
        "file:///in/a",
        "file:///in/c",
        "file:///in/d",
    ]
    assert files_of(LocalStorage(tmp_path), ()) == []
    with pytest.raises(FileError, match="no longer says what batch 4 read"):
        files_of(LocalStorage(tmp_path), (range(5),))
    offset(tmp_path, 4, "-")
    with pytest.raises(FileError, match="is not understood"):
        files_of(LocalStorage(tmp_path), (range(5),))


def test_the_newest_files_are_found_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a log of everything that ever came, only what is asked for is read."""
    monkeypatch.setattr(inputs, "_BLOCK", 64)
    files(tmp_path, "19.compact", *[(f"file {number}", number // 3) for number in range(60)])
    for batch in range(20):
        offset(tmp_path, batch, json.dumps({"logOffset": batch}))
    for batch in (0, 1, 18, 19):
        expected = [f"file:///in/file {number}" for number in range(3 * batch, 3 * batch + 3)]
        assert files_of(LocalStorage(tmp_path), (range(batch, batch + 1),)) == expected
    assert len(inputs._ending(LocalStorage(tmp_path), "sources/0/19.compact", 19)) < 10
    offset(tmp_path, 20, json.dumps({"logOffset": 20}))
    with pytest.raises(FileError, match="does not say which files came"):
        files_of(LocalStorage(tmp_path), (range(20, 21),))


def test_offsets_of_batches(tmp_path: Path) -> None:
    """Partitions of Kafka that came later begin at their first message."""
    (tmp_path / "sources" / "0").mkdir(parents=True)
    (tmp_path / "sources" / "0" / "0").write_bytes(b'\0v1\n{"t":{"0":5}}')
    for batch, end in enumerate(({"0": 7}, {"0": 9}, {"0": 9, "1": 4})):
        offset(tmp_path, batch, json.dumps({"t": end}))
    first, last = offsets_of(LocalStorage(tmp_path), (range(2), range(2, 3)))
    assert (first.begin, first.end) == ({"t": {"0": 5}}, {"t": {"0": 9}})
    assert {name: json.loads(text) for name, text in last.options().items()} == {
        "assign": {"t": [0, 1]},
        "startingOffsets": {"t": {"0": 9, "1": -2}},
        "endingOffsets": {"t": {"0": 9, "1": 4}},
    }


def test_sources_that_cannot_be_read_again() -> None:
    check_source(SourceSettings(name="a", format="json"))
    with pytest.raises(FileError, match='source "a": past rows of the format socket cannot be read again'):
        check_source(SourceSettings(name="a", format="socket"))


def test_batches_of_which_the_records_are_deleted(registry: Registry, tmp_path: Path) -> None:
    """They were missed, unless the query stood before: then nobody knows any more."""
    state = StateFolder.open(tmp_path / "state", name="p", sources=["a", "b"])
    log = VersionLog(state.batches)
    for batch in (7, 8):
        log.pin("a", batch, lambda: 1)
        log.pin("b", batch, lambda: 6)
    [found] = find_boundary(state, InForce.of(registry, "q"), ["a"])
    assert found.missed == (range(9),)
    with pytest.raises(EddylineError, match='not known any more which of the first 7 batches of source "b"'):
        find_boundary(state, InForce.of(registry, "q"), ["b"])
