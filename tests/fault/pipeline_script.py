"""A process of its own that runs the pipeline of a folder until it is told to stop, or is killed.

Called as `python -m tests.fault.pipeline_script FOLDER START`. The first start is plain; each later one has another number
of cores and of partitions, and cuts files elsewhere: nothing that a batch gives may depend on these.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from eddyline.runtime.spark.base.settings import PipelineSettings, SinkSettings
from eddyline.spark import Pipeline, session
from tests.fault.stores import store_of
from tests.spark.pipelines import Place, with_sinks

HOOK = "hook"  # a sink, and the file with its address


def main(folder: Path, start: int) -> None:
    """Run until the file `enough` is there and every file that came in has been read."""
    block = (1 << 27, 700, 1100, 400)[start % 4]  # bytes; a file has some 1,600
    spark = session(
        "kills",
        cores=1 + start % 2,
        config={
            "spark.sql.files.maxPartitionBytes": str(block),
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            "spark.sql.shuffle.partitions": str(1 + start % 3),
            "spark.sql.streaming.minBatchesToRetain": "1000",  # the files of all batches are looked up afterwards
            **store_of(folder).session,
        },
    )
    with Pipeline(settings_of(folder, start)).start(spark) as running:
        while not _is_done(folder):
            running.await_termination(0.2)
    spark.stop()


def settings_of(folder: Path, start: int) -> PipelineSettings:
    """Rows that have no key; small documents, so that a kill can hit between two."""
    settings = store_of(folder).placed(Place(folder).settings)
    settings = replace(settings, trigger="50 milliseconds", retries=50)
    if not (folder / HOOK).exists():
        return settings
    options = {"rows": str(5 + start % 3), "attempts": "2", "first_pause": "0.01"}
    url = (folder / HOOK).read_text()
    return with_sinks(settings, SinkSettings(name=HOOK, format="webhook", url=url, options=options))


def _is_done(folder: Path) -> bool:
    if not (folder / "enough").exists():
        return False
    from tests.fault.kills import Aftermath

    aftermath = Aftermath(folder)
    taken = sum(map(len, aftermath.files().values()))
    time.sleep(0.1)
    return taken == len(list((folder / "quotes").glob("*.json"))) and aftermath.all_committed()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
