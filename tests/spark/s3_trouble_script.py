"""A process of its own in which pipelines meet a store in trouble; what became of them is written to `found.json`.

Called as `python -m tests.spark.s3_trouble_script FOLDER`. Jars can only be given to Spark when it starts, and one session serves
all cases: each has a folder and a prefix of its own.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eddyline.errors import EddylineError
from eddyline.runtime.spark.base.settings import PipelineSettings
from eddyline.runtime.spark.versions import StateFolder
from eddyline.spark import session
from eddyline.storage.lease import Lease
from tests.fault.stores import S3Store
from tests.s3 import (
    BUCKET,
    DENIES_WRITING,
    IS_AWAY,
    IS_BUSY,
    QUICK_TO_GIVE_UP,
    REFUSES,
    Bucket,
    Fault,
    bucket,
    copied,
)
from tests.spark.pipelines import Place, quotes, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AWAY = 3.0  # seconds
LATE = 2.0  # seconds
FAULTS = {
    "refuses": REFUSES,
    "is busy": IS_BUSY,
    "is away": IS_AWAY,
    "denies writing": DENIES_WRITING,
    "is slow": Fault(delay=0.05),
    "lists late": Fault(late=LATE),
}


class Case:
    """A pipeline with a file that waits, and a query for two of its six rows."""

    def __init__(self, folder: Path, name: str, spark: SparkSession, s3: Bucket) -> None:
        (folder / name).mkdir()
        self.place, self.spark = Place(folder / name), spark
        self.store = S3Store(name.replace(" ", "-"), s3.server, {})
        self.place.register({"dear": "SELECT id FROM quotes WHERE price >= 2"})
        self.place.write("a.json", quotes(0))

    @property
    def settings(self) -> PipelineSettings:
        return self.store.placed(self.place.settings)

    def run(self, **changes: Any) -> str:
        """What the pipeline ended with, empty where it ended well."""
        try:
            run(replace(self.settings, **changes), self.spark)
            return ""
        except (EddylineError, OSError) as error:  # which of them is for the test to judge
            return f"{type(error).__name__}: {error}"

    def results(self) -> list[int]:
        rows = self.store.results()
        return sorted(json.loads(row["payload"])["id"] if row.get("payload") else row["id"] for row in rows)


def in_trouble(case: Case, s3: Bucket, fault: Fault) -> dict[str, Any]:
    """A run in trouble, and one after it with another file."""
    with s3.failing(fault):
        said = case.run()
    case.place.write("b.json", quotes(6))
    return {"said": said, "after": case.run(), "results": case.results()}


def away_for_a_while(case: Case, s3: Bucket) -> dict[str, Any]:
    """The store is gone in the middle of a run, and comes back: the pipeline tries again until it does."""

    def leave() -> None:
        while not case.store.state.list("batches/quotes") and not s3.objects(case.store.prefix).walk("out"):
            time.sleep(0.01)
        with s3.failing(IS_AWAY):
            time.sleep(AWAY)

    leaving = threading.Thread(target=leave)
    leaving.start()
    said = case.run(retries=50)
    leaving.join()
    return {"said": said, "results": case.results()}


def two_owners(case: Case) -> dict[str, Any]:
    state = StateFolder.open(case.settings.checkpoint, name="market", sources=["quotes"])
    with Lease(state.storage, "it", hint="wait", renewed=0.1):
        said = case.run()
    return {"said": said, "after": case.run(), "results": case.results()}


def moved(case: Case, s3: Bucket) -> dict[str, Any]:
    """The checkpoint is copied to another place, whence the pipeline goes on."""
    said = case.run()
    copied(s3, f"{case.store.prefix}/state", "moved/state")
    case.place.write("b.json", quotes(6))
    after = case.run(checkpoint=f"s3a://{BUCKET}/moved/state")
    return {"said": said, "after": after, "results": case.results()}


def main(folder: Path) -> None:
    """Go through all cases."""
    with bucket() as s3, ExitStack() as stack:
        provider = "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"
        config = {
            **s3.settings,
            **QUICK_TO_GIVE_UP,
            "spark.hadoop.fs.s3a.bucket.locked.aws.credentials.provider": provider,
            "spark.ui.enabled": False,
            "spark.driver.memory": "600m",
            "spark.sql.shuffle.partitions": 1,
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        }
        spark = session("trouble", cores=1, config=config)
        stack.callback(spark.stop)
        found: dict[str, Any] = {}
        for name, fault in FAULTS.items():
            found[name] = in_trouble(Case(folder, name, spark, s3), s3, fault)
            (folder / "found.json").write_text(json.dumps(found))
        found["away for a while"] = away_for_a_while(Case(folder, "away for a while", spark, s3), s3)
        found["two owners"] = two_owners(Case(folder, "two owners", spark, s3))
        found["moved"] = moved(Case(folder, "moved away", spark, s3), s3)
        elsewhere = Case(folder, "elsewhere", spark, s3)
        found["no bucket"] = elsewhere.run(checkpoint="s3a://none/state")
        found["no credentials"] = elsewhere.run(checkpoint="s3a://locked/state")
        (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
