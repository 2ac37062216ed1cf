"""Reading text: however it is cut into blocks, and whether whole blocks or single rows are converted, is the same."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from eddyline.delivery.json_text import json_lines
from eddyline.model.catalog import Stream
from eddyline.model.reject import Reject
from eddyline.runtime.embedded import blocks, csv_rows, json_rows
from eddyline.runtime.embedded.rejects import Rejects
from eddyline.runtime.embedded.sinks import OutputFile
from eddyline.runtime.embedded.sources import read

STREAM = Stream(
    "s",
    pa.schema(
        [
            ("i", pa.int32()),
            ("f", pa.float64()),
            ("t", pa.string()),
            ("d", pa.date32()),
            ("at", pa.timestamp("us", "UTC")),
            ("n", pa.timestamp("us")),
            ("m", pa.decimal128(8, 2)),
            ("b", pa.bool_()),
        ]
    ),
)
CELLS = st.sampled_from(
    [
        "",
        '""',
        "0",
        "-1",
        " 7 ",
        "+3",
        "1.5",
        "1e3",
        "0x1F",
        "nan",
        "-nan",
        "Inf",
        "nan(1)",
        "1e400",
        "2147483648",
        "x",
        "true",
        "T",
        "yes",
        "FALSE",
        "2026-01-05",
        "2026-1-5",
        "2026-01-05T10:30",
        "2026-01-05 10:30:00.123456Z",
        "2026-01-05T10:30:00+02:00",
        "2026-01-05T25:00",
        "12345678.995",
        "0.005",
        '"a,b"',
        '"a\nb"',
        '"a""b"',
        '5"',
        '"a"x',
        "ü",
        "\x00",
        '"',
        "1d",
        "Infinity",
        "-0",
        "00012",
        "9" * 30,
        "2026-02-30",
        "0001-01-01",
        "20260105",
    ]
)
JSON_VALUES = st.sampled_from(
    [
        "null",
        "0",
        "-1",
        "1.5",
        "1e3",
        "NaN",
        "Inf",
        "Infinity",
        "1e400",
        "2147483648",
        '"x"',
        '"0x1F"',
        "true",
        "[]",
        "{}",
        '"2026-01-05"',
        '"2026-1-5"',
        '"2026-01-05T10:30"',
        '"2026-01-05 10:30:00.123456Z"',
        '"2026-01-05T25:00"',
        '"12345678.995"',
        '"1.25"',
        '"\\u00fc"',
        '"\\ud800"',
        '"a\\nb"',
        "01",
        "nul",
        "-0",
        '"2026-01-05T10:30:00+02:00"',
    ]
)


def outcome(path: Path) -> tuple[list[Any], list[Reject]]:
    rejected: list[Reject] = []
    rejects = Rejects(on_reject=rejected.append)
    rows = []
    for piece in read(str(path), STREAM, rejects=rejects):
        rows += list(zip(piece.rows.tolist(), json_lines(piece.batch).to_pylist(), strict=True))
    return rows, rejected


def agree(name: str, text: str, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode())
        expected = outcome(path)
        with patch.object(blocks, "BLOCK", size):
            assert outcome(path) == expected
        module = csv_rows if name.endswith("csv") else json_rows
        with patch.object(module, "read_whole", return_value=None):
            assert outcome(path) == expected


ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])


@given(st.lists(st.tuples(st.lists(CELLS, min_size=7, max_size=9), ENDS), max_size=6), st.integers(4, 80))
def test_csv(lines: list[tuple[list[str], str]], size: int) -> None:
    text = ",".join(STREAM.schema.names) + "\n" + "".join(",".join(cells) + end for cells, end in lines)
    agree("rows.csv", text, size)


@given(st.lists(st.tuples(st.integers(0, 7), CELLS), min_size=1, max_size=5), st.integers(4, 80))
def test_csv_with_one_odd_cell_a_row(cells: list[tuple[int, str]], size: int) -> None:
    rows = [",".join(cell if place == number else "" for number in range(8)) for place, cell in cells]
    agree("rows.csv", "\n".join([",".join(STREAM.schema.names), *rows]), size)


@given(
    st.lists(
        st.tuples(st.dictionaries(st.sampled_from([*STREAM.schema.names, "z"]), JSON_VALUES), ENDS),
        max_size=6,
    ),
    st.integers(4, 80),
)
def test_json_lines(lines: list[tuple[dict[str, str], str]], size: int) -> None:
    text = "".join(
        "{" + ", ".join(f'"{name}": {value}' for name, value in values.items()) + "}" + end
        for values, end in lines
    )
    agree("rows.jsonl", text, size)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "i": st.none() | st.integers(-(2**31), 2**31 - 1),
            "f": st.none() | st.floats(allow_nan=False, allow_infinity=False),
            "t": st.none() | TEXTS,
            "d": st.none() | st.dates(),
            "at": st.none() | st.datetimes().map(lambda moment: pa.scalar(moment, pa.timestamp("us", "UTC"))),
            "n": st.none() | st.datetimes(),
            "m": st.none() | st.decimals(-(10**5), 10**5, places=2),
            "b": st.none() | st.booleans(),
        }
    ),
    max_size=4,
)


@given(ROWS, st.sampled_from(["csv", "tsv", "jsonl", "parquet", "arrow", "arrows", "csv.gz"]))
def test_what_is_written_is_read_again(rows: list[dict[str, Any]], ending: str) -> None:
    table = pa.Table.from_pylist(rows, schema=STREAM.schema)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows.{ending}"
        with OutputFile(path, STREAM.schema) as writer:
            writer.sink.write(table)
        pieces = [piece.batch for piece in read(str(path), STREAM)]
    assert pa.Table.from_batches(pieces, STREAM.schema).to_pylist() == table.to_pylist()
