"""Joins from text to `BoundJoin`: what golden files cannot show, and texts that nobody should write."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from eddyline.errors import QueryError
from eddyline.functions.context import Context
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column, Literal, Parameter, columns_of, parameters_of, walk
from eddyline.model.join import BoundJoin, Source, virtual_source
from eddyline.model.query import BoundQuery, Query
from eddyline.sql import bind, joined_name, render, render_join
from eddyline.sql.bind import bind_text
from eddyline.sql.spark_only.functions import spark_functions
from eddyline.sql.template import split

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64()), ("at", pa.int64())]))
TRADES = Stream("trades", pa.schema([("symbol", pa.string()), ("size", pa.int32()), ("at", pa.int64())]))
STREAMS = [QUOTES, TRADES]
JOIN = "quotes q JOIN trades t ON q.symbol = t.symbol"


def bound(sql: str, streams: list[Stream] = STREAMS) -> BoundJoin:
    found = bind(Query("q", sql), streams)
    assert isinstance(found, BoundJoin)
    return found


def test_a_join_names_its_sources() -> None:
    join = bound(f"SELECT price, size FROM {JOIN} WHERE price > 5")
    assert join.sources == (Source("q", "quotes"), Source("t", "trades"))
    assert join.stream == "quotes q JOIN trades t"
    virtual = virtual_source(join.sources, {stream.name: stream for stream in STREAMS})
    read = columns_of(join.predicate) | {
        name for output in join.outputs for name in columns_of(output.expression)
    }
    assert read == {"q.symbol", "t.symbol", "q.price", "t.size"} <= set(virtual.schema.names)
    columns = [part for part in walk(join.predicate) if isinstance(part, Column)]
    assert all(virtual.types[column.name] == column.type for column in columns)


def test_a_query_of_one_stream_is_what_it_was() -> None:
    query = bind(Query("q", "SELECT * FROM quotes q WHERE q.price > 5"), STREAMS)
    assert isinstance(query, BoundQuery) and query.stream == "quotes"
    assert query.outputs is QUOTES.everything


def test_streams_are_called_as_they_are_declared() -> None:
    join = bound("SELECT Size FROM QUOTES, Trades T WHERE quotes.symbol = t.symbol")
    assert join.sources == (Source("quotes", "quotes"), Source("T", "trades"))
    assert join.outputs[0].name == "Size" and join.outputs[0].expression == Column("T.size", t.INT)


def test_a_join_without_condition_is_always_true() -> None:
    assert bound("SELECT price FROM quotes, trades").predicate == Literal(True, t.BOOLEAN)


def test_the_time_zone_is_kept() -> None:
    join = bind(Query("q", f"SELECT price FROM {JOIN}"), STREAMS, time_zone="Europe/Vienna")
    assert join.time_zone == "Europe/Vienna"


def test_stars_of_columns_that_spark_has_no_type_for() -> None:
    odd = Stream("odd", pa.schema([("symbol", pa.string()), ("clock", pa.time64("us"))]))
    join = bound("SELECT o.* FROM odd o JOIN trades t USING (symbol)", [odd, TRADES])
    assert [str(output.expression.type) for output in join.outputs] == ["string", "void"]


def test_names_made_for_stars_must_be_free() -> None:
    taken = Stream("taken", pa.schema([("symbol", pa.string()), ("q_symbol", pa.string())]))
    with pytest.raises(QueryError, match='two columns of \\* are called "q_symbol"') as caught:
        bound("SELECT * FROM quotes q JOIN taken t ON q.symbol = t.symbol", [QUOTES, taken])
    assert caught.value.hint == "name the columns, with AS"
    names = [
        o.name for o in bound("SELECT * FROM quotes q JOIN taken t USING (symbol)", [QUOTES, taken]).outputs
    ]
    assert names == ["symbol", "price", "at", "q_symbol"]


def test_constants_become_parameters() -> None:
    sql = f"SELECT price FROM {JOIN} AND t.size > 7 WHERE q.price < 2.5 AND q.symbol <> 'A'"
    found = split(sql)
    assert found is not None
    places = {end: (start, number) for number, (start, end) in enumerate(found.spans())}
    join = bind_text(Query("q", sql), STREAMS, Context(), parameters=places)
    assert parameters_of(join.predicate) == {0, 1, 2}
    values = {p.index: p.value for p in walk(join.predicate) if isinstance(p, Parameter)}
    assert values == dict(enumerate(found.values))


class Knowing:
    """Spark as a resolver that would take anything."""

    functions = frozenset({"soundex", "exists"})

    def __init__(self, *, judges: bool) -> None:
        self.judges = judges

    def call(self, name, arguments):
        return t.STRING if name in self.functions else None

    def expression(self, piece):
        return t.BOOLEAN


@pytest.mark.parametrize("judges", [True, False])
@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("soundex(q.symbol) = 'A'", 'only Spark has the function "soundex", which joins cannot use yet'),
        ("size & 1 = 1", "only Spark may be able to read this, which joins cannot use yet"),
        ("q.symbol COLLATE UTF8_LCASE = 'a'", "only Spark may be able to read this"),
        ("nosuch(q.symbol) = 'A'", 'function "nosuch" is not known'),
        ("symbol = 'A'", 'column "symbol" is in both "q" and "t"'),
        ("q.prise > 1", 'stream "quotes" has no column "prise"'),
        ("prise > 1", 'neither "q" nor "t" has a column "prise"'),
        ("EXISTS (SELECT 1)", "EXISTS is not supported"),
        ("price > (SELECT 1)", "subqueries are not supported"),
        ("rand() > 0.5", "rand: the function is not deterministic"),
    ],
)
def test_what_only_spark_has_is_refused(condition: str, message: str, judges: bool) -> None:
    with pytest.raises(QueryError) as caught:
        bind(
            Query("q", f"SELECT price FROM {JOIN} WHERE {condition}"),
            STREAMS,
            resolver=Knowing(judges=judges),
        )
    assert caught.value.message.startswith(message)
    assert caught.value.span is not None


def test_a_join_that_needs_nothing_of_spark_can_have_a_resolver() -> None:
    sql = f"SELECT lower(q.symbol) AS s FROM {JOIN} WHERE (size + 1) > 5"
    assert bind(Query("q", sql), STREAMS, resolver=Knowing(judges=True)) == bound(sql)


def test_functions_of_spark_are_not_let_in_unverified() -> None:
    with pytest.raises(QueryError, match='only Spark has the function "soundex"'):
        spark_functions(Query("q", f"SELECT price FROM {JOIN} WHERE soundex(q.symbol) = 'A'"), STREAMS)


@pytest.mark.parametrize("word", [", ", " JOIN "])
def test_long_lists_are_refused_at_the_third(word: str) -> None:
    with pytest.raises(QueryError, match="joins of more than two streams are not supported yet") as caught:
        bound("SELECT * FROM " + word.join(f"quotes q{i}" for i in range(20_000)))
    first_two = "SELECT * FROM quotes q0" + word + "quotes q1" + word.removesuffix(word.lstrip())
    assert caught.value.column == len(first_two) + 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM quotes q JOIN trades t USING (" + ", ".join(f"c{i}" for i in range(5_000)) + ")",
        "SELECT * FROM quotes " + "JOIN " * 5_000,
        "SELECT * FROM quotes q JOIN trades t ON " + "(" * 5_000,
        "SELECT * FROM quotes q JOIN trades t ON " + " = ".join(["q.symbol"] * 5_000),
        "SELECT " + ".".join(["q"] * 5_000) + f" FROM {JOIN}",
        "SELECT * FROM `` JOIN trades t ON true",
        "SELECT * FROM quotes AS JOIN trades t ON true",
        "SELECT * FROM quotes q JOIN trades AS ON q.symbol = t.symbol",
        "SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol; SELECT 1",
        "SELECT * FROM quotes q JOIN 'trades' t ON true",
        "SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE",
        "SELECT * FROM quotes q INNER",
        "SELECT * FROM quotes q INNER JOIN INNER JOIN trades t ON true",
        "SELECT * FROM quotes q(a, b, c) JOIN trades t ON true",
        "SELECT * FROM (quotes q JOIN trades t ON q.symbol = t.symbol)",
        "SELECT q.at.* FROM quotes q JOIN trades t ON q.symbol = t.symbol",
        "SELECT t.`*` FROM quotes q JOIN trades t ON q.symbol = t.symbol",
        "FROM quotes q JOIN trades t ON q.symbol = t.symbol SELECT *",
    ],
)
def test_hostile_texts(sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        bound(sql)
    assert len(str(caught.value)) < 2_000


def test_many_conditions_are_fine() -> None:
    equal = " AND ".join(["q.symbol = t.symbol"] * 3_000)
    assert (
        len(bound(f"SELECT price FROM quotes q JOIN trades t ON {equal} WHERE {equal}").predicate.arguments)
        == 6_000
    )


@pytest.mark.parametrize("alias", ["my quotes", "it's", "a`b", "select", '"', "é", "q;--", "1", "_"])
def test_aliases_are_names(alias: str) -> None:
    name = "`" + alias.replace("`", "``") + "`"
    join = bound(f"SELECT {name}.price AS p FROM quotes {name} JOIN trades t ON {name}.symbol = t.symbol")
    assert join.sources[0].alias == alias
    assert bound(render_join(join)).predicate == join.predicate


def test_rendering_with_another_list_and_one_more_condition() -> None:
    join = bound(f"SELECT price FROM {JOIN}")
    extra = bound("SELECT price FROM quotes q, trades t WHERE t.at BETWEEN q.at - 5 AND q.at").predicate
    text = render_join(join, ["q.at", "t.at"], extra=extra)
    assert text.startswith(
        "SELECT q.at, t.at FROM quotes AS q JOIN trades AS t ON ((q.symbol = t.symbol) AND "
    )
    again = bound(text.replace("q.at, t.at", "price", 1)).predicate
    assert again.arguments[0] == join.predicate and again.arguments[1:] == extra.arguments
    assert "try_subtract(" in render_join(join, ["1"], extra=extra, try_forms=True)


def test_names_of_virtual_columns() -> None:
    dotted = Column("q.a.b", t.INT)
    assert render(dotted) == "`q.a.b`" and render(dotted, spell=joined_name) == "q.`a.b`"


def test_duckdb_reads_what_is_rendered() -> None:
    join = bound(f"SELECT q.symbol, size FROM {JOIN} WHERE t.at >= q.at AND price > size")
    quotes = pa.table({"symbol": ["A", "A", None], "price": [3.0, 1.0, 9.0], "at": [1, 2, 3]})
    trades = pa.table({"symbol": ["A", None], "size": pa.array([2, 1], pa.int32()), "at": [2, 9]})
    with duckdb.connect() as connection:
        connection.register("quotes", quotes)
        connection.register("trades", trades)
        assert connection.sql(render_join(join)).fetchall() == [("A", 2)]
