"""Selected values as columns: what comes back is exactly what was selected."""

from __future__ import annotations

import json
import math
import random
import struct
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from eddyline.errors import DeliveryError
from eddyline.model.catalog import Stream
from eddyline.registry import Put
from eddyline.runtime.embedded.sources import read
from eddyline.runtime.spark.base.settings import SinkSettings, SourceSettings
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.sinks import make_sink
from eddyline.runtime.spark.sinks.shape import columns
from eddyline.runtime.spark.sinks.typed import TypedList
from tests.spark.pipelines import Place, run
from tests.spark.sink_rows import US, batch_of, rows_of, settings_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNT = 1500


def bits(kind: str, size: str) -> list[Any]:
    chance = random.Random(1)
    width = struct.calcsize(kind) * 8
    return [struct.unpack(kind, struct.pack(size, chance.getrandbits(width)))[0] for _ in range(COUNT - 10)]


def repeated(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array((values * COUNT)[:COUNT], kind)


SPECIAL = [None, 0.0, -0.0, math.nan, math.inf, -math.inf, 0.1, 1e-7, 1e21, 16777216.0]
MOMENTS = [
    datetime(1, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59, 999999),
    datetime(2024, 3, 31, 2, 30, 0, 1),
    None,
]
IN_UTC = [None if moment is None else moment.replace(tzinfo=UTC) for moment in MOMENTS]
ZONED, WALL = pa.timestamp("us", "UTC"), pa.timestamp("us")

TABLE = pa.table(
    {
        "float": pa.array([*SPECIAL, *bits("f", "I")], pa.float32()),
        "double": pa.array([*SPECIAL, *bits("d", "Q")], pa.float64()),
        "boolean": repeated([True, False, None], pa.bool_()),
        "tinyint": repeated([-128, 127, None], pa.int8()),
        "smallint": repeated([-32768, 32767, None], pa.int16()),
        "int": repeated([-(2**31), 2**31 - 1, None], pa.int32()),
        "bigint": repeated([-(2**63), 2**63 - 1, 2**53 + 1, None], pa.int64()),
        "wide": repeated([Decimal("12345678901234567890123456789012345.678"), Decimal("-0.001"), None], pa.decimal128(38, 3)),
        "fine": repeated([Decimal("1E-30"), Decimal("-0.1"), None], pa.decimal128(38, 30)),
        "string": repeated(["", 'a"b\\c\n\t\r', "é\U0001f600", "null", "NaN", " x ", "\x00\x1f\x7f\u2028", None], pa.string()),
        "binary": repeated([b"", b"\x00\xff\xfe", b"abc", None], pa.binary()),
        "day": repeated([date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 10), None], pa.date32()),
        "moment": repeated(IN_UTC, ZONED),
        "wall clock": repeated(MOMENTS, WALL),
        "struct": repeated([{"x": 1, "y z": IN_UTC[2]}, {"x": None, "y z": None}, None], pa.struct([("x", pa.int64()), ("y z", ZONED)])),
        "doubles": repeated([[1.5, math.nan, None, -math.inf, 0.1], [], None], pa.list_(pa.float64())),
        "floats": repeated([[0.10000000149011612, 16777216.0], None], pa.list_(pa.float32())),
        "map": repeated([[("a", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int32())),
        "lists": repeated([[[b"\xff", None], None], None], pa.list_(pa.list_(pa.binary()))),
        "days": repeated([[date(2024, 1, 1)], None], pa.list_(pa.date32())),
        "moments": repeated([MOMENTS, None], pa.list_(WALL)),
        "odd `name`.x": repeated([1], pa.int64()),
        "query_id": repeated(["selected"], pa.string()),
    }
)  # fmt: skip


def same(left: Any, right: Any) -> bool:
    """Equal, with NaN equal to itself and -0.0 apart from 0.0."""
    return repr(left) == repr(right)


def test_all_types_come_back(spark: SparkSession, tmp_path: Path) -> None:
    sink = make_sink(settings_of("parquet", tmp_path, columns="typed"), folder=Path())
    sink.open(US)
    keys = [str(place) for place in range(COUNT)]
    rows = rows_of(spark, ["q"] * COUNT, selected=TABLE, payload=[None] * COUNT, tuple_key=keys)
    assert sink.deliver(rows, batch_of(), sink.typed_for({0: TABLE.schema}, batch_of())) == COUNT
    found = spark.read.parquet(str(tmp_path)).toArrow()
    order = sorted(range(COUNT), key=lambda place: int(found["tuple_key"][place].as_py()))
    assert found["payload"].null_count == COUNT and set(found["query_id"].to_pylist()) == {"q"}
    for name in TABLE.column_names:
        column = found["query_id_2" if name == "query_id" else name]
        got, expected = column.take(order).to_pylist(), TABLE[name].to_pylist()
        wrong = [pair for pair in zip(got, expected, strict=True) if not same(*pair)]
        assert not wrong, (name, wrong[:3])
        assert column.type == TABLE.schema.field(name).type or pa.types.is_nested(column.type), name


def test_text_stays_beside_columns_that_nobody_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    sink = make_sink(settings_of("parquet", tmp_path), folder=Path())
    sink.open(US)
    table = pa.table({"n": pa.array([0], pa.int32())})
    typed = sink.typed_for({0: table.schema}, batch_of())
    assert typed is not None and typed.beside_payload
    sink.deliver(rows_of(spark, ["a"], selected=table), batch_of(), typed)
    found = spark.read.parquet(str(tmp_path)).select("n", "payload").collect()
    assert [tuple(row) for row in found] == [(0, '{"n":0}')]


def test_typed_columns_are_not_read_from_text(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = TypedList(("a", "b"), ("int",) * 2, (0,))
    rows = rows_of(
        spark, ["a"], selected=pa.table({"a": pa.array([1], pa.int32()), "b": pa.array([2], pa.int32())})
    )
    columns(rows.repartition(2), typed).explain()
    assert "from_json(" not in capsys.readouterr().out


def test_rows_of_another_list_keep_their_payload(spark: SparkSession, tmp_path: Path) -> None:
    one, other = pa.schema([("n", pa.int32())]), pa.schema([("n", pa.string())])
    sink = make_sink(settings_of("parquet", tmp_path, columns="typed"), folder=Path())
    sink.open(US)

    def deliver(batch: int, queries: list[str], lists: dict[int, pa.Schema], **rows: Any) -> None:
        at = batch_of(batch)
        sink.deliver(rows_of(spark, queries, at, **rows), at, sink.typed_for(lists, at))

    payload = '{"n":"x"}'
    deliver(0, ["a"], {0: one}, selected=pa.table({"n": pa.array([0], pa.int32())}), payload=[None])
    deliver(
        1,
        ["a", "b"],
        {4: one, 5: other},
        selected=pa.table({"n": pa.array([7, None], pa.int32())}),
        payload=[None, payload],
    )
    deliver(2, ["d"], {0: other})
    found = spark.read.parquet(str(tmp_path)).orderBy("batch", "query_id").select("query_id", "n", "payload")
    assert [tuple(row) for row in found.collect()] == [
        ("a", 0, None),
        ("a", 7, None),
        ("b", None, payload),
        ("d", None, '{"n":0}'),
    ]
    assert dict(found.dtypes)["n"] == "int"


def test_another_source_settled_other_columns(spark: SparkSession, tmp_path: Path) -> None:
    """Rows were made for columns that the output does not have: the batch comes again, nothing is written."""
    one, other = pa.schema([("n", pa.int32())]), pa.schema([("n", pa.string())])
    sink, late = (
        make_sink(settings_of("parquet", tmp_path, columns="typed"), folder=Path()) for _ in range(2)
    )
    sink.open(US)
    late.open(US)
    typed = late.typed_for({0: other}, batch_of())
    first = rows_of(spark, ["a"], selected=pa.table({"n": pa.array([0], pa.int32())}), payload=[None])
    sink.deliver(first, batch_of(), sink.typed_for({0: one}, batch_of()))
    rows = rows_of(spark, ["b"], selected=pa.table({"n": pa.array(["x"])}), payload=[None])
    with pytest.raises(DeliveryError, match="settled by another source"):
        late.deliver(rows, batch_of(0, "trades"), typed)
    again = late.typed_for({0: other}, batch_of())
    assert again is not None and (again.types, again.numbers) == (("int",), ())
    late.deliver(rows_of(spark, ["b"], payload=['{"n":"x"}']), batch_of(0, "trades"), again)
    found = spark.read.parquet(str(tmp_path)).orderBy("query_id").select("query_id", "n", "payload").collect()
    assert [tuple(row) for row in found] == [("a", 0, None), ("b", None, '{"n":"x"}')]


def test_a_pipeline_fills_the_columns_of_each_sink(spark: SparkSession, tmp_path: Path) -> None:
    """All types, through everything: from files to workers, to the columns of one sink, to text beside them in another."""
    place = Place(tmp_path)
    stream = Stream("everything", TABLE.schema)
    place.register(
        [
            Put("all", "SELECT * FROM everything", destination="typed"),
            Put("short", "SELECT `int` FROM everything WHERE `int` > 0", destination="typed"),
            Put("both", "SELECT `double`, `string` FROM everything WHERE tinyint = 127", destination="both"),
        ],
        stream,
    )
    source = place.source("everything", "parquet")
    parquet.write_table(TABLE, tmp_path / "everything" / "a.parquet")
    sinks = [
        SinkSettings(name=name, format="parquet", path=str(tmp_path / name), columns=columns)
        for name, columns in (("typed", "typed"), ("both", "auto"))
    ]
    run(replace(place.settings, sources=(source,), sinks=tuple(sinks)), spark)

    found = spark.read.parquet(str(tmp_path / "typed")).toArrow()
    own = {row["tuple_key"]: row for row in found.to_pylist() if row["query_id"] == "all"}
    rows = [own[key] for key in sorted(own, key=lambda key: int(key.rpartition("#")[2]))]
    assert len(rows) == COUNT and {row["payload"] for row in rows} == {None}
    for name in TABLE.column_names:
        got = [row["query_id_2" if name == "query_id" else name] for row in rows]
        wrong = [pair for pair in zip(got, TABLE[name].to_pylist(), strict=True) if not same(*pair)]
        assert not wrong, (name, wrong[:3])
    short = [row for row in found.to_pylist() if row["query_id"] == "short"]
    assert len(short) == COUNT // 3 and {(row["int"], row["payload"]) for row in short} == {
        (None, f'{{"int":{2**31 - 1}}}')
    }
    both = spark.read.parquet(str(tmp_path / "both")).toArrow().to_pylist()
    assert len(both) == COUNT // 3
    for row in both:
        text = json.loads(row["payload"])
        assert text["string"] == row["string"] and same(float(text["double"]), row["double"])


TEXTS = [
    *(
        None,
        "",
        " ",
        "  a ",
        '"',
        '""',
        'a"b',
        '"a"',
        ",",
        "a,b",
        "\n",
        "a\nb",
        "\r\n",
        "\r",
        "a\rb",
        "\t",
        "'",
    ),
    *(
        "\\",
        "a\\",
        '\\"',
        "\\n",
        "#x",
        "null",
        "NaN",
        "é\U0001f600",
        "\u2028",
        "\ufeff",
        "\x00",
        "\x1f",
        "a" * 5000,
    ),
]


def test_csv_comes_back_in_both_runtimes(spark: SparkSession, tmp_path: Path) -> None:
    """What a typed CSV sink writes, a source of a pipeline and the readers of files read as it was: NULL is not ''."""
    flat = [name for name in TABLE.column_names[:-1] if not pa.types.is_nested(TABLE[name].type)]
    table = TABLE.select([name for name in flat if name not in ("binary", "odd `name`.x")]).slice(0, 60)
    table = table.set_column(0, "texts", pa.array((TEXTS * 2)[:60]))
    sink = make_sink(settings_of("csv", tmp_path, columns="typed"), folder=Path())
    sink.open(US)
    keys = [str(place) for place in range(60)]
    rows = rows_of(spark, ["q"] * 60, selected=table, payload=[None] * 60, tuple_key=keys)
    sink.deliver(rows.coalesce(1), batch_of(), sink.typed_for({0: table.schema}, batch_of()))
    (file,) = tmp_path.rglob("part-*.csv")

    whole = pa.schema([("query_id", pa.string()), ("query_revision", pa.int32()), ("version", pa.int64())])
    whole = pa.schema([*whole, ("tuple_key", pa.string()), ("event_time", ZONED), *table.schema])
    stream = Stream("results", pa.schema([*whole, ("payload", pa.string())]))
    options = {"header": "true", "escape": '"', "multiLine": "true"}
    settings = SourceSettings(name="results", format="csv", path=str(tmp_path), options=options)
    by_spark = PipelineSource(settings, stream).read(spark, [file.as_uri()]).toArrow()
    embedded = pa.Table.from_batches([piece.batch for piece in read(str(file), stream)])
    for found in (by_spark, embedded):
        for name in table.column_names:
            got, expected = found[name].to_pylist(), table[name].to_pylist()
            wrong = [pair for pair in zip(got, expected, strict=True) if not same(*pair)]
            assert not wrong, (name, wrong[:3])
        assert found["payload"].null_count == 60
