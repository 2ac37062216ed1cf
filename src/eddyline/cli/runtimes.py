"""`--runtime`: whether rows are matched in this process or by Spark, and which options go with which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from eddyline.cli.output import note
from eddyline.errors import FileError
from eddyline.model.expression import Call
from eddyline.runtime.embedded.infer import Inferred
from eddyline.runtime.embedded.pipes import STANDARD_INPUT
from eddyline.runtime.embedded.places import places
from eddyline.runtime.spark.functions import pin_text
from eddyline.runtime.spark.parquet_files import ParquetFiles, stream_in


class Runtime(StrEnum):
    """Where rows are matched."""

    EMBEDDED = "embedded"
    SPARK = "spark"


RuntimeOption = Annotated[
    Runtime,
    typer.Option("--runtime", help="embedded: in this process. spark: by Spark, over Parquet of any size."),
]
SparkSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--spark",
        metavar="KEY=VALUE",
        help="With --runtime spark: a setting of the session, such as spark.master; may be given several times.",
    ),
]


def refuse_options(runtime: Runtime, options: Mapping[str, object], why: str) -> None:
    """Refuse options that mean nothing here, by name."""
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(f"{name} means nothing with --runtime {runtime}: {why}")


def settings_of(texts: Sequence[str] | None) -> dict[str, str]:
    """Settings of Spark, written as KEY=VALUE."""
    settings = {}
    for text in texts or ():
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            raise typer.BadParameter(
                f'--spark is written as KEY=VALUE, such as spark.master=local[4], not "{text}"'
            )
        settings[key.strip()] = value.strip()
    return settings


def parquet_files(source: str, format: str | None = None) -> ParquetFiles:
    """The files of a source for Spark; everything but Parquet is refused."""
    if source == STANDARD_INPUT:
        raise FileError(
            "Spark cannot read standard input",
            hint="write the rows to a Parquet file, or leave out --runtime",
        )
    if format not in (None, "parquet"):
        raise _only_parquet(source, str(format))
    if is_address(source):
        return ParquetFiles((source,))
    found = places(source, format)
    for place in found:
        if place.format != "parquet":
            raise _only_parquet(place.name, place.format)
    return ParquetFiles(tuple(place.name for place in found), source if Path(source).is_dir() else None)


def is_address(source: str) -> bool:
    """Whether a source is an address (s3a://...) that Spark opens, rather than a path."""
    return "://" in source


def infer_on_spark(spark: Any, source: str, format: str | None = None) -> Inferred:
    """The schema that Parquet files state, as Spark takes it."""
    return Inferred(stream_in(spark, "rows", parquet_files(source, format)).schema, None)


def tell_culprits(culprits: Mapping[Call, str]) -> None:
    """Say which functions failed on some row; everything else went on."""
    for call, reason in culprits.items():
        note(f"{pin_text(call)} failed on some row and counts as NULL in all: {reason}")


def _only_parquet(name: str, format: str) -> FileError:
    return FileError(
        f'"{name}" is {format}; on Spark rows of Parquet alone have numbers, by which results name them',
        hint="convert it to Parquet, or leave out --runtime spark",
    )
