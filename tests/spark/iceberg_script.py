"""An Iceberg table out and another in, on Spark 4.1: `python -m tests.spark.iceberg_script JARS FOLDER` prints JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from eddyline.runtime.spark.sinks import make_sink
from eddyline.spark import SinkSettings, SourceSettings, session
from tests.conftest import SPARK_SETTINGS
from tests.spark.pipelines import Place, run
from tests.spark.sink_rows import US, batch_of, rows_of, settings_of

ROWS = (
    "SELECT id, 'a' AS symbol, CAST(id AS DOUBLE) AS price, CAST(NULL AS TIMESTAMP) AS at FROM range({}, {})"
)


def batches(spark: Any, folder: Path) -> list[Any]:
    """Batches that come again, each by a sink that was opened anew; in between somebody else writes to the table."""
    for source, number in (("quotes", 0), ("quotes", 1), ("quotes", 1), ("trades", 1), ("quotes", 0)):
        sink = make_sink(settings_of("iceberg", options={"table": "local.db.alone"}), folder=folder)
        sink.open(US)
        sink.deliver(rows_of(spark, ["a", "b"], batch_of(number, source)), batch_of(number, source))
        sink.close()
        if (source, number) == ("quotes", 1):
            spark.sql("DELETE FROM local.db.alone WHERE query_id = 'nothing'")
    found = spark.table("local.db.alone").collect()
    return sorted([row.source, row.batch_id, row.query_id] for row in found)


def pipeline(spark: Any, folder: Path) -> list[Any]:
    """A stream out of a table, results into another; the second run starts with a batch that Spark takes for undone."""
    folder.mkdir()
    place = Place(folder)
    place.register({"low": "SELECT id FROM quotes WHERE price < 2"})
    source = SourceSettings(name="quotes", format="iceberg", key=("id",), options={"path": "local.db.quotes"})
    sink = SinkSettings(name="results", format="iceberg", options={"table": "local.db.results"})
    settings = replace(place.settings, sources=(source,), sinks=(sink,))
    spark.sql(ROWS.format(0, 4)).writeTo("local.db.quotes").using("iceberg").create()
    run(settings, spark)
    for file in (folder / "state" / "spark" / "quotes" / "commits").iterdir():
        file.unlink()
    spark.sql(ROWS.format(1, 2)).writeTo("local.db.quotes").append()
    run(settings, spark)
    found = spark.table("local.db.results").collect()
    return sorted([row.batch_id, row.query_id, row.tuple_key] for row in found)


def main(jars: str, folder: str) -> None:
    """Both, in one session with a catalog in a folder."""
    catalog = {
        "spark.jars": jars,
        "spark.sql.catalog.local": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.local.type": "hadoop",
        "spark.sql.catalog.local.warehouse": f"{folder}/warehouse",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    }
    spark = session("iceberg", cores=1, config={**SPARK_SETTINGS, **catalog})
    try:
        found = {
            "batches": batches(spark, Path(folder)),
            "pipeline": pipeline(spark, Path(folder) / "pipeline"),
        }
    finally:
        spark.stop()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
