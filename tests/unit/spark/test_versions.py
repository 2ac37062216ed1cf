"""Compiled versions follow the registry at the cost of what changed, and never stop because of what is in it."""

from __future__ import annotations

import json
import shutil
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.errors import RegistryError
from eddyline.index import segment as segments
from eddyline.model.query import NormalQuery, Query
from eddyline.registry import Drop, Put, Registry, Set, State
from eddyline.runtime.spark.versions import Versions, compiled, open_deliverables
from eddyline.runtime.spark.versions import versions as module
from eddyline.standing.saved.files import FORMAT, MANIFEST, files_of
from tests.unit.spark.registries import BATCH, QUOTES, check, filled, text


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written need not outlive a loss of power here."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with filled(tmp_path / "registry.db", 20) as opened:
        yield opened


def on_disk(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def needed(root: Path) -> set[str]:
    return {file for folder in (root / "versions").iterdir() for file in files_of(folder)}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of all queries that are compiled."""
    seen: list[str] = []
    plain = Compiler.compile

    def compile(compiler: Compiler, query: Query) -> NormalQuery:
        seen.append(query.id)
        return plain(compiler, query)

    monkeypatch.setattr(Compiler, "compile", compile)
    return seen


def test_versions_follow_the_registry(registry: Registry, tmp_path: Path, counted: list[str]) -> None:
    versions = Versions(registry, tmp_path / "sets")
    assert versions.current() == 2 and versions.current() == 2
    changes = [
        [Put("new", text(1)), Drop("q1")],
        [Set("q2", state=State.SHADOW, destination="kafka"), Set("q3", destination="kafka")],
        [Set("q4", state=State.DISABLED), Put("q5", text(0), state=State.SHADOW)],
        [Set("q4", state=State.ENABLED), Set("q2", state=State.ENABLED), Set("q6", tags=["x"])],
        [Put("q1", text(7), destination="files"), Drop("new")],
    ]
    compiled_by = []
    for edits in changes:
        version = registry.change(edits, author="ann").version
        counted.clear()
        assert versions.current() == version and versions.trouble is None
        compiled_by.append(len(counted))
    assert compiled_by[1] == 0 and max(compiled_by) < 8
    registry.rollback(3, author="bob")
    assert versions.current() == 8
    for version in range(2, 9):
        check(versions, registry, version)


def test_several_changes_are_one_step(registry: Registry, tmp_path: Path) -> None:
    versions = Versions(registry, tmp_path / "sets")
    versions.current()
    for i in range(5):
        registry.change([Put(f"n{i}", text(i)), Drop(f"q{i}")], author="ann")
    assert versions.current() == 7
    check(versions, registry, 7)
    check(versions, registry, 4)  # nobody made it before: it is made when it is asked for


def test_a_broken_query_is_left_out_and_named(registry: Registry, tmp_path: Path) -> None:
    versions = Versions(registry, tmp_path / "sets")
    versions.current()
    registry.change([Put("bad", "SELECT nothing FROM quotes"), Put("good", text(2))], author="ann")
    registry.change([Put("q0", "SELECT symbol FROM quotes WHERE soundex(symbol) = 'S'")], author="ann")
    assert versions.current() == 4 and set(versions.problems) == {"bad", "q0"}
    assert 'no column "nothing"' in versions.problems["bad"] and "soundex" in versions.problems["q0"]
    check(versions, registry, 4)
    again = Versions(registry, tmp_path / "sets")
    assert again.problems == versions.problems
    registry.change([Put("q0", text(0)), Set("bad", destination="x")], author="ann")
    assert again.current() == 5 and set(again.problems) == {"bad"}
    registry.change([Drop("bad")], author="ann")
    assert again.current() == 6 and not again.problems
    check(again, registry, 6)


def test_joins_are_left_out_and_named(tmp_path: Path) -> None:
    schema = pa.schema([("symbol", pa.string()), ("price", pa.float64()), ("ts", pa.timestamp("us"))])
    join = "SELECT * FROM quotes a JOIN trades b ON a.symbol = b.symbol AND a.ts = b.ts"
    with Registry.open(tmp_path / "registry.db") as registry:
        for name in ("quotes", "trades"):
            registry.declare(ed.Stream(name, schema, "ts", "10 seconds"), author="ann")
        registry.change([Put("pair", join), Put("q0", text(0))], author="ann")
        versions = Versions(registry, tmp_path / "sets")
        assert versions.current() == 3
        assert dict(versions.problems) == {"pair": "it joins streams, which a pipeline on Spark does not do"}
        assert list(versions.shipment(3).open()) == ["q0"]
        registry.change([Put("other", join), Put("pair", text(1))], author="ann")
        assert versions.current() == 4 and set(versions.problems) == {"other"}
        assert list(versions.shipment(4).open()) == ["q0", "pair"]


def test_not_even_a_bug_of_ours_stops_the_others(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = Versions(registry, tmp_path / "sets")
    versions.current()
    plain = segments.build_segment

    def build(stream: str, queries: list[NormalQuery], *rest: object) -> segments.Segment:
        assert not any(query.id == "cursed" for query in queries), "never seen such a query"
        return plain(stream, queries, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("eddyline.standing.merging.building.build_segment", build)
    edits = [Put(name, text(3)) for name in ("a", "b", "cursed", "c")]
    registry.change(edits, author="ann")
    assert versions.current() == 3 and set(versions.problems) == {"cursed"}
    assert "never seen such a query" in versions.problems["cursed"]
    check(versions, registry, 3)


def test_a_resolver_knows_more(registry: Registry, tmp_path: Path) -> None:
    versions = Versions(registry, tmp_path / "sets")
    assert versions.current() == 2
    other = Versions(registry, tmp_path / "sets", resolver_key="soundex is allowed")
    assert other.current() == 2
    assert {folder.name for folder in (tmp_path / "sets" / "versions").iterdir()} == {"2", "2.1"}
    check(other, registry, 2)
    zone = Versions(registry, tmp_path / "sets", time_zone="Asia/Tokyo", resolver_key="soundex is allowed")
    assert zone.current() == 2 and zone.queries(2).time_zone == "Asia/Tokyo"
    assert zone.table(2).select_list(0).time_zone == "Asia/Tokyo"


def test_other_streams(registry: Registry, tmp_path: Path) -> None:
    versions = Versions(registry, tmp_path / "sets")
    versions.current()
    trades = ed.Stream("trades", pa.schema([("size", pa.int64())]))
    registry.change([Put("t", "SELECT * FROM trades WHERE size > 1")], streams=[trades], author="ann")
    assert versions.current() == 3
    rows = pa.record_batch({"size": [1, 2, 3]})
    found = versions.shipment(3).open().match(rows, stream="trades").rows("t")
    assert found.tolist() == [1, 2]


def test_a_restart_compiles_nothing(registry: Registry, tmp_path: Path, counted: list[str]) -> None:
    versions = Versions(registry, tmp_path / "sets")
    registry.change([Put("bad", "SELECT nothing FROM quotes")], author="ann")
    versions.current()
    counted.clear()
    again = Versions(registry, tmp_path / "sets")
    assert again.current() == 3 and counted == []
    registry.change([Put("new", text(1))], author="ann")
    assert again.current() == 4 and counted == ["new"]
    check(again, registry, 4)


def test_an_empty_registry(tmp_path: Path) -> None:
    with Registry.open(tmp_path / "empty.db") as registry:
        versions = Versions(registry, tmp_path / "sets")
        assert versions.current() == 0 and len(versions.shipment(0).open()) == 0
        assert Versions(registry, tmp_path / "sets").current() == 0
        registry.declare(QUOTES, author="ann")
        registry.change([Put("q", text(0))], author="ann")
        assert versions.current() == 2
        check(versions, registry, 2)


def test_a_registry_that_fails_for_a_while(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left alone for a pause, however often batches ask meanwhile, and then it is asked."""
    now = 0.0
    versions = Versions(registry, tmp_path / "sets", clock=lambda: now)
    versions.current()
    registry.change([Put("new", text(1))], author="ann")
    plain, asked = Registry.diff, 0

    def unreachable(*_: object) -> None:
        nonlocal asked
        asked += 1
        raise RegistryError("the registry cannot be reached")

    monkeypatch.setattr(Registry, "diff", unreachable)
    for _ in range(9):
        assert versions.current() == 2 and versions.trouble == "the registry cannot be reached"
        now += module.AGAIN / 4
    assert asked == 3, "at 0, 2 and 4 seconds"
    monkeypatch.setattr(Registry, "diff", plain)
    assert versions.current() == 2, "it is not asked again at once"
    now += module.AGAIN
    assert versions.current() == 3 and versions.trouble is None
    monkeypatch.setattr(Registry, "version", property(unreachable))
    again = Versions(registry, tmp_path / "sets")
    assert again.current() == 3 and again.trouble is not None
    with pytest.raises(RegistryError, match="cannot be reached"):
        Versions(registry, tmp_path / "none")


def test_a_damaged_registry_file(tmp_path: Path) -> None:
    place = tmp_path / "registry.db"
    with filled(place, 5) as registry:
        versions = Versions(registry, tmp_path / "sets")
        versions.current()
        for file in tmp_path.glob("registry.db*"):
            file.write_bytes(b"no database at all" * 500)
        assert versions.current() == 2 and "registry.db" in (versions.trouble or "")


def test_a_full_disk(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = Versions(registry, tmp_path / "sets")
    versions.current()
    registry.change([Put("new", text(1)), Set("q2", state=State.SHADOW)], author="ann")
    monkeypatch.setattr(module, "AGAIN", 0.0)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        assert versions.current() == 2 and "No space left" in (versions.trouble or "")
        check(versions, registry, 2)
    assert versions.current() == 3
    check(versions, registry, 3)
    check(versions, registry, 2)


def test_a_registry_that_went_back(registry: Registry, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "registry.db", tmp_path / "copy.db")
    versions = Versions(registry, tmp_path / "sets")
    registry.change([Put("new", text(1))], author="ann")
    versions.current()
    with Registry.open(tmp_path / "copy.db") as restored:
        with pytest.raises(RegistryError, match="is at version 2, and this pipeline has served version 3"):
            Versions(restored, tmp_path / "sets")
        restored.change([Put("other", text(2))], author="bob")
        with pytest.raises(RegistryError, match="version 3 of the registry is not the one"):
            Versions(restored, tmp_path / "sets")
    with filled(tmp_path / "another.db", 3) as another:
        versions._registry = another
        assert versions.current() == 3 and "served version 3 already" in (versions.trouble or "")


def test_a_registry_that_was_replaced(registry: Registry, tmp_path: Path) -> None:
    """The last version of the old one stays in force, also where the new one is at a higher version."""
    versions = Versions(registry, tmp_path / "sets")
    assert versions.current() == 2
    with filled(tmp_path / "other.db", 3) as other:
        for number in range(5):
            other.change([Put(f"other{number}", text(1))], author="bob")
    (tmp_path / "other.db").replace(tmp_path / "registry.db")
    assert versions.current() == 2 and "was replaced by another one" in (versions.trouble or "")


def test_damaged_versions_are_made_again(registry: Registry, tmp_path: Path) -> None:
    root = tmp_path / "sets"
    versions = Versions(registry, root)
    versions.current()
    registry.change([Put("new", text(1))], author="ann")
    versions.current()
    sound = tmp_path / "sound"
    shutil.copytree(root, sound)
    for file in sorted(needed(root)):
        shutil.rmtree(root)
        shutil.copytree(sound, root)
        content = bytearray((root / file).read_bytes())
        content[len(content) // 2] ^= 0xFF
        (root / file).write_bytes(content)
        again = Versions(registry, root)
        assert again.current() == 3
        check(again, registry, 3)
        check(again, registry, 2)
        assert again.notices


def of_another_format(folder: Path) -> None:
    """Make a version one of an earlier eddyline."""
    sealed = json.loads((folder / MANIFEST).read_text())
    manifest = json.dumps({**json.loads(sealed["manifest"]), "format": FORMAT - 1})
    sealed = {"checksum": zlib.crc32(manifest.encode()), "manifest": manifest}
    (folder / MANIFEST).write_text(json.dumps(sealed))


def test_versions_of_an_earlier_eddyline_are_made_again(registry: Registry, tmp_path: Path) -> None:
    root = tmp_path / "sets"
    versions = Versions(registry, root)
    for i in range(3):
        registry.change([Put(f"n{i}", text(i)), Drop(f"q{i}")], author="ann")
        versions.current()
    for folder in (root / "versions").iterdir():
        of_another_format(folder)
    again = Versions(registry, root)
    assert f"its format is {FORMAT - 1}, not {FORMAT}" in again.notices[0]
    assert again.current() == 5
    before = on_disk(root)
    assert again.forget(5, keep={4}) == [3], "what cannot be read keeps nobody from going on"
    assert {file for file in before - on_disk(root) if not file.startswith("versions/")} == set()
    for version in (4, 5):
        check(again, registry, version)
    assert again.forget(5, keep={4}) == [] and on_disk(root) == needed(root), "now it is known what they need"
    assert again.forget(5) == [4] and on_disk(root) == needed(root)


def test_the_driver_has_the_version_that_workers_open(registry: Registry, tmp_path: Path) -> None:
    """Compiled again because of a damaged file, its queries have other numbers."""
    root = tmp_path / "sets"
    versions = Versions(registry, root)
    versions.current()
    registry.change([Drop("q0"), Put("q1", text(5))], author="ann")
    assert versions.current() == 3
    for file in files_of(root / "versions" / "3")[:-1]:
        (root / file).write_bytes(b"")
    worker = versions.shipment(3).open()
    assert versions.notices and worker.size == 19
    assert dict(versions.queries(3).queries()) == dict(worker.queries())
    check(versions, registry, 3)


def test_forgetting(registry: Registry, tmp_path: Path) -> None:
    root = tmp_path / "sets"
    versions = Versions(registry, root)
    for i in range(12):
        registry.change([Put(f"n{i}", text(i)), Drop(f"q{i}"), Set("q15", destination=f"d{i}")], author="ann")
        versions.current()
    opened = versions.shipment(4).open()
    assert versions.forget(12, keep={5, 7}) == [3, 4, 6, 8, 9, 10, 11]
    assert on_disk(root) == needed(root)
    for version in (5, 7, 12, 13, 14):
        check(versions, registry, version)
    assert len(opened.count(BATCH)) == 20, "what is open stays usable"
    assert versions.forget(1000) == [5, 7, 12, 13] and on_disk(root) == needed(root)
    registry.change([Put("last", text(4))], author="ann")
    assert versions.current() == 15
    check(versions, registry, 15)
    check(versions, registry, 5)
    assert versions.forget(15) == [5, 14] and on_disk(root) == needed(root)
    check(Versions(registry, root), registry, 15)


def test_what_piles_up_is_compiled_again(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "FEW", 5)
    versions = Versions(registry, tmp_path / "sets")
    sizes, rebuilt = [], 0
    for i in range(50):
        edits = [Put(f"q{i % 20}", text(i + 1), destination=f"d{i}"), Set("q19", state=State.SHADOW)]
        version = registry.change(edits, author="ann").version
        before = versions._rebuild
        assert versions.current() == version and versions.trouble is None
        rebuilt += versions._rebuild is not before and versions._rebuild is not None
        versions.wait()
        versions.forget(version, keep={version - 1})
        sizes.append(versions.queries(version).size)
        if i % 7 == 0:
            check(versions, registry, version)
    assert rebuilt >= 2 and max(sizes) < 60 and not versions.notices
    check(versions, registry, version)
    versions.forget(version)
    assert len(list((tmp_path / "sets" / "segments").iterdir())) < 12


def test_many_segments_are_compiled_again(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "MOST_SEGMENTS", 3)
    monkeypatch.setattr(compiled, "SETTINGS", IndexSettings(largest_merge=1))
    versions = Versions(registry, tmp_path / "sets")
    most = 0
    for i in range(30):
        version = registry.change([Put(f"n{i}", text(i))], author="ann").version
        versions.current()
        versions.wait()
        most = max(most, len(versions.queries(version).executors()))
    assert most <= 5
    check(versions, registry, version)


def test_a_failing_rebuild_is_noticed(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "FEW", 1)
    versions = Versions(registry, tmp_path / "sets")
    versions.current()

    def fail(*_: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(compiled.Recipe, "rebuilt", fail)
    for i in range(19):
        registry.change([Drop(f"q{i}")], author="ann")
        versions.current()
        versions.wait()
    assert versions.trouble is None and "no room" in versions.notices[0]
    check(versions, registry, registry.version)


def test_the_worker_keeps_versions_open(registry: Registry, tmp_path: Path) -> None:
    versions = Versions(registry, tmp_path / "sets")
    shipment = versions.shipment(versions.current())
    assert shipment is versions.shipment(2)
    assert open_deliverables(shipment) is open_deliverables(shipment)


def test_select_lists_give_what_queries_select(registry: Registry, tmp_path: Path) -> None:
    versions = Versions(registry, tmp_path / "sets")
    shipment = versions.shipment(versions.current())
    queries, table = shipment.open(), open_deliverables(shipment)
    select = table.select_list_of(queries.number("q2"))
    found = select.values(BATCH, np.array([3, 4]))
    assert select.schema.names == ["more", "name"] and table.select_list(select.number) is select
    assert [array.to_pylist() for array in found.columns] == [[4.0, 5.0], ["S3", "S4"]]
    assert len(np.unique(table.select)) == 3


@pytest.mark.slow
def test_a_change_costs_what_changes(tmp_path: Path) -> None:
    with filled(tmp_path / "registry.db", 5000) as registry:
        versions = Versions(registry, tmp_path / "sets")
        versions.current()
        times = []
        for i in range(30):
            registry.change([Put(f"q{i}", text(i + 1))], author="ann")
            start = time.process_time()
            versions.current()
            times.append(time.process_time() - start)
        assert np.median(times) < 0.1
