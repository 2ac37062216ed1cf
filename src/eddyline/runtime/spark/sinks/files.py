"""Folders of files: each batch is there whole or not at all, and once, whatever is killed when.

    out/_eddyline.json                              who owns the folder
    out/_columns.json                               typed columns or text
    out/_staging/<source>/                          where Spark writes; readers do not look there
    out/source=<source>/batch=<id>/[date=<date>/][query=<id>/]part-...

Spark writes a batch into `_staging`; one rename puts it in its place. A batch that is there already is left as it is:
a replayed batch has the same rows, so it is the same. Where renaming is not one step, a record says what is whole.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from eddyline.errors import DeliveryError
from eddyline.runtime.spark.base.secrets import revealed_all
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.sessions.shared_folders import write_and_look
from eddyline.runtime.spark.sinks.base import delivering
from eddyline.runtime.spark.sinks.folder import FolderSink
from eddyline.runtime.spark.sinks.shape import TIMESTAMPS, WALL_CLOCKS, columns, with_parts
from eddyline.runtime.spark.sinks.storage import LocalOutput, OutputFolder
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORMATS: Final = frozenset({"parquet", "json", "csv", "orc", "avro"})
STAGING: Final = "_staging"
KEPT: Final = ("query_id", "query_revision", "version", "tuple_key", "event_time")
FOLDERS: Final = ("source", "batch")  # columns that readers get from the names of folders

_MOMENTS: Final = {"timestampFormat": TIMESTAMPS, "timestampNTZFormat": WALL_CLOCKS, "timeZone": "UTC"}
DEFAULTS: Final[dict[str, dict[str, str]]] = {
    "json": {**_MOMENTS, "ignoreNullFields": "false"},
    "csv": {
        **_MOMENTS,
        "header": "true",
        "escape": '"',  # as everybody but Spark writes quotes inside of quotes
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
    },
}


class FileSink(FolderSink):
    """A folder of files of one format."""

    def __init__(self, settings: SinkSettings, folder: Path) -> None:
        super().__init__(settings, folder)
        self.apart_until: dict[
            str, int
        ] = {}  # by source the batch from which its rows may be written with others
        self._written: dict[tuple[str, int], Path] = {}  # rows of batches that were written with others

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Write a batch, if it is not there yet; gives its rows where the format tells."""
        storage = self._storage
        place, staged = batch_folder(batch), f"{STAGING}/{source_folder(batch.source)}"
        with delivering(self._settings, batch):
            if storage.is_committed(place):
                return None
            written_before = self._written.get(_key(batch))
            if written_before is not None and written_before.is_dir():
                return self._take(written_before, place, typed)
            storage.remove(staged)  # what a killed attempt left
            try:
                self._write(rows, batch, typed, storage, f"{staged}/{batch.batch_id}")
            except Exception:
                with suppress(OSError):
                    storage.remove(staged)  # on a full disk every byte counts
                raise
            written = storage.files(f"{staged}/{batch.batch_id}")
            count = _count(written or []) if self._settings.format == "parquet" else None
            if count == 0 or not any(size for _, size in written or []):
                self._check_empty(rows, written is not None)
                storage.remove(staged)
                return 0
            storage.commit(f"{staged}/{batch.batch_id}", place)
            return count

    def _take(self, written: Path, place: str, typed: TypedList | None) -> int | None:
        """Put rows that another job has written in their place."""
        self._output_columns.settle(typed)
        count = _count([(str(path), 0) for path in written.rglob("*.parquet")])
        storage = self._storage
        assert isinstance(storage, LocalOutput), "rows are written with others on this machine only"
        storage.adopt(written, place)
        return count

    def take_written(self, batch: Batch, folder: Path) -> None:
        """Say that the rows of a batch lie in a folder, to be taken from there; one that does not exist has none."""
        self._written[_key(batch)] = folder

    def forget_written(self, batch: Batch) -> None:
        """Say that they do not lie there any more."""
        self._written.pop(_key(batch), None)

    def local_staging(self, batch: Batch) -> Path | None:
        """Where a batch can be staged, on this machine's file systems; None where its files lie elsewhere."""
        root = self._local_root
        return None if root is None else root / STAGING / source_folder(batch.source) / str(batch.batch_id)

    def likeness(self, batch: Batch) -> tuple[object, ...] | None:
        """What sinks must have in common for one job to write the rows of both; None where that is not to be."""
        root, settings = self._local_root, self._settings
        if (
            root is None
            or settings.format != "parquet"
            or batch.batch_id < self.apart_until.get(batch.source, 0)
        ):
            return None
        if self._storage.is_committed(batch_folder(batch)):  # a replay: there is nothing to write
            return None
        options = sorted((name, str(value)) for name, value in revealed_all(settings.options).items())
        return (root.stat().st_dev, settings.partition_by, tuple(options))

    @property
    def _local_root(self) -> Path | None:
        storage = self._storage
        return storage.root if isinstance(storage, LocalOutput) else None

    def _check_empty(self, rows: DataFrame, is_there: bool) -> None:
        """Nothing was written: that is right only where there are no rows."""
        if not is_there or not rows.isEmpty():
            raise self._not_found("what Spark wrote is not found")

    def _not_found(self, what: str) -> DeliveryError:
        return DeliveryError(
            f'sink "{self.name}": {what} in {self._settings.path}',
            hint="the folder must be one that this process and all workers of Spark share, "
            "and a name that is not plain ASCII needs a UTF-8 locale in Java",
        )

    @property
    def _options(self) -> dict[str, str]:
        own = {**self._storage.write_options, **DEFAULTS.get(self._settings.format, {})}
        return {**own, **revealed_all(self._settings.options)}

    def _write(
        self, rows: DataFrame, batch: Batch, typed: TypedList | None, storage: OutputFolder, to: str
    ) -> None:
        self._output_columns.settle(typed)
        root = self._local_root
        missing = write_and_look(
            rows,
            root and root / to,
            self._settings.format,
            self._options,
            lambda rows: self.write_files(rows, batch, typed, f"{storage.address}/{to}"),
        )
        if missing is not None:
            raise self._not_found(missing)

    def write_files(
        self, rows: DataFrame, batch: Batch, typed: TypedList | None, to: str, parts: tuple[str, ...] = ()
    ) -> None:
        """Write the files of rows into a folder; `parts` are columns by which it is divided first."""
        shaped = columns(rows, typed, (*parts, *KEPT), (*FOLDERS, *self._settings.partition_by))
        shaped = with_parts(shaped, self._settings.partition_by, batch.at)
        writer = shaped.write.format(self._settings.format).options(**self._options)
        writer.partitionBy(*parts, *self._settings.partition_by).mode("overwrite").save(to)


