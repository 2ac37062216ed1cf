"""Versions that share a folder: only what is new is written, whatever is damaged is named, open parts are opened once."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.compile import Compiler
from eddyline.errors import FileError, QueryError
from eddyline.model.query import NormalQuery, Query
from eddyline.queryset import open_set
from eddyline.standing.rows.table import Trunk
from eddyline.standing.saved.files import files_of, sweep
from eddyline.storage.local import LocalStorage

TICKS = Stream("ticks", pa.schema({"a": pa.int32(), "s": pa.string(), "x": pa.float64()}))
TOCKS = Stream("tocks", pa.schema({"a": pa.int32()}))
BATCH = pa.record_batch(
    {
        "a": pa.array(range(200), pa.int32()),
        "s": pa.array([f"text {i % 7}" for i in range(200)]),
        "x": pa.array(np.linspace(-1, 1, 200)),
    }
)
SHAPES = (
    "SELECT * FROM ticks WHERE a > {0}",
    "SELECT s FROM ticks WHERE a = {0} OR s LIKE '%{0}'",
    "SELECT a FROM ticks WHERE s = 'text {0}' AND x < 0.5",
    "SELECT a FROM ticks WHERE a * 2 > {0} AND NOT (x > 0 AND a <> {0})",
)


def some(first: int, end: int) -> dict[str, str]:
    return {f"q{i}": SHAPES[i % len(SHAPES)].format(i) for i in range(first, end)}


def of(root: Path, name: str, **options: bool) -> QuerySet:
    return open_set(root / "versions" / name, **options)


def files(root: Path) -> set[Path]:
    return {path for path in root.rglob("*") if path.is_file()}


def test_versions_open_as_they_were_saved(tmp_path: Path) -> None:
    one = QuerySet.build({**some(0, 50), "t": "SELECT * FROM tocks WHERE a = 1"}, streams=[TICKS, TOCKS])
    two = one.remove(["q3"]).add(some(50, 60))
    three = two.remove(["q7"]).add({"q3": SHAPES[0].format(5)})
    names = [version.save_shared(tmp_path) for version in (one, two, three)]
    for version, name in zip((one, two, three), names, strict=True):
        again = of(tmp_path, name)
        assert again.match(BATCH, stream="ticks").pairs() == version.match(BATCH, stream="ticks").pairs()
        assert again.count(BATCH, stream="ticks") == version.count(BATCH, stream="ticks")
        assert (len(again), again.streams, again.version) == (len(version), version.streams, version.version)
        assert str(again.why("q9", BATCH.slice(9, 1))) == str(version.why("q9", BATCH.slice(9, 1)))
        assert dict(again.queries()) == dict(version.queries())
    grown = of(tmp_path, names[2]).add(some(60, 70))
    wanted = three.add(some(60, 70))
    assert grown.match(BATCH, stream="ticks").pairs() == wanted.match(BATCH, stream="ticks").pairs()
    assert grown.save_shared(tmp_path, "more") == "more"
    assert of(tmp_path, "more").count(BATCH, stream="ticks") == wanted.count(BATCH, stream="ticks")


def test_a_version_writes_only_what_is_new(tmp_path: Path) -> None:
    queries = QuerySet.build(some(0, 400), streams=[TICKS])
    queries.save_shared(tmp_path)
    before = files(tmp_path)
    largest = max(path.stat().st_size for path in before)
    queries = queries.add(some(400, 401))
    queries.save_shared(tmp_path)
    new = files(tmp_path) - before
    assert len(new) == 3  # a segment, a page, a manifest
    assert max(path.stat().st_size for path in new) < largest / 4
    before |= new
    queries.remove(["q1"]).save_shared(tmp_path)
    assert [path.name for path in files(tmp_path) - before] == ["manifest.json"]


def test_pages_and_segments_stay_few(tmp_path: Path) -> None:
    queries = QuerySet.build(some(0, 100), streams=[TICKS])
    queries.save_shared(tmp_path)
    for i in range(100, 160):
        queries = queries.add(some(i, i + 1))
        name = queries.save_shared(tmp_path)
        assert len(files_of(tmp_path / "versions" / name)) < 16
    again = of(tmp_path, name)
    assert again.count(BATCH) == queries.count(BATCH) and dict(again.queries()) == dict(queries.queries())


def test_an_older_version_grows_another_way(tmp_path: Path) -> None:
    first = QuerySet.build(some(0, 10), streams=[TICKS])
    first.save_shared(tmp_path, "first")
    left, right = first.add(some(10, 12)), first.add({"other": SHAPES[0].format(1)})
    left.save_shared(tmp_path, "left")
    right.save_shared(tmp_path, "right")
    right.add(some(30, 33)).save_shared(tmp_path, "more")
    assert set(of(tmp_path, "left").count(BATCH)) == {*some(0, 12)}
    assert set(of(tmp_path, "right").count(BATCH)) == {*some(0, 10), "other"}
    assert set(of(tmp_path, "more").count(BATCH)) == {*some(0, 10), "other", *some(30, 33)}


def test_versions_share_open_segments_and_leave_texts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = QuerySet.build(some(0, 300), streams=[TICKS])
    queries.save_shared(tmp_path, "1")
    queries.add(some(300, 301)).save_shared(tmp_path, "2")
    one, two = of(tmp_path, "1", verify=False), of(tmp_path, "2", verify=False)
    assert one.executors()[0] is two.executors()[0] and len(two.executors()) == 2

    def refuse(*arguments: object) -> None:
        raise AssertionError("nobody asked for texts")

    opened = of(tmp_path, "2", verify=False)
    for name in ("rows", "names"):
        monkeypatch.setattr(Trunk, name, refuse)
    row, number = opened.match(BATCH).pair_arrays()
    assert len(row) == len(number) > 0
    grown = opened.add(some(301, 304)).remove(["q5"])  # ids are found without listing them
    assert len(grown) == 303 and "q303" in grown and "q7" in grown and "q5" not in grown
    wanted = queries.add(some(300, 304)).remove(["q5"]).match(BATCH).pair_arrays()
    assert [a.tolist() for a in grown.match(BATCH).pair_arrays()] == [a.tolist() for a in wanted]


def test_damage_is_named(tmp_path: Path) -> None:
    QuerySet.build(some(0, 30), streams=[TICKS]).save_shared(tmp_path / "sound", "1")
    for number, name in enumerate(files_of(tmp_path / "sound" / "versions" / "1")):
        root = tmp_path / str(number)
        shutil.copytree(tmp_path / "sound", root)
        path = root / name
        content = bytearray(path.read_bytes())
        content[-100] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"damaged|not a"):
            of(root, "1")
        path.write_bytes(content[: len(content) // 2])
        with pytest.raises(FileError):
            of(root, "1")
        path.unlink()
        with pytest.raises(FileError):
            of(root, "1")


def test_a_name_is_given_once(tmp_path: Path) -> None:
    queries = QuerySet.build(some(0, 3), streams=[TICKS])
    queries.save_shared(tmp_path, "1")
    with pytest.raises(FileError, match=r"version 1 in .* already"):
        queries.save_shared(tmp_path, "1")


def test_what_was_swept_is_written_again(tmp_path: Path) -> None:
    queries = QuerySet.build(some(0, 20), streams=[TICKS])
    queries.save_shared(tmp_path, "1")
    assert sweep(LocalStorage(tmp_path), ()) == 2
    queries.add(some(20, 21)).save_shared(tmp_path, "2")
    assert len(of(tmp_path, "2").count(BATCH)) == 21


def test_a_set_without_queries(tmp_path: Path) -> None:
    empty = QuerySet.build({}, streams=[TICKS])
    empty.save_shared(tmp_path, "0")
    again = of(tmp_path, "0")
    assert len(again) == 0 and len(again.match(BATCH)) == 0 and again.match(BATCH).counts() == {}
    assert again.match(BATCH).query_lists().to_pylist() == [[]] * 200
    assert len(again.add(some(0, 2)).match(BATCH).counts()) == 2


def test_segments_that_no_longer_compile_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a resolver knew a function of the query; opened without one, the compiled form goes on serving."""
    queries = QuerySet.build(some(0, 1), streams=[TICKS])
    queries.save_shared(tmp_path, "1")
    again = of(tmp_path, "1")
    compiled = Compiler.compile

    def forgetful(compiler: Compiler, query: Query) -> NormalQuery:
        if query.id == "q0":
            raise QueryError("there is no such function any more")
        return compiled(compiler, query)

    monkeypatch.setattr(Compiler, "compile", forgetful)
    grown = again.add(some(1, 5))
    assert len(grown.executors()) == 2
    monkeypatch.undo()
    assert grown.count(BATCH) == queries.add(some(1, 5)).count(BATCH)
