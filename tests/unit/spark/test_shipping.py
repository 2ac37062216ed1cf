"""How compiled sets travel: inside the closure, in a folder, by fsspec; opened once a process."""

from __future__ import annotations

import os
import pickle
import re
import socket
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.config import IndexSettings, OrderSettings
from eddyline.errors import EddylineError, SetupError
from eddyline.runtime.spark.base import remote_folders
from eddyline.runtime.spark.transport import shipping
from eddyline.runtime.spark.transport.own_folder import own_folder
from eddyline.runtime.spark.transport.shipping import ship
from eddyline.runtime.spark.versions import Versions
from tests.unit.spark.registries import filled

QUOTES = Stream("quotes", pa.schema([("price", pa.float64())]))
BATCH = pa.record_batch({"price": [1.0, 20.0]})


def queries(limit: int = 10) -> QuerySet:
    return QuerySet.build({"cheap": f"SELECT * FROM quotes WHERE price < {limit}"}, streams=[QUOTES])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of this test's own, and nothing open yet."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(shipping, "_open_sets", type(shipping._open_sets)())
    return tmp_path


def test_small_sets_ride_along() -> None:
    sent = ship(queries(), local=False)
    assert sent.folder is None and sent.content is not None
    arrived = pickle.loads(pickle.dumps(sent)).open()
    assert arrived.match(BATCH).counts() == {"cheap": 1}


def test_a_set_is_opened_once_and_the_oldest_goes() -> None:
    first = ship(queries(), local=True)
    assert first.open() is first.open() is pickle.loads(pickle.dumps(first)).open()
    opened = first.open()
    for limit in range(20, 20 + shipping.MAX_OPEN):
        ship(queries(limit), local=True).open()
    assert first.open() is not opened


def test_an_order_is_found_where_a_set_arrives() -> None:
    """A worker process adapts by itself, from batch to batch and from task to task, whatever the set travelled in."""
    points = Stream("points", pa.schema([("x", pa.int64()), ("y", pa.int64())]))
    texts = {str(i): f"SELECT x FROM points WHERE x > {i} AND y > {50 + i}" for i in range(5)}
    order = OrderSettings(sample_rate=1.0, period=100, check_every=1_000, monitor_share=1.0)
    given = QuerySet.build(texts, streams=[points], settings=IndexSettings(order=order))
    batch = pa.record_batch({"x": list(range(60)), "y": list(range(60))})
    for sent in (ship(given, local=False), ship(given, folder=tempfile.gettempdir(), local=False)):
        shipping._open_sets.clear()
        for _ in range(200):  # tasks of one batch
            pickle.loads(pickle.dumps(sent)).open().match(batch)
        (report,) = sent.open().order_report()
        assert report.tuples == 200 * 60 and report.order.startswith("order: y -> x")


def test_the_same_content_has_the_same_key(folder: Path) -> None:
    one, other = (ship(queries(), folder=str(folder / "sets"), local=False) for _ in range(2))
    assert one == other and one is not other
    assert [path.name for path in (folder / "sets").iterdir()] == [one.key]
    assert ship(queries(11), local=False).key != one.key


def test_a_set_is_written_once(folder: Path) -> None:
    given = queries()
    assert ship(given, folder=str(folder / "sets"), local=True) is ship(
        given, folder=str(folder / "sets"), local=True
    )


