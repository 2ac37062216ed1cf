"""Whether all workers write to the folder that this process sees.

One that does not share it writes its part to a disk of its own. Spark does not notice: it puts in place what it finds, so that
these rows would be gone without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from eddyline.runtime.spark.sessions.session_checks import is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def write_and_look(
    rows: DataFrame,
    folder: Path | None,
    format: str,
    options: Mapping[str, str],
    write: Callable[[DataFrame], object],
) -> str | None:
    """Have rows written into a folder of this machine (None: a file system that all share); what is missing then, if anything."""
    if folder is None or is_local(rows.sparkSession):
        write(rows)
        return None
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    counted = Observation()
    write(rows.observe(counted, F.count(F.lit(1)).alias("rows")))
    expected = int(counted.get["rows"])
    try:
        found = _rows_in(rows.sparkSession, folder, format, options)
    except Exception as error:
        return f"what Spark wrote cannot be read by all of its workers ({type(error).__name__})"
    return (
        None if found == expected else f"{expected - found} of {expected} rows that Spark wrote are not found"
    )


def _rows_in(spark: SparkSession, folder: Path, format: str, options: Mapping[str, str]) -> int:
    """The rows of all files below a folder: Parquet says how many there are, others are read."""
    if format == "parquet":
        from pyarrow import parquet

        files = [path for path in folder.rglob("*.parquet") if not path.name.startswith(("_", "."))]
        return sum(int(parquet.read_metadata(path).num_rows) for path in files)
    reader = spark.read.format(format).options(**options)
    if format == "csv":
        reader = reader.option("multiLine", True)
    return reader.load(f"file://{folder}").count()
