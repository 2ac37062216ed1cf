"""What matters most, on the pyspark that PYTHONPATH names: `python -m tests.spark.versions_script FOLDER` prints JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyspark

from eddyline.spark import count, match, match_column, session
from tests.conftest import SPARK_SETTINGS
from tests.spark.pipelines import Place, quotes, run
from tests.spark.test_match import QUERIES


def dataframes(spark: Any) -> dict[str, Any]:
    """Every way from a DataFrame to its queries."""
    df = spark.createDataFrame([("A", 1.0, 7), ("B", 20.0, 8)], "symbol string, price double, extra int")
    found = df.transform(match(QUERIES))
    return {
        "lists": [row["query_ids"] for row in found.where("extra < 8").collect()],
        "rows": [row["query_ids"] for row in df.drop("extra").transform(match(QUERIES)).collect()],
        "column": [row[0] for row in df.select(match_column(QUERIES)).collect()],
        "count": sorted(map(list, df.transform(count(QUERIES)).collect())),
    }


def pipeline(spark: Any, folder: Path) -> dict[str, Any]:
    """Files in, Parquet out; then Spark has forgotten that the last batch was done, and another file comes."""
    (folder / "quotes").mkdir(parents=True)
    place = Place(folder)
    place.register({"low": "SELECT id FROM quotes WHERE price < 2"})
    place.write("a.json", quotes(0))
    run(place.settings, spark)
    first = place.pairs()
    for file in (folder / "state" / "spark" / "quotes" / "commits").iterdir():
        file.unlink()
    place.register({"all": "SELECT id FROM quotes"})
    place.write("b.json", quotes(6, 1))
    run(place.settings, spark)
    return {"first": first, "replayed": place.pairs()}


def main(folder: str) -> None:
    """Everything in one session."""
    spark = session("versions", cores=1, config=SPARK_SETTINGS)
    try:
        found = {"pyspark": pyspark.__version__, "dataframes": dataframes(spark)}
        found["pipeline"] = pipeline(spark, Path(folder) / "pipeline")
    finally:
        spark.stop()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
