"""Values as JSON text: moments that Python's calendar does not have are written all the same, wherever they stand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline.delivery.json_text import csv_columns, encoded

DAY = 3_000_000  # in the year 10183
MICROSECOND = 1 << 60  # in the year 38504, which Arrow does not write either


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (DAY, pa.date32(), '"10183-09-21"'),
        (MICROSECOND, pa.timestamp("us", "UTC"), '"38504-08-17T21:30:06.846976Z"'),
        ([DAY, None, 1], pa.list_(pa.date32()), '["10183-09-21", null, "1970-01-02"]'),
        ({"a": MICROSECOND}, pa.struct([("a", pa.timestamp("us"))]), '{"a": "38504-08-17T21:30:06.846976"}'),
        ([(DAY, 1)], pa.map_(pa.date32(), pa.int32()), '{"10183-09-21": 1}'),
        ([-(10**15)], pa.list_(pa.timestamp("ms")), '["-29719-04-05T22:13:20"]'),
    ],
)
def test_moments_of_any_year(value: object, kind: pa.DataType, text: str) -> None:
    column = pa.array([value, None], kind)
    assert encoded(column).to_pylist() == [text, "null"]
    assert csv_columns(pa.table({"a": column}))["a"].to_pylist() == [text.strip('"'), None]
