"""Pipelines that must not start: columns that do not fit, sources and registries that are not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddyline.errors import FileError, RegistryError, SchemaError
from eddyline.registry import Put, Registry
from eddyline.runtime.spark.base.settings import SourceSettings
from eddyline.runtime.spark.versions import StateFolder
from eddyline.spark import Pipeline
from tests.spark.pipelines import QUOTES, Place, quotes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from eddyline.runtime.spark.base.settings import PipelineSettings


@pytest.fixture
def refused(spark: SparkSession, place: Place) -> Iterator[Callable[..., Any]]:
    place.register({"all": "SELECT id FROM quotes"})

    def start(settings: PipelineSettings) -> None:
        with Pipeline(settings).start(spark) as running:
            running.await_termination(10)

    yield start
    assert StateFolder.is_running(place.settings.checkpoint) is None


def test_schemas_that_do_not_fit(place: Place, refused: Callable[..., Any]) -> None:
    source = place.source("files", "parquet", stream="quotes")
    settings = replace(place.settings, sources=(source,))
    table = pa.table({"id": ["x"], "symbol": ["x"], "price": [1.0]})
    pq.write_table(table, place.folder / "files" / "a.parquet")
    with pytest.raises(
        SchemaError,
        match=r'no file of source "files".*a\.parquet: its column "id" has the type string, but bigint',
    ):
        refused(settings)
    pq.write_table(
        table.drop(["symbol"]).set_column(0, "id", pa.array([1])), place.folder / "files" / "a.parquet"
    )
    with pytest.raises(
        SchemaError, match=r'source "files" can be read as stream "quotes".* it has no column "symbol"'
    ):
        refused(settings)
    rate = SourceSettings(name="quotes", format="rate")
    with pytest.raises(SchemaError, match='has no column "id"'):
        refused(replace(settings, sources=(rate,)))
    with pytest.raises(SchemaError, match=r'"price".* type string, but double'):
        refused(
            replace(
                settings,
                sources=(
                    replace(
                        source, format="json", schema="id INT, symbol STRING, price STRING, at TIMESTAMP"
                    ),
                ),
            )
        )


def test_sources_that_are_not_there(place: Place, refused: Callable[..., Any]) -> None:
    source = place.settings.sources[0]
    with pytest.raises(FileError, match=r"there is no folder .*elsewhere"):
        refused(replace(place.settings, sources=(replace(source, path=str(place.folder / "elsewhere")),)))
    pattern = place.folder / "br[1]"
    pattern.mkdir()
    with pytest.raises(FileError, match=r"Spark takes the name of the folder .*br\[1\] for a pattern"):
        refused(replace(place.settings, sources=(replace(source, path=str(pattern)),)))
    with pytest.raises(SchemaError, match='the registry has no stream "trades"'):
        refused(replace(place.settings, sources=(replace(source, stream="trades"),)))
    with pytest.raises(SchemaError, match='its key "prise" is no column'):
        refused(replace(place.settings, sources=(replace(source, key=("prise",)),)))
    with pytest.raises(RegistryError, match="there is no registry"):
        refused(replace(place.settings, registry=str(place.folder / "none.db")))


def test_a_checkpoint_belongs_to_one_registry(place: Place, refused: Callable[..., Any]) -> None:
    """Also before anything was served, where there is no version yet that could tell."""
    place.write("a.json", quotes(0))
    refused(place.settings)
    other = replace(place.settings, registry=str(place.folder / "other.db"))
    with Registry.open(other.registry) as registry:  # type: ignore[arg-type]
        registry.change([Put("z", "SELECT id FROM quotes")], streams=[QUOTES])
        registry.change([Put("y", "SELECT id FROM quotes")])
    for start in (refused, lambda settings: Pipeline(settings).plan()):
        with pytest.raises(
            RegistryError, match=r"belongs to another registry|not the one that this pipeline"
        ):
            start(other)
    refused(place.settings)
