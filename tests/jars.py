"""Jars for tests, by Maven: fetched once into the user's cache, skipped with a reason where that is not possible."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.missing import missing

FETCHED_WITHIN = 400  # seconds; the first time Maven fetches its own parts too

KAFKA_SERVER = ("org.apache.kafka:kafka_2.13:4.1.0",)
KAFKA_FOR_SPARK = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",  # fits, where there is none of the same number
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)
DELTA_FOR_SPARK = ("io.delta:delta-spark_2.13:4.2.0", "io.delta:delta-storage:4.2.0")
ICEBERG_FOR_SPARK = (
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
)  # there is none for Spark 4.2

_PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>eddyline</groupId><artifactId>jars</artifactId><version>1</version><dependencies>{}</dependencies></project>
"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>"
)
_ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"


_failures: dict[str, str] = {}  # why jars cannot be had: Maven takes its time to find out


def spark_jars(*coordinates: str) -> str:
    """What the setting `spark.jars` takes: just these jars, `{spark}` being the version of pyspark."""
    import pyspark

    named = tuple(coordinate.format(spark=pyspark.__version__) for coordinate in coordinates)
    return ",".join(str(path) for path in sorted(jars(named, alone=True).glob("*.jar")))


def jars(coordinates: tuple[str, ...], *, alone: bool = False) -> Path:
    """A folder with these jars, and with all that they need unless `alone`."""
    name = hashlib.sha256(repr((coordinates, alone)).encode()).hexdigest()[:16]
    if name in _failures:
        missing(_failures[name])
    target = _cache() / name
    if not target.is_dir():
        try:
            _fetch(coordinates, alone, target)
        except (OSError, subprocess.SubprocessError) as error:
            output = getattr(error, "stdout", None) or b""
            lines = [line for line in output.decode(errors="replace").splitlines() if "ERROR" in line]
            _failures[name] = f"jars cannot be fetched by Maven: {lines[0] if lines else error}"
            missing(_failures[name])
    return target


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eddyline-tests" / "jars"


def _fetch(coordinates: tuple[str, ...], alone: bool, target: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise FileNotFoundError("mvn is not on PATH")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".draft-") as draft:
        parts = [_DEPENDENCY.format(*one.split(":"), _ALONE if alone else "") for one in coordinates]
        Path(draft, "pom.xml").write_text(_PROJECT.format("".join(parts)))
        subprocess.run(
            [maven, "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"],
            cwd=draft,
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=FETCHED_WITHIN,
        )
        try:
            Path(draft, "jars").rename(target)
        except OSError:  # another process was first
            if not target.is_dir():
                raise
