"""A process of its own that runs the pipeline of a folder until it is told to stop, or is killed.

Called as `python -m tests.fault.pipeline_script FOLDER START`. The first start is plain; each later one has another number
of cores and of partitions, and cuts files elsewhere: nothing that a batch gives may depend on these.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from eddyline.runtime.spark.base.hadoop_storage import HadoopStorage
from eddyline.runtime.spark.base.settings import PipelineSettings, SinkSettings
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext
from eddyline.runtime.spark.pipeline.batch.counting import Counting
from eddyline.runtime.spark.sinks.files import FileSink
from eddyline.runtime.spark.sinks.storage import LocalOutput
from eddyline.runtime.spark.sinks.written_together import WrittenTogether
from eddyline.runtime.spark.versions import VersionLog, Versions
from eddyline.spark import Pipeline, session
from tests.fault.stores import store_of
from tests.processes import kill_family
from tests.spark.pipelines import Place, with_sinks

HOOK = "hook"  # a sink, and the file with its address
# A file with the name of a step, after which the process kills itself; each time once.
KILL_AFTER = "kill-after"
STEPS: dict[str, tuple[type, str]] = {  # of a batch, in their order
    "version": (Versions, "current"),
    "pin": (VersionLog, "pin"),
    "write together": (WrittenTogether, "write"),  # by the job that makes the results
    "rename": (LocalOutput, "adopt"),
    "deliver together": (WrittenTogether, "hand_over"),
    "write": (FileSink, "_write"),
    "move": (
        HadoopStorage,
        "move_folder",
    ),  # of files in a bucket, one by one, before the record that names them
    "deliver": (FileSink, "deliver"),
    "count": (Counting, "add"),
    "commit": (VersionLog, "commit"),
    "forget": (BatchContext, "forget"),
}
# only where no file is cut, and on a disk
TOGETHER = frozenset({"write together", "rename", "deliver together"})


def main(folder: Path, start: int) -> None:
    """Run until the file `enough` is there and every file that came in has been read."""
    spark = session(
        "kills",
        cores=1 + start % 2,
        config={
            "spark.sql.files.maxPartitionBytes": str(_block(folder, start)),
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
            "spark.sql.shuffle.partitions": str(1 + start % 3),
            "spark.sql.streaming.minBatchesToRetain": "1000",  # the files of all batches are looked up afterwards
            **store_of(folder).session,
        },
    )
    _prepare_kill(folder)
    with Pipeline(settings_of(folder, start)).start(spark) as running:
        while not _is_done(folder):
            running.await_termination(0.2)
    spark.stop()


def _block(folder: Path, start: int) -> int:
    """Bytes at which files are cut, which have some 1,600: results of those that are whole are written together."""
    step = _kill_after(folder)
    if step in TOGETHER:
        return 1 << 27
    return 700 if step == "write" else (1 << 27, 700, 1100, 400)[start % 4]


def _kill_after(folder: Path) -> str | None:
    order = folder / KILL_AFTER
    return order.read_text() if order.exists() else None


def _prepare_kill(folder: Path) -> None:
    """Have this process killed, with its JVM and its workers, as soon as a step of a batch is done."""
    after = _kill_after(folder)
    if after is None:
        return
    owner, name = STEPS[after]
    step = getattr(owner, name)

    def last_step(*arguments: Any, **named: Any) -> Any:
        step(*arguments, **named)
        (folder / KILL_AFTER).unlink()
        kill_family(os.getpid())

    setattr(owner, name, last_step)


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
    return taken == len(store_of(folder).inputs.list("")) and aftermath.all_committed()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
