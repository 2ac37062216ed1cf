"""A process of its own that runs the pipeline of a folder until it is told to stop, or is killed."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from eddyline.spark import Pipeline, session
from tests.spark.pipelines import Place


def main(folder: Path) -> None:
    """Run until the file `enough` is there and every file that came in has been read."""
    spark = session(
        "kills",
        cores=1,
        config={
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.streaming.minBatchesToRetain": "1000",  # the files of all batches are looked up afterwards
        },
    )
    settings = replace(Place(folder).settings, trigger="50 milliseconds", retries=50)
    settings = replace(settings, sources=(replace(settings.sources[0], key=("id",)),))
    with Pipeline(settings).start(spark) as running:
        while not _is_done(folder):
            running.await_termination(0.2)
    spark.stop()


def _is_done(folder: Path) -> bool:
    if not (folder / "enough").exists():
        return False
    from tests.fault.kills import Aftermath

    aftermath = Aftermath(folder)
    taken = sum(map(len, aftermath.files().values()))
    time.sleep(0.1)
    return taken == len(list((folder / "quotes").glob("*.json"))) and aftermath.all_committed()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
