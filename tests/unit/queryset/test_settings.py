"""What is chosen, forced, told and kept: executors of a set, settings of a saved one."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from eddyline import QuerySet, Stream
from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.errors import FileError
from eddyline.index.rowwise.rowwise import SMALL_BATCH, TINY_BATCH

QUOTES = Stream("quotes", pa.schema({"name": pa.string(), "price": pa.float64(), "volume": pa.int64()}))
PLAIN = {f"q{i}": f"SELECT * FROM quotes WHERE price > {i} AND volume < {i * 7 % 40}" for i in range(30)}
NEVER = {"never": "SELECT * FROM quotes WHERE price > 3 AND price < 2"}
EITHER = {"either": "SELECT * FROM quotes WHERE price > 3 OR volume < 2"}
LIKE = {"like": "SELECT * FROM quotes WHERE name LIKE '%a%'"}


def built(queries: dict[str, str], **settings: object) -> QuerySet:
    return QuerySet.build(queries, streams=[QUOTES], settings=IndexSettings(**settings))


@pytest.mark.parametrize(
    ("queries", "settings", "told"),
    [
        (PLAIN, {}, f"row by row in batches of up to {SMALL_BATCH} rows: 30 queries"),
        (PLAIN | NEVER, {}, f"row by row in batches of up to {SMALL_BATCH} rows: 30 queries"),
        (PLAIN | EITHER, {"executor": "rowwise"}, "row by row: 30 queries"),
        (PLAIN | EITHER, {"executor": "rowwise"}, "and the others sliced: 1 queries"),
        (PLAIN | LIKE, {"executor": "rowwise"}, "row by row: 31 queries"),
    ],
)
def test_row_by_row(queries: dict[str, str], settings: dict[str, object], told: str) -> None:
    assert told in built(queries, **settings).explain()


@pytest.mark.parametrize(
    ("queries", "settings"),
    [
        (PLAIN | EITHER, {}),
        (PLAIN | LIKE, {}),
        (NEVER, {}),
        (PLAIN, {"executor": "sliced"}),
        (PLAIN, {"executor": "keyed"}),
        (PLAIN, {"rowwise_bytes": 1000}),
        (PLAIN, {"rowwise_bytes": 0}),
    ],
)
def test_not_row_by_row(queries: dict[str, str], settings: dict[str, object]) -> None:
    assert "row by row" not in built(queries, **settings).explain()


def test_a_large_table_serves_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.index.rowwise.rowwise.CACHED", 1000)
    assert f"in batches of up to {TINY_BATCH} rows" in built(PLAIN).explain()


def test_one_query_is_explained() -> None:
    queries = built(PLAIN | NEVER)
    assert "served sliced" in queries.explain("q3") and "served row by row in batches" in queries.explain(
        "q3"
    )
    assert "served by nothing" in queries.explain("never")
    forced = built(PLAIN | EITHER, executor="rowwise")
    assert "served sliced" not in forced.explain("q3")
    assert "being no plain conjunction" in forced.explain("either")


def test_the_sequence_starts_where_fewest_queries_are_left() -> None:
    queries = {f"q{i}": f"SELECT * FROM quotes WHERE volume > 5 AND price = {i}" for i in range(30)}
    assert "in the sequence price -> volume" in built(queries, executor="rowwise").explain()


def test_settings_are_saved_and_may_be_replaced(tmp_path) -> None:
    settings = IndexSettings(executor="rowwise", prefilter="off", segment_size=9)
    queries = QuerySet.build(PLAIN, streams=[QUOTES], settings=settings)
    queries.save(tmp_path / "set")
    assert QuerySet.load(tmp_path / "set").settings == settings
    other = QuerySet.load(tmp_path / "set", settings=DEFAULT_INDEX)
    assert other.settings == DEFAULT_INDEX and other.explain() == queries.explain()
    assert (
        "in 4 segments" in queries.explain() and "in 2 segments" in other.add({"new": PLAIN["q1"]}).explain()
    )


@pytest.mark.parametrize("executor", ["auto", "rowwise"])
def test_a_damaged_file_is_named(tmp_path, executor: str) -> None:
    built(PLAIN, executor=executor).save(tmp_path / "set")
    (segment,) = (tmp_path / "set" / "segments").iterdir()
    content = bytearray(segment.read_bytes())
    content[-1] ^= 1
    segment.write_bytes(content)
    with pytest.raises(FileError, match=f"{segment.name} in .* is damaged"):
        QuerySet.load(tmp_path / "set")


@pytest.mark.parametrize(
    "manifest",
    [
        {"format": 2, "version": 1, "segments": 1},
        {"checksum": 2038914338, "manifest": '{"shared": 1, "id": "4a"}'},
    ],
)
def test_sets_of_before_are_refused_by_name(tmp_path, manifest: dict[str, object]) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FileError, match="saved by another version of eddyline") as caught:
        QuerySet.load(tmp_path)
    assert str(tmp_path) in str(caught.value) and "save the set again" in str(caught.value)
