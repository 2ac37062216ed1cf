"""Files whose columns do not fit: what Parquet, ORC and Avro files state, against what they are read as.

Spark tells nobody: a column that a file lacks is NULL in all its rows, a text in ORC that is no number too, and an INT in
Parquet that is read as SMALLINT is cut. The ends of files on this machine are read here, some 0.1 ms each; whoever
is not cleared by that, and all files elsewhere, are looked at by Spark, which is the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from eddyline.model import types as t
from eddyline.model.catalog import spark_type
from eddyline.runtime.spark.base.remote_folders import local_path
from eddyline.runtime.spark.base.schemas import arrow_type, misfit
from eddyline.runtime.spark.pipeline.input.broken_files import find_broken, is_empty

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eddyline.runtime.spark.pipeline.input.sources import PipelineSource

Columns = list[tuple[str, t.DataType]]

THREADS: Final = 8  # files that Spark is asked about at the same time: for Parquet each is a small job


def misfits(source: PipelineSource, spark: SparkSession, paths: Iterable[str]) -> dict[str, str]:
    """The files that cannot be read as the source declares, with the reasons; an error where a file cannot be fetched."""
    types = source.types_read
    wanted = {path: _less(types, source.in_folders(path)) for path in paths}
    doubts = {path: doubt for path in wanted if (doubt := _doubt(source, path, wanted[path])) is not None}
    if not doubts:
        return {}
    with ThreadPoolExecutor(THREADS) as pool:
        reasons = pool.map(lambda path: _verdict(source, spark, path, wanted[path], doubts[path]), doubts)
        return {path: reason for path, reason in zip(doubts, reasons, strict=True) if reason is not None}


def _less(types: Mapping[str, t.DataType], names: set[str]) -> Columns:
    return [(name, kind) for name, kind in types.items() if name.lower() not in names]


def _doubt(source: PipelineSource, path: str, wanted: Columns) -> str | None:
    """Why a file may not fit, empty where that cannot be seen from here; None where it fits."""
    schema = _stated(source.settings.format, path)
    if schema is None:
        return ""
    columns = [(field.name, _type_in_files(field.type, source.settings.format)) for field in schema]
    return misfit(columns, wanted)


def _stated(format: str, path: str) -> pa.Schema | None:
    """The columns of a file on this machine, as Arrow reads them."""
    here = local_path(path)
    if here is None:
        return None
    try:
        if format == "parquet":
            from pyarrow import parquet

            return parquet.read_schema(here)
        if format == "orc":
            from pyarrow import orc

            return orc.ORCFile(here).schema
    except (OSError, pa.ArrowException):
        return None
    return None


def _type_in_files(arrow: pa.DataType, format: str) -> t.DataType | None:
    """Spark's type for an Arrow type in files, None where Spark may see another one."""
    found = spark_type(arrow)
    return None if found is not None and _is_doubtful(found, format) else found


def _is_doubtful(kind: t.DataType, format: str) -> bool:
    """Durations are numbers in files, whose unit only Arrow knows; a TIMESTAMP of ORC has no zone only for Arrow."""
    if t.is_interval(kind) or (format == "orc" and kind == t.TIMESTAMP_NTZ):
        return True
    return any(_is_doubtful(of, format) for of in _inside(kind))


def _inside(kind: t.DataType) -> Iterator[t.DataType]:
    if isinstance(kind, t.StructType):
        yield from (of for _, of in kind.fields)
    elif isinstance(kind, t.ArrayType):
        yield kind.element
    elif isinstance(kind, t.MapType):
        yield from (kind.key, kind.value)


def _verdict(
    source: PipelineSource, spark: SparkSession, path: str, wanted: Columns, doubt: str
) -> str | None:
    """What Spark finds wrong with a file; where it makes no schema of what the file states, the doubt holds."""
    from pyspark.errors import AnalysisException

    try:
        schema = source.stated(spark, path)
    except AnalysisException:
        return doubt or None  # without one: columns that nobody asks for, or a file that is gone
    except Exception:
        broken = find_broken(source, spark, [path])
        if not broken and not is_empty(spark, path):
            raise  # it has passed: the batch is run again, and the file is looked at again
        return broken.get(path)
    columns = [(field.name, arrow_type(field.dataType)) for field in schema.fields]
    found = [(name, None if arrow is None else spark_type(arrow)) for name, arrow in columns]
    return misfit(found, wanted)
