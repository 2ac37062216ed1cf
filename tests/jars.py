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
# there is none for Spark 4.2
ICEBERG_FOR_SPARK = ("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",)
# What S3A of Hadoop needs of Amazon's kit (2.35.4 belongs to Hadoop 3.5.0), module by module: 13 MB, where the `bundle` that
# hadoop-aws names has 600. Netty, slf4j, httpclient and commons lie in Spark's own jars and must not come in other versions.
_AMAZON = (
    "annotations apache-client arns auth aws-core aws-query-protocol aws-xml-protocol checksums checksums-spi crt-core "
    "endpoints-spi http-auth http-auth-aws http-auth-aws-eventstream http-auth-spi http-client-spi identity-spi json-utils "
    "metrics-spi netty-nio-client profiles protocol-core regions retries retries-spi s3 s3-transfer-manager sdk-core sts "
    "third-party-jackson-core utils utils-lite"
)
S3_FOR_SPARK = (
    "org.apache.hadoop:hadoop-aws:{hadoop}",
    *(f"software.amazon.awssdk:{module}:2.35.4" for module in _AMAZON.split()),
    "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1",
    "software.amazon.eventstream:eventstream:1.0.1",
    "org.reactivestreams:reactive-streams:1.0.4",
)

_PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>eddyline</groupId><artifactId>jars</artifactId><version>1</version><dependencies>{}</dependencies></project>
"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>"
)
_ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"


_failures: dict[str, str] = {}  # why jars cannot be had: Maven takes its time to find out


def spark_jars(*coordinates: str) -> str:
    """What the setting `spark.jars` takes: just these jars, `{spark}` and `{hadoop}` being the versions of pyspark's."""
    import pyspark

    versions = {"spark": pyspark.__version__, "hadoop": _hadoop_version(Path(pyspark.__file__).parent)}
    named = tuple(coordinate.format(**versions) for coordinate in coordinates)
    return ",".join(str(path) for path in sorted(jars(named, alone=True).glob("*.jar")))


def _hadoop_version(spark_home: Path) -> str:
    client = next((spark_home / "jars").glob("hadoop-client-api-*.jar"))
    return client.stem.removeprefix("hadoop-client-api-")


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
