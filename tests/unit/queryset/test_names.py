"""What a set calls its streams and queries, and how it is asked for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import (
    Compiler,
    Engine,
    QuerySet,
    SchemaError,
    StandingQuery,
    Stream,
    UnknownQueryError,
    reference,
)
from eddyline.errors import EddylineError
from eddyline.execute.reading.batch import ColumnReader

TICKS = Stream("ticks", pa.schema({"a": pa.int32()}))
NEWS = Stream("News", pa.schema({"text": pa.string()}))
BATCH = pa.record_batch({"a": pa.array([1, 2, 3], pa.int32())})
TEXTS = {
    "big": "SELECT * FROM Ticks WHERE a > 1",
    "none": "SELECT * FROM ticks WHERE false",
    "all": "SELECT * FROM TICKS",
    "news": "SELECT * FROM news WHERE text LIKE '%a%'",
}


@pytest.fixture
def queries() -> QuerySet:
    return QuerySet.build(TEXTS, streams=[TICKS, NEWS])


def test_a_set_is_asked_as_a_mapping_is(queries: QuerySet, tmp_path: Path) -> None:
    streams = {"big": "ticks", "none": "ticks", "all": "ticks", "news": "News"}
    wanted = [StandingQuery(id, sql, streams[id]) for id, sql in TEXTS.items()]
    assert [queries[id] for id in queries] == wanted, "before it is compiled"
    queries.match(BATCH, stream="ticks")
    assert [queries[id] for id in queries] == wanted and len(queries) == 4
    queries.save(tmp_path / "set")
    loaded = QuerySet.load(tmp_path / "set")
    assert [loaded[id] for id in loaded] == wanted
    changed = loaded.remove(["big"]).add({"big": "SELECT text FROM news", "more": "SELECT a FROM ticks"})
    assert list(changed) == ["none", "all", "news", "big", "more"]
    assert changed["big"].stream == "News" and loaded["big"].stream == "ticks"
    assert "more" in changed and "more" not in loaded


@pytest.mark.parametrize(
    "ask",
    [
        lambda queries: queries["bigg"],
        lambda queries: queries.number("bigg"),
        lambda queries: queries.explain("bigg"),
        lambda queries: queries.why("bigg", {"a": 1}),
        lambda queries: queries.remove(["bigg"]),
        lambda queries: queries.match(BATCH, stream="ticks").rows("bigg"),
    ],
)
def test_an_id_that_no_query_has(queries: QuerySet, ask: Callable[[QuerySet], object]) -> None:
    with pytest.raises(UnknownQueryError) as caught:
        ask(queries)
    assert str(caught.value) == 'there is no query "bigg"\nhint: did you mean "big"?'
    assert isinstance(caught.value, KeyError) and isinstance(caught.value, EddylineError)


def test_a_guess_is_not_a_removed_query(queries: QuerySet) -> None:
    with pytest.raises(UnknownQueryError) as caught:
        queries.remove(["big"]).match(BATCH, stream="ticks").rows("big")
    assert caught.value.hint is None


@pytest.mark.parametrize("name", ["ticks", "Ticks", "TICKS"])
def test_streams_are_found_in_any_case(queries: QuerySet, name: str) -> None:
    expected = {"big": 2, "none": 0, "all": 3}
    assert queries.match(BATCH, stream=name).counts() == expected | {"news": 0}
    assert queries.count(BATCH, stream=name) == expected | {"news": 0}
    assert [len(block) for block in queries.blocks(BATCH, stream=name)] == [5]
    assert queries.columns_read(name) == ("a",) and queries.stream(name) is TICKS
    assert reference.match(TEXTS, BATCH, streams=[TICKS, NEWS], stream=name).counts() == expected


def test_streams_that_are_not_there(queries: QuerySet) -> None:
    with pytest.raises(SchemaError, match='stream "quotes" is not known\nhint: name one of ticks, News'):
        queries.match(BATCH, stream="quotes")
    with pytest.raises(SchemaError, match="no stream is named"):
        queries.match(BATCH)


@pytest.mark.parametrize("other", [TICKS, Stream("TICKS", NEWS.schema)])
def test_two_streams_of_one_name(other: Stream) -> None:
    for make in (
        lambda: QuerySet.build({}, streams=[TICKS, other]),
        lambda: Compiler([TICKS, other]),
        lambda: reference.match({}, BATCH, streams=[TICKS, other], stream="ticks"),
    ):
        with pytest.raises(SchemaError, match='two streams have the name "ticks"'):
            make()


def test_ids_are_compared_as_they_are() -> None:
    both = QuerySet.build({"q": TEXTS["big"], "Q": TEXTS["all"]}, streams=[TICKS])
    assert both.count(BATCH) == {"q": 2, "Q": 3}


def test_what_a_set_is_made_of_are_queries(queries: QuerySet) -> None:
    with pytest.raises(EddylineError, match="'big' is no query"):
        QuerySet.build(queries, streams=[TICKS])  # type: ignore[arg-type]


WIDE = Stream("wide", pa.schema([(f"c{i}", pa.int64()) for i in range(40)]))


@pytest.mark.parametrize("used", [["c3"], ["c3", "c7"], [f"c{i}" for i in range(40)], []])
def test_columns_are_found_whatever_the_last_batch_was(used: list[str]) -> None:
    """A reader that has seen other schemas reads what one reads that has seen none, or refuses what that refuses."""
    names = [field.name for field in WIDE.schema]
    plain = {name: pa.array([place]) for place, name in enumerate(names)}
    batches = [
        plain,
        dict(reversed(plain.items())),
        {name.upper(): values for name, values in plain.items()},
        {"C3": pa.array([100]), **plain},
        {name: values for name, values in plain.items() if name != "c3"},
        plain | {"c3": pa.array(["text"])},
        plain | {"c3": pa.array([7], pa.int32())},
        plain | {"c9": pa.array(["text"])},
        dict(list(plain.items())[1:]),
    ]
    tables = [pa.record_batch(columns) for columns in batches]
    tables.append(pa.RecordBatch.from_arrays([*tables[0].columns, pa.array([9])], [*names, "c3"]))
    for before in tables:
        for after in tables:
            reader = ColumnReader(WIDE, used)
            read(reader, before)
            assert read(reader, after) == read(ColumnReader(WIDE, used), after)


def read(reader: ColumnReader, batch: pa.RecordBatch) -> object:
    try:
        columns, rows = reader.read(batch)
    except SchemaError as error:
        return str(error)
    return {name: (column.type, column.to_pylist()) for name, column in columns.items()}, rows


def test_an_id_is_not_taken_for_its_letters() -> None:
    texts = dict.fromkeys(("a", "b", "ab"), "SELECT * FROM ticks")
    assert list(QuerySet.build(texts, streams=[TICKS]).remove("ab")) == ["a", "b"]
    engine = Engine(streams=[TICKS])
    engine.add(texts)
    engine.change(remove="ab")
    assert list(engine) == ["a", "b"]
