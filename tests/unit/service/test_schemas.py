"""Schemas from files of every kind and from DDL text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from eddyline.errors import EddylineError, FileError
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.runtime.embedded.infer import infer
from eddyline.service.files.schemas import ddl_schema, read_source, streams_of

TABLE = pa.table({"symbol": ["A", None], "price": [1.5, 2.0], "volume": pa.array([1, 2], pa.int32())})


def test_binary_files(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(TABLE, tmp_path / "a.parquet")
    with pa.ipc.new_file(str(tmp_path / "b.arrow"), TABLE.schema) as file:
        file.write_table(TABLE)
    with pa.ipc.new_stream(str(tmp_path / "c.arrows"), TABLE.schema) as stream:
        stream.write_table(TABLE)
    for name in ("a.parquet", "b.arrow", "c.arrows"):
        assert read_source(str(tmp_path / name)).schema.equals(TABLE.schema)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "symbol,price,volume\nA,1.5,1\n,2.0,2\n"),
        ("a.jsonl", '{"symbol": "A", "price": 1.5, "volume": 1}\n{"price": 2.0}\n'),
        ("a.json", '[{"symbol": "A", "price": 1.5, "volume": 1}, {"price": 2.0}]'),
        ("a.ddl", "-- quotes\nsymbol STRING NOT NULL,\nprice: DOUBLE,\nvolume LONG;\n"),
    ],
)
def test_text_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = read_source(f"quotes={tmp_path / name}")
    assert found.name == "quotes"
    assert found.schema.equals(
        pa.schema({"symbol": pa.string(), "price": pa.float64(), "volume": pa.int64()})
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.jsonl",
            '{"at": "2026-01-05T09:30:00+02:00", "day": "2026-01-05", "n": null, "wide": 12345678901234567890}',
        ),
        (
            "a.csv",
            "at,local,day,n,odd\n2026-01-05T09:30:00+02:00,2026-01-05 09:30:00,2026-01-05,,\xe9t\xe9\n",
        ),
        ("a.csv", "at,n\n"),
    ],
)
def test_text_files_have_the_types_that_their_rows_are_read_with(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = read_source(str(tmp_path / name)).schema
    assert found.equals(infer(str(tmp_path / name)).schema)
    if "+02:00" in text:
        assert found.field("at").type == pa.timestamp("us", "UTC")


def test_long_samples_end_at_a_line(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("n,text\n" + "1,abcdefgh\n" * 200_000)
    assert read_source(str(tmp_path / "long.csv")).schema.names == ["n", "text"]


def test_a_path_with_an_equals_sign_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a.csv").write_text("n\n1\n")
    assert read_source("day=1/a.csv").name is None


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.parquet", b"PAR1 broken"),
        ("a.arrow", b"ARROW1 broken"),
        ("a.arrows", b"broken"),
        ("a.csv", b""),
        ("a.csv", b"\xef\xbb\xbf\n"),
        ("a.csv", b"\xff\xfe\x00"),
        ("a.csv", b"n,\xd6\n1,2\n"),
        ("a.json", b"[1, 2]"),
        ("a.json", b'{"a": '),
        ("a.jsonl", b"\n"),
        ("a.sql", b"SELECT"),
        ("a.ddl", b""),
        ("a.ddl", b"price DOUBLE\xff"),
        ("a.ddl", b"price"),
    ],
)
def test_files_without_a_schema(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(EddylineError) as caught:
        read_source(str(tmp_path / name))
    assert "Error" not in caught.value.message


@pytest.mark.parametrize("option", ["missing.parquet", "missing", "quotes=missing.csv", "x" * 5_000, "a\0b"])
def test_no_such_file(option: str) -> None:
    with pytest.raises(FileError, match="there is no file"):
        read_source(option)


def test_a_folder_has_no_schema(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="folder"):
        read_source(str(tmp_path))


def test_ddl_types_come_back_from_arrow() -> None:
    text = (
        "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h STRING, i BINARY, j DATE, "
        "k TIMESTAMP, l TIMESTAMP_NTZ, m DECIMAL(38, 6), n ARRAY<INT>, o MAP<STRING, ARRAY<DOUBLE>>, "
        "p STRUCT<x: INT, y: STRUCT<z: DATE>>, `q r` VARCHAR(10)"
    )
    kinds = [str(kind) for kind in Stream("s", ddl_schema(text)).types.values()]
    assert (
        kinds[:13]
        == (
            "boolean tinyint smallint int bigint float double string binary date timestamp timestamp_ntz decimal(38,6)"
        ).split()
    )
    assert kinds[13:] == [
        "array<int>",
        "map<string,array<double>>",
        "struct<x:int,y:struct<z:date>>",
        "string",
    ]


def test_names_of_a_bare_schema() -> None:
    bare = read_source("price DOUBLE")
    names = [Query("a", "SELECT * FROM ticks"), Query("b", "SELECT * FROM Stream"), Query("c", "SELECT")]
    assert streams_of([bare], names[:1], name=None)[0].name == "ticks"
    assert (
        streams_of([bare], names, name=None)[0].name == "Stream"
    )  # text is called "stream" where a query says so
    assert streams_of([bare], names, name="other")[0].name == "other"
    assert streams_of([bare], names[2:], name=None)[0].name == "stream"
