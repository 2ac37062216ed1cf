"""Files whose columns are cleared: Spark reads them as declared, every value as it was, whatever type the file has."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from eddyline.model.catalog import Stream, spark_type
from eddyline.runtime.spark.base.schemas import misfit, struct_of
from eddyline.runtime.spark.base.settings import SourceSettings
from eddyline.runtime.spark.pipeline.input.sources import PipelineSource
from eddyline.runtime.spark.pipeline.input.stated_columns import misfits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOON = datetime(2024, 2, 29, 12, 0, 0, 1)
VALUES: list[tuple[pa.DataType, list[Any]]] = [
    *(
        (kind, [-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1])
        for kind in (pa.int8(), pa.int16())
    ),
    *(
        (kind, [-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1])
        for kind in (pa.int32(), pa.int64())
    ),
    (pa.float32(), [0.10000000149011612, -3e38]),
    (pa.float64(), [0.1, -1e300]),
    (pa.bool_(), [True, False]),
    (pa.string(), ["17", "é"]),
    (pa.binary(), [b"17", b"\xff"]),
    (pa.date32(), [date(1970, 1, 8), date(2024, 2, 29)]),
    (pa.timestamp("us"), [NOON, datetime(1970, 1, 1, 0, 0, 0, 70_000)]),
    (pa.timestamp("us", "UTC"), [NOON, datetime(1970, 1, 1, 0, 0, 0, 70_000)]),
    (pa.decimal128(9, 2), [Decimal("-9999999.99"), Decimal("0.01")]),
    (pa.decimal128(22, 4), [Decimal("123456789012345678.0001"), Decimal("-0.5")]),
    (pa.decimal128(38, 10), [Decimal("1E-10"), Decimal("1E27")]),
]
KINDS = [kind for kind, _ in VALUES]
REFUSED = {  # by Spark, when it reads them: no value is wrong
    (small, wide) for small in (pa.int8(), pa.int16()) for wide in (pa.float32(), pa.decimal128(9, 2))
}


def test_what_only_arrow_takes_for_a_time_without_zone(spark: SparkSession, tmp_path: Path) -> None:
    """In ORC: Spark would read 1970 where it stands inside of others."""
    file = tmp_path / "a.orc"
    kind = nested(pa.timestamp("us"))
    orc.write_table(pa.table({"a": pa.array([{"x": [NOON]}], kind)}), file)
    source = PipelineSource(
        SourceSettings(name="s", format="orc", path=str(tmp_path)), Stream("s", pa.schema([("a", kind)]))
    )
    reason = 'its column "a.x.element" has the type timestamp, but timestamp_ntz is declared'
    assert misfits(source, spark, [file.as_uri()]) == {file.as_uri(): reason}


def nested(kind: pa.DataType) -> pa.DataType:
    return pa.struct([("x", pa.list_(kind))])


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_all_pairs_of_types(spark: SparkSession, tmp_path: Path, format: str) -> None:
    """For each pair of a type in the file and a declared one, plain and inside of others."""
    columns: dict[str, pa.Array] = {}
    declared: dict[str, pa.DataType] = {}
    for place, (kind, values) in enumerate(VALUES):
        for other, wanted in enumerate(KINDS):
            if kind == pa.timestamp("us") and format == "orc":
                continue  # ORC's own TIMESTAMP has a zone
            fits = misfit([("a", spark_type(kind))], [("a", spark_type(wanted))]) is None
            if fits and not (format == "parquet" and (kind, wanted) in REFUSED):
                name = f"c{place}_{other}"
                columns[name], declared[name] = pa.array([*values, None], kind), wanted
                inside = [{"x": [value]} for value in values]
                columns[f"n{name}"], declared[f"n{name}"] = (
                    pa.array([*inside, None], nested(kind)),
                    nested(wanted),
                )
    assert len(columns) > 2 * len(KINDS), "some types fit others"
    file = tmp_path / f"a.{format}"
    (pq if format == "parquet" else orc).write_table(pa.table(columns), file)
    stream = Stream("s", pa.schema(list(declared.items())))
    source = PipelineSource(SourceSettings(name="s", format=format, path=str(tmp_path)), stream)
    assert misfits(source, spark, [file.as_uri()]) == {}
    found_rows = spark.read.schema(struct_of(stream)).format(format).load(str(file)).toArrow()
    for name, kind in declared.items():
        got, expected = found_rows[name].to_pylist(), columns[name].cast(kind).to_pylist()
        assert got == expected, (name, str(columns[name].type), str(kind))
