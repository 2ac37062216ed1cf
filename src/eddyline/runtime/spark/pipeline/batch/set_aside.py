"""Files of a batch that cannot be read as rows of the stream: written down with the batch, which goes on without them.

    before the pass      files whose columns do not fit: Spark would read them, and be wrong
    when the pass fails  files that are broken

Both are in the record of the batch before anything of it is delivered, so that it is run again without the same files,
whoever has mended or broken them since.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from eddyline.errors import BrokenFileError
from eddyline.runtime.spark.pipeline.batch.batch_context import BatchContext
from eddyline.runtime.spark.pipeline.input.broken_files import find_broken, is_of_a_reader, is_there
from eddyline.runtime.spark.pipeline.input.inputs import FILES, files_of, readable_path
from eddyline.runtime.spark.pipeline.input.sources import TYPED_FORMATS, PipelineSource
from eddyline.runtime.spark.pipeline.input.stated_columns import misfits
from eddyline.runtime.spark.versions import Pin, SetAside
from eddyline.runtime.spark.watching.logs import event

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("eddyline.pipeline")


def without_misfits(context: BatchContext, source: PipelineSource, spark: SparkSession, pin: Pin) -> Pin:
    """The pin of a batch without the files whose columns do not fit."""
    if pin.settled or source.settings.format not in TYPED_FORMATS:
        return pin
    return _without(context, source, pin, misfits(source, spark, _files(context, source, pin)))


def without_broken(
    context: BatchContext, source: PipelineSource, spark: SparkSession, pin: Pin, error: Exception
) -> Pin:
    """The pin of a batch that failed, without the files that are broken; the same pin where that is not the reason."""
    if pin.settled or source.settings.format not in FILES or not is_of_a_reader(error):
        return pin
    return _without(context, source, pin, find_broken(source, spark, _present(context, source, spark, pin)))


def rows_of(context: BatchContext, source: PipelineSource, df: DataFrame, pin: Pin) -> DataFrame:
    """The rows of a batch, less those of files that were set aside: Spark must not even open these."""
    if not pin.set_aside:
        return df
    spark, paths = df.sparkSession, _present(context, source, df.sparkSession, pin)
    return source.read(spark, paths) if paths else spark.createDataFrame([], df.schema)


def settle(context: BatchContext, source: PipelineSource, pin: Pin) -> None:
    """Write down that no more files are set aside, before results leave that were made of the others."""
    if not pin.settled and source.settings.format in FILES:
        context.log.update(replace(pin, settled=True))


def _files(context: BatchContext, source: PipelineSource, pin: Pin) -> list[str]:
    """The files of a batch that were not set aside."""
    batch = range(pin.batch_id, pin.batch_id + 1)
    gone = {file.path for file in pin.set_aside}
    return [path for path in files_of(context.state.checkpoint(pin.source), (batch,)) if path not in gone]


def _present(context: BatchContext, source: PipelineSource, spark: SparkSession, pin: Pin) -> list[str]:
    """Those of them that are there: like Spark, a batch goes on without a file that was deleted before it ran."""
    return [path for path in _files(context, source, pin) if is_there(spark, path)]


def _without(context: BatchContext, source: PipelineSource, pin: Pin, reasons: Mapping[str, str]) -> Pin:
    if not reasons:
        return pin
    files = [SetAside(path, reason) for path, reason in reasons.items()]
    if source.settings.strict:
        raise BrokenFileError(
            f'source "{pin.source}" cannot read {readable_path(files[0].path)}: {files[0].reason}',
            hint="write the file again, or move it out of the folder, and start the pipeline again; "
            "without `strict` such files are set aside",
        )
    pin = replace(pin, set_aside=(*pin.set_aside, *files))
    context.log.update(pin)
    for file in files:
        message = f"{readable_path(file.path)} is set aside: {file.reason}"
        event(log, message, level=logging.WARNING, source=pin.source, batch=pin.batch_id)
    return pin