def test_large_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where files are at hand they are used; elsewhere a set travels packed, as long as that is not too much."""
    monkeypatch.setattr(shipping, "MAX_CONTENT", 100)
    sent = ship(queries(), local=True)
    assert sent.content is None and sent.open().match(BATCH).counts() == {"cheap": 1}
    assert ship(queries(), local=False).content is not None
    monkeypatch.setattr(shipping, "MAX_ARCHIVE", 100)
    with pytest.raises(EddylineError, match="too large to travel inside the plan") as caught:
        ship(queries(), local=False)
    assert "folder=" in (caught.value.hint or "")


def test_a_folder_that_a_worker_does_not_see(folder: Path) -> None:
    sent = ship(queries(), folder=str(folder / "sets"), local=False)
    (folder / "sets").rename(folder / "hidden")
    with pytest.raises(SetupError, match=f"{sent.folder}, a folder that {socket.gethostname()} does not see"):
        sent.open()


def test_old_sets_are_swept_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "MAX_CONTENT", 100)
    first = ship(queries(), local=True)
    first.open()
    ship(queries(20), local=True).open()
    assert len(list(own_folder("sets").iterdir())) == 2
    monkeypatch.setattr(shipping, "KEPT_SECONDS", -1)
    newest = ship(queries(30), local=True)
    newest.open()
    assert [path.name for path in own_folder("sets").iterdir()] == [newest.key]
    assert first.open().match(BATCH).query_lists().to_pylist() == [["cheap"], []], "open ones still work"


def test_of_unpacked_sets_the_newest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """And those that somebody may be about to open; one that is gone comes again with its closure."""
    sent = [ship(queries(limit), local=False) for limit in range(10, 10 + shipping.UNPACKED + 3)]
    for one in sent:
        one.path()
    unpacked = own_folder("unpacked")
    assert len(list(unpacked.iterdir())) == len(sent), "opened a moment ago"
    for age, one in enumerate(reversed(sent)):
        os.utime(unpacked / one.key, (time.time() - 1000 - age,) * 2)
    sent[0].path()  # the oldest is opened once more
    ship(queries(99), local=False).path()
    assert {path.name for path in unpacked.iterdir()} == {
        sent[0].key,
        *[one.key for one in sent[-shipping.UNPACKED + 1 :]],
        ship(queries(99), local=False).key,
    }
    assert sent[1].open().match(BATCH).counts() == {"cheap": 1}


def test_a_loaded_set_stays_where_it_is(folder: Path) -> None:
    queries().save(folder / "saved")
    loaded = QuerySet.load(folder / "saved")
    assert ship(loaded, local=True).folder == str(folder / "saved")
    assert ship(loaded, folder=str(folder / "saved"), local=False).folder == str(folder / "saved")
    assert ship(loaded, local=False).content is not None
    assert ship(loaded.add({"more": "SELECT * FROM quotes"}), local=True).content is not None


def test_anything_that_fsspec_opens(folder: Path) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    sent = ship(queries(), folder="memory://sets", local=False)
    again = ship(queries(), folder="memory://sets", local=False)
    assert sent == again and sent.folder == f"memory://sets/{sent.key}"
    assert sent.open().match(BATCH).counts() == {"cheap": 1}
    assert sent.path().is_relative_to(folder)


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(SetupError, match=r"the folder s3://bucket/sets/.* needs fsspec"):
        ship(queries(), folder="s3://bucket/sets", local=False)


@pytest.mark.parametrize(
    ("folder", "package"),
    [
        ("s3a://bucket/sets", "s3fs"),
        ("gs://bucket/sets", "gcsfs"),
        ("abfss://box@account.dfs.core.windows.net/sets", "adlfs"),
        ("hdfs://host/sets", "libjvm"),
        ("dbfs:/sets", "/Volumes/"),
    ],
)
def test_a_store_without_its_driver(folder: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")

    def refused(*_: object, **__: object) -> None:
        raise OSError("Unable to load libjvm\nand the folders that were searched")

    monkeypatch.setattr("fsspec.core.url_to_fs", refused)
    with pytest.raises(SetupError, match=re.escape(f"the folder {folder}/")) as found:
        ship(queries(), folder=folder, local=False)
    assert package in str(found.value.hint) and "searched" not in str(found.value)


def test_a_store_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory", reason="fsspec is not installed")

    def refused(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied")

    published = ship(queries(), folder="memory://refusing", local=False)
    monkeypatch.setattr(memory.MemoryFileSystem, "put_file", refused)
    with pytest.raises(SetupError, match=r"the folder memory://other cannot be written: .*Access Denied"):
        ship(queries(), folder="memory://other", local=False)
    monkeypatch.setattr(memory.MemoryFileSystem, "get_file", refused)
    with pytest.raises(SetupError, match=r"the folder memory://refusing/\w+ cannot be read: .*Access Denied"):
        published.path()


def test_paths() -> None:
    assert remote_folders.local_path("file:/a/b") == Path("/a/b")
    assert remote_folders.local_path("dbfs://a/b") is None


def test_a_folder_that_others_can_change(folder: Path) -> None:
    root = own_folder("sets").parent
    root.chmod(0o777)
    with pytest.raises(SetupError, match="can be changed by other users"):
        own_folder("sets")


def test_a_folder_with_several_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of a pipeline is opened where nothing is shared, and by its path where it is, or too large to travel."""
    with filled(tmp_path / "registry.db", 5) as registry:
        folder = tmp_path / "sets"
        versions = Versions(registry, folder, shared=False)
        shipment = versions.shipment(versions.current())
        assert shipment.folder is None and pickle.loads(pickle.dumps(shipment)) == shipment
        hidden = folder.rename(tmp_path / "hidden")
        assert len(shipment.open()) == 5 and tmp_path in shipment.path().parents
        hidden.rename(folder)
        version = folder / "versions" / "2"
        assert shipping.ship_folder(version, shared=True).folder == str(version)
        monkeypatch.setattr(shipping, "MAX_ARCHIVE", 1_000)
        assert shipping.ship_folder(version, shared=False).folder == str(version)
        assert shipping.ship_folder(version, shared=False, private=True).content is not None