def _key(batch: Batch) -> tuple[str, int]:
    return batch.source, batch.batch_id


def _count(files: list[tuple[str, int]]) -> int | None:
    """The rows of Parquet files, which their ends tell; None where this machine cannot read them."""
    from pyarrow import parquet

    try:
        return sum(int(parquet.read_metadata(path).num_rows) for path, _ in files)
    except (OSError, ValueError):  # an address that Arrow does not know
        return None


def batch_folder(batch: Batch) -> str:
    """The folder of a batch.

    >>> from datetime import UTC, datetime
    >>> batch_folder(Batch("1f", "market", "quotes", 7, 3, datetime.now(UTC)))
    'source=quotes/batch=7'
    """
    return f"{source_folder(batch.source)}/batch={batch.batch_id}"


def source_folder(source: str) -> str:
    """The folder of a source: a name that a reader would take for a number is escaped, so that it stays a text.

    >>> source_folder("quotes"), source_folder("007"), source_folder("a b")
    ('source=quotes', 'source=%3007', 'source=a%20b')
    """
    name = quote(source, safe="")
    try:
        float(source.rstrip("dDfF"))  # Java reads 1d as a number
    except ValueError:
        return f"source={name}"
    return f"source=%{ord(source[0]):02X}{name[1:]}"
