"""What goes with queries, on disk: shared by versions, read when it is asked for, as it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.errors import FileError
from eddyline.model.query import Query
from eddyline.standing.rows.columns import KINDS, Attributes, Columns
from eddyline.standing.rows.table import Table
from eddyline.standing.saved import column_files, files
from eddyline.standing.saved.files import NO_PAGES, Pages, Saved, files_of
from eddyline.standing.saved.pages import MappedPages
from eddyline.standing.version import Newcomer, Version

TICKS = Stream("ticks", pa.schema({"a": pa.int32(), "b": pa.int32(), "s": pa.string()}))
TOCKS = Stream("tocks", pa.schema({"a": pa.int32(), "b": pa.int32()}))
SHAPES = (
    "SELECT * FROM ticks WHERE a > {0}",
    "SELECT s, a + {0} AS more FROM ticks WHERE a / b = {0}",
    "SELECT a FROM tocks WHERE a / b = {0} AND b % a > 1",
)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_files, "ROWS", 4)
    monkeypatch.setattr("os.fsync", lambda handle: None)


def empty() -> Version:
    return Version(0, Compiler([TICKS, TOCKS]), IndexSettings(), Table(columns=Columns()))


def newcomers(version: Version, first: int, end: int, **attributes: object) -> list[Newcomer]:
    queries = [Query(f"q{i}", SHAPES[i % len(SHAPES)].format(i % 5)) for i in range(first, end)]
    return [
        Newcomer(query, version.compiler.compile(query), Attributes(100 + i, 2, **attributes))  # type: ignore[arg-type]
        for i, query in enumerate(queries, first)
    ]


def some(count: int) -> Version:
    version = empty()
    return version.change((), newcomers(version, 0, count)).ready()


def seen(version: Version) -> dict[str, object]:
    """All that a version knows of its queries."""
    columns = version.table.columns
    return {
        query.id: (query.sql, columns.attributes(dense), columns.selection(dense), columns.fallible(dense))
        for dense, query in version.table.queries()
    }


def opened(root: Path, name: str) -> Saved:
    return files.load(root / "versions" / name)[1]


def saved(root: Path, name: str, version: Version, pages: Pages = NO_PAGES) -> tuple[Pages, int]:
    """Where the version lies, and how many files had to be written for it."""
    before = sum(1 for path in root.rglob("*") if path.is_file())
    found = files.save(root, name, Saved(version, pages))
    return found, sum(1 for path in root.rglob("*") if path.is_file()) - before


def test_columns_open_as_they_were_saved(tmp_path: Path) -> None:
    one = some(10)
    two = one.change([3], newcomers(one, 10, 13, destination="x"), staying=[(5, Attributes(shadow=True))])
    pages, _ = saved(tmp_path, "1", one)
    saved(tmp_path, "2", two.ready(), pages)
    for name, version in (("1", one), ("2", two.ready())):
        again = opened(tmp_path, name).version
        assert seen(again) == seen(version)
        for stream in ("ticks", "tocks"):
            assert again.of_stream(stream).tolist() == version.of_stream(stream).tolist()
            assert again.fallible(stream) == version.fallible(stream) != ()
    assert seen(one)["q5"] != seen(two)["q5"], "the version before stays as it was"


def test_an_opened_version_grows(tmp_path: Path) -> None:
    one = some(10)
    saved(tmp_path, "1", one)
    again = opened(tmp_path, "1")
    wanted = one.change([1], newcomers(one, 10, 12, destination="y"), staying=[(2, Attributes(shadow=True))])
    grown = again.version.change(
        [1], newcomers(again.version, 10, 12, destination="y"), staying=[(2, Attributes(shadow=True))]
    )
    assert seen(grown) == seen(wanted)
    for stream in ("ticks", "tocks"):
        assert grown.ready().fallible(stream) == wanted.ready().fallible(stream)
    shared = grown.table.columns.shared
    assert len(shared.selections) == len(wanted.table.columns.shared.selections), "what is equal is found"
    saved(tmp_path, "2", grown.ready(), again.pages)
    assert seen(opened(tmp_path, "2").version) == seen(wanted)
    other = again.version.change((), newcomers(one, 20, 22, destination="z"))
    assert {"q20", "q21"} < set(seen(other)) and "q10" not in seen(other)
    assert seen(other)["q20"] == seen(one.change((), newcomers(one, 20, 22, destination="z")))["q20"]


def test_only_touched_pages_are_written(tmp_path: Path) -> None:
    version = some(10)
    pages, _ = saved(tmp_path, "1", version)
    shadow = version.change((), (), staying=[(0, Attributes(shadow=True))])
    pages, written = saved(tmp_path, "2", shadow, pages)
    assert written == 2  # a page of columns, the manifest
    back = shadow.change((), (), staying=[(0, Attributes(shadow=False)), (1, Attributes(destination="far"))])
    pages, written = saved(tmp_path, "3", back, pages)
    assert written == 3  # and the destinations
    unchanged, written = saved(tmp_path, "4", back.change([4], ()), pages)
    assert written == 1 and unchanged.columns is not None
    again = opened(tmp_path, "4")
    assert again.pages.columns is not None and again.pages.columns.rows == unchanged.columns.rows
    _, written = saved(tmp_path, "5", again.version.change((), (), version=9), again.pages)
    assert written == 1
    grown = again.version.change((), newcomers(version, 10, 11)).ready()
    _, written = saved(tmp_path, "6", grown, again.pages)
    assert (
        written == 6
    )  # ids and texts, the last page of columns, SELECT lists, a segment, its numbers, the manifest


def test_pages_that_were_swept_are_written_again(tmp_path: Path) -> None:
    version = some(10)
    pages, _ = saved(tmp_path, "1", version)
    shutil.rmtree(tmp_path / "pages")
    saved(tmp_path, "2", version.change((), ()), pages)
    assert seen(opened(tmp_path, "2").version) == seen(version)


def test_nothing_is_read_that_nobody_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = some(10)
    saved(tmp_path, "1", version)
    read: list[str] = []
    plain = MappedPages.column

    def column(pages: MappedPages, name: str) -> pa.ChunkedArray:
        read.append(name)
        return plain(pages, name)

    monkeypatch.setattr(MappedPages, "column", column)
    again = opened(tmp_path, "1").version
    batch = pa.record_batch({"a": [3, 4], "b": [1, 0], "s": ["x", "y"]}, schema=TICKS.schema)
    assert len(again.match(batch, "ticks")) == len(version.match(batch, "ticks")) > 0
    assert read == []
    columns = again.table.columns
    assert columns["revision"].tolist() == [2] * 10 and read == ["revision"]
    assert columns.selection(1) == version.table.columns.selection(1) and read[1:] == ["select", "text"]
    shutil.rmtree(tmp_path)
    assert seen(again) == seen(version), "what is open stays usable"
    assert set(read) == {*KINDS, "text"} and len(read) == len(KINDS) + 3, "nothing is read twice"


def test_damage_is_named(tmp_path: Path) -> None:
    saved(tmp_path / "sound", "1", some(10))
    names = files_of(tmp_path / "sound" / "versions" / "1")
    assert len(names) == 1 + 2 + 3 + 3 + 2 + 1, (
        "texts, numbers, columns, what they point to, segments, the manifest"
    )
    for number, name in enumerate(names):
        root = tmp_path / str(number)
        shutil.copytree(tmp_path / "sound", root)
        content = bytearray((root / name).read_bytes())
        content[len(content) // 2] ^= 0xFF
        (root / name).write_bytes(content)
        with pytest.raises(FileError, match=r"damaged|not a"):
            opened(root, "1")


def test_a_set_with_columns_numbers_queries_on(tmp_path: Path) -> None:
    """Whoever does not say a number gets the next one, also after the set was opened."""
    version = empty()
    queries = [Query("a", SHAPES[0].format(1)), Query("b", SHAPES[1].format(1))]
    version = version.add(queries, [version.compiler.compile(query) for query in queries]).ready()
    saved(tmp_path, "1", version)
    grown = QuerySet.load(tmp_path / "versions" / "1").add({"c": SHAPES[0].format(7)}).standing()
    assert [grown.table.columns.attributes(dense).number for dense in range(3)] == [0, 1, 2]
    grown.check()


def test_no_queries(tmp_path: Path) -> None:
    saved(tmp_path, "0", empty())
    again = opened(tmp_path, "0")
    assert again.version.fallible("ticks") == () and seen(again.version) == {}
    assert again.version.table.columns["number"].tolist() == []
    grown = again.version.change((), newcomers(again.version, 0, 3)).ready()
    saved(tmp_path, "1", grown, again.pages)
    assert seen(opened(tmp_path, "1").version) == seen(some(3))


def test_a_set_without_columns_has_none_when_it_is_opened(tmp_path: Path) -> None:
    QuerySet.build({"a": SHAPES[0].format(1)}, streams=[TICKS]).save(tmp_path / "set")
    assert not QuerySet.load(tmp_path / "set").standing().table.has_columns


def test_compacted_columns(tmp_path: Path) -> None:
    """Rows and lists have other numbers in a new epoch."""
    version = some(10)
    version = version.change(version.of_stream("ticks").tolist(), ())
    left = version.replaced([p for p in version.segments if p.segment.stream == "ticks"], (), version.epoch)
    assert left is not None
    shorter, _ = left.compacted()
    assert shorter.table.size == 3 and seen(shorter) == seen(version)
    assert set(shorter.fallible("tocks")) == set(version.fallible("tocks")) != set()
    assert shorter.fallible("ticks") == version.fallible("ticks") == ()
    saved(tmp_path, "1", shorter)
    again = opened(tmp_path, "1").version
    assert seen(again) == seen(shorter) and again.fallible("tocks") == shorter.fallible("tocks")
