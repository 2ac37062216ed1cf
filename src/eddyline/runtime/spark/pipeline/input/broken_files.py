"""Files that are broken, told apart from a file system that fails for a while.

A file whose bytes can all be fetched and that Spark still cannot read, alone, is broken: it will be so tomorrow. Where the
bytes cannot be fetched nobody knows, so that the source fails, is started again, and stops in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from eddyline.errors import FileError
from eddyline.runtime.spark.base.failures import in_words
from eddyline.runtime.spark.base.halving import failed_by_itself, find_failing
from eddyline.runtime.spark.base.remote_folders import local_path
from eddyline.runtime.spark.base.secrets import secrets_in
from eddyline.runtime.spark.pipeline.input.inputs import plain, readable_path
from eddyline.runtime.spark.sessions.session_checks import is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from eddyline.runtime.spark.pipeline.input.sources import PipelineSource

UNREADABLE: Final = "FAILED_READ_FILE"  # what Spark calls an error of a reader of files, whatever it was
NOT_THERE: Final = "FAILED_READ_FILE.FILE_NOT_EXIST"
MOST_BYTES: Final = 256 * 1024 * 1024  # of a file elsewhere: a worker holds it as a whole while it is fetched
MISMATCH: Final = "Data type mismatches when reading"
LONGEST: Final = 2000  # characters of what Spark says
_BLOCK: Final = 1024 * 1024


def find_broken(source: PipelineSource, spark: SparkSession, paths: Sequence[str]) -> dict[str, str]:
    """The broken ones of some files, with the reasons; an error where one cannot be read for other reasons."""

    def failure(some: Sequence[str]) -> str | None:
        try:
            source.read(spark, list(some)).write.format("noop").mode("overwrite").save()
        except Exception as error:
            if len(some) == 1:
                return _reason_if_broken(source, spark, some[0], error)
            if not failed_by_itself(error):
                raise
            return "one of them fails"
        return None

    return find_failing(paths, failure)


def _reason_if_broken(source: PipelineSource, spark: SparkSession, path: str, error: Exception) -> str:
    """What is wrong with a file that Spark could not read; the error is raised where that may pass."""
    here = local_path(path)
    if NOT_THERE in str(error) and not is_local(spark) and here is not None and here.exists():
        raise FileError(
            f"a worker of Spark does not see {readable_path(path)}, which lies on this machine",
            hint="sources read folders that the driver and all workers share",
        ) from error
    if not is_of_a_reader(error) or not can_be_fetched(spark, path):
        raise error
    return _cause_of(in_words(error, LONGEST, secrets_in(source.settings)))


def is_of_a_reader(error: Exception) -> bool:
    """Whether a job failed while it read a file."""
    return UNREADABLE in str(error) and failed_by_itself(error)


def _cause_of(text: str) -> str:
    """What is said of the file itself, of all that Spark says.

    >>> _cause_of(
    ...     "a.b.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered ... Caused by: java.io.EOFException: cut off"
    ... )
    'java.io.EOFException: cut off'
    """
    _, mark, mismatch = text.partition(MISMATCH)
    return f"{mark}{mismatch}".partition(" Caused by: ")[0] if mark else text.rpartition("Caused by: ")[2]


def is_there(spark: SparkSession, path: str) -> bool:
    """Whether there is a file; where nobody can tell, the error is raised."""
    from pyspark.errors import AnalysisException

    here = local_path(path)
    if here is not None:
        return here.exists()
    try:
        return bool(_bytes(spark, path).schema)
    except AnalysisException as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise
        return False


def is_empty(spark: SparkSession, path: str) -> bool:
    """Whether a file has no bytes: Spark takes it for one without rows, whatever its format."""
    here = local_path(path)
    if here is not None:
        return here.stat().st_size == 0
    return _bytes(spark, path).where("length = 0").count() == 1


def can_be_fetched(spark: SparkSession, path: str) -> bool:
    """Whether the file system gives all bytes of a file, whatever they say, to whoever reads rows."""
    from pyspark.sql import functions as F

    here = local_path(path) if is_local(spark) else None
    try:
        if here is None:
            whole = _bytes(spark, path).where(F.col("length") <= MOST_BYTES)
            return bool(whole.select(F.crc32("content")).collect())
        with here.open("rb") as file:
            while file.read(_BLOCK):
                pass
    except Exception:
        return False
    return True


def _bytes(spark: SparkSession, path: str) -> DataFrame:
    """A file elsewhere as one row: its length and, if somebody asks for it, its content."""
    return spark.read.format("binaryFile").load(plain(path))
