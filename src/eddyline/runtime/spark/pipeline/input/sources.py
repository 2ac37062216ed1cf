"""Sources: any streaming format of Spark as the rows of a stream, each with what identifies it and what was unreadable.

What a source gives, in this order: the stream's columns under their names; `__eddyline_corrupt`, the text of a row that
cannot be read, for formats of text; the columns of the identity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from eddyline.errors import EddylineError, FileError, SchemaError, SetupError
from eddyline.model import types as t
from eddyline.model.catalog import Stream, spark_type
from eddyline.runtime.spark.base.failures import in_words
from eddyline.runtime.spark.base.remote_folders import local_path
from eddyline.runtime.spark.base.schemas import arrow_type, find_columns, quoted, struct_of
from eddyline.runtime.spark.base.secrets import Value, revealed, revealed_all, secrets_in
from eddyline.runtime.spark.base.settings import SourceSettings
from eddyline.runtime.spark.pipeline.input.identity import KAFKA, METADATA, PREFIX, Identity, Kind
from eddyline.runtime.spark.pipeline.input.inputs import FILES, plain, readable_path
from eddyline.runtime.spark.pipeline.input.stated_columns import misfits

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

CORRUPT: Final = PREFIX + "corrupt"
TEXT_FORMATS: Final = ("json", "csv", "xml")  # Spark reads them by our schema and keeps what does not fit
TYPED_FORMATS: Final = ("parquet", "orc", "avro")  # files say what they hold
LINES: Final = ("kafka", "socket", "text")  # one JSON object in each value
MARKS: Final = "*?[]{}\\"  # of patterns, in paths
MOST_LOOKED_AT: Final = 100  # files, before a source begins
EVER: Final = "1000000d"  # Spark's own limit, a week, leaves out older files without a word
CSV_DEFAULTS: Final = {
    "enforceSchema": "false",  # a header that names other columns is an error
    "nullValue": "\0eddyline\0null",  # not the empty text, for which Spark would take `""` too: an empty field is NULL
}

_IDENTITIES: Final[Mapping[str, Kind]] = {
    "kafka": "kafka",
    "parquet": "row index",
    **dict.fromkeys(("json", "csv", "xml", "text", "orc", "avro"), "counted row"),
}


@dataclass(frozen=True, slots=True)
class PipelineSource:
    """A source of a pipeline and the stream that its rows belong to."""

    settings: SourceSettings
    stream: Stream

    @property
    def identity(self) -> Identity:
        """How its tuples are told apart."""
        if self.settings.key:
            return Identity("key", _spelled(self.settings, self.stream))
        kind = _IDENTITIES.get(self.settings.format, "content")
        return Identity(
            kind, tuple(PREFIX + name for name in METADATA.get(kind, KAFKA if kind == "kafka" else ()))
        )

    @property
    def keeps_corrupt(self) -> bool:
        """Whether rows that cannot be read come with their text."""
        return self.settings.format in TEXT_FORMATS or self._is_json_in_values

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it gives."""
        corrupt = (CORRUPT,) if self.keeps_corrupt else ()
        identity = () if self.identity.kind == "key" else self.identity.columns
        return (*self.stream.schema.names, *corrupt, *identity)

    def missing_folder(self) -> Path | None:
        """The folder that it reads, if that can be seen not to be there."""
        folder = _local_folder(self.settings)
        return None if folder is None or folder.exists() else folder

    def check(self, spark: SparkSession, *, begun: bool = False) -> None:
        """Refuse what can be seen to be wrong before a row was read: no folder, other columns, other types.

        Of a source that has begun, files that do not fit are set aside when their turn comes, and not looked at here.
        """
        _refuse_pattern(self.settings)
        missing = self.missing_folder()
        if missing is not None:
            raise FileError(
                f'source "{self.settings.name}": there is no folder {missing}',
                hint="make it, or correct the path",
            )
        _spelled(self.settings, self.stream)
        with self._opening():
            if self.settings.format in TYPED_FORMATS and not begun:
                self._check_files(spark)
            self.open(spark)

    def _check_files(self, spark: SparkSession) -> None:
        """Refuse a folder in which no file fits."""
        first: str | None = None
        for file in islice(_visible_files(_local_folder(self.settings)), MOST_LOOKED_AT):
            found = misfits(self, spark, [file.as_uri()])
            if not found:
                return
            first = first or f"{file}: {found[file.as_uri()]}"
        if first is not None:
            raise SchemaError(
                f'no file of source "{self.settings.name}" can be read as stream "{self.stream.name}": {first}',
                hint="declare the stream with the columns that the files have, or correct the path",
            )

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """What Spark refuses (a format without its jar, an option) in words that show no secret."""
        try:
            yield
        except EddylineError:
            raise
        except Exception as error:
            words = in_words(error, secrets=secrets_in(self.settings))
            raise SetupError(f'source "{self.settings.name}" cannot be opened: {words}') from None

    def open(self, spark: SparkSession) -> DataFrame:
        """The rows as they come."""
        reader = spark.readStream.format(self.settings.format)
        if self.settings.format in FILES and self._option("maxFileAge") is None:
            reader = reader.option("maxFileAge", EVER)
        return self._rows(reader.options(**revealed_all(self.settings.options)), self.settings.path)

    def read(
        self, spark: SparkSession, paths: list[str] | None = None, options: Mapping[str, str] | None = None
    ) -> DataFrame:
        """Rows that came before, once more: those of some files, by their addresses in Spark's log, or what other options
        than the streaming ones say.
        """
        settings = self.settings
        reader = spark.read.format(settings.format).options(**revealed_all(_shared_options(settings)))
        if paths and settings.path is not None and not _is_pattern(settings.path):
            reader = reader.option("basePath", settings.path)  # as a stream of files has it
        return self._rows(reader.options(**(options or {})), paths and [plain(path) for path in paths])

    def stated(self, spark: SparkSession, path: str) -> StructType:
        """The columns that a file states, as Spark sees them."""
        reader = spark.read.format(self.settings.format)
        return reader.options(**revealed_all(_shared_options(self.settings))).load(plain(path)).schema

    @property
    def types_read(self) -> Mapping[str, t.DataType]:
        """The stream's columns, with the types that files are read as."""
        if self.settings.schema is None:
            return self.stream.types
        declared = {field.name.lower(): arrow_type(field.dataType) for field in self._declared().fields}
        kinds = {name: declared[name.lower()] for name in self.stream.schema.names}
        return {name: kind for name, arrow in kinds.items() if arrow and (kind := spark_type(arrow))}

    def in_folders(self, path: str) -> set[str]:
        """The columns, in lower case, whose values Spark takes from the names of a file's folders (`day=3`)."""
        base = self.settings.path or ""
        if _is_pattern(base) or (self._option("recursiveFileLookup") or "").lower() == "true":
            return set()
        inside = readable_path(path).removeprefix(str(local_path(base) or base))
        return {part.partition("=")[0].lower() for part in inside.split("/")[:-1] if "=" in part}

    def _option(self, name: str) -> str | None:
        found = [value for option, value in self.settings.options.items() if option.lower() == name.lower()]
        return revealed(found[0]) if found else None

    def _rows(self, reader: Any, path: str | list[str] | None) -> DataFrame:
        """The rows that a reader of Spark's gives, streaming or not."""
        settings = self.settings
        if settings.format in TEXT_FORMATS:
            for name, value in CSV_DEFAULTS.items() if settings.format == "csv" else ():
                if self._option(name) is None:
                    reader = reader.option(name, value)
            reader = reader.options(mode="PERMISSIVE", columnNameOfCorruptRecord=CORRUPT)
            reader = reader.schema(_with_corrupt(self._declared()))
        elif settings.format in TYPED_FORMATS or (settings.schema and not self._is_json_in_values):
            reader = reader.schema(self._declared())
        df = reader.load() if path is None else reader.load(path)
        return self._selected(self._parsed(df) if self._is_json_in_values else df)

    @property
    def _is_json_in_values(self) -> bool:
        lines = self.settings.format in LINES
        return lines and (self.settings.format == "kafka" or self.stream.schema.names != ["value"])

    def _declared(self) -> StructType:
        """The schema to read by: the source's own, which must fit the stream, or the stream's."""
        from pyspark.errors import PySparkException
        from pyspark.sql.types import StructType

        if self.settings.schema is None:
            return struct_of(self.stream)
        try:
            declared = cast("StructType", StructType.fromDDL(self.settings.schema))
        except PySparkException as error:
            text = str(error).partition("\n")[0]
            raise SchemaError(
                f'source "{self.settings.name}": its schema is not understood: {text}'
            ) from error
        self._fitting(declared)
        return declared

    def _fitting(self, schema: StructType) -> dict[str, str]:
        return find_columns(
            schema, self.stream, self.stream.schema.names, what=f'source "{self.settings.name}"'
        )

    def _parsed(self, df: DataFrame) -> DataFrame:
        """The JSON object in each value, taken apart; an empty value is a row that cannot be read."""
        from pyspark.sql import functions as F

        text = F.col("value").cast("string")
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
        parsed = F.from_json(text, _with_corrupt(self._declared()), options)
        rows = df.withColumn(PREFIX + "parsed", parsed).withColumn(PREFIX + "text", text)
        unreadable = F.when(F.col(PREFIX + "parsed").isNull(), F.coalesce(PREFIX + "text", F.lit("")))
        fields = [F.col(f"{PREFIX}parsed.{quoted(name)}").alias(name) for name in self._declared().names]
        corrupt = F.coalesce(F.col(f"{PREFIX}parsed.{CORRUPT}"), unreadable).alias(CORRUPT)
        kept = [F.col(quoted(name)).alias(PREFIX + name) for name in KAFKA if self.settings.format == "kafka"]
        if self.identity.kind == "counted row":
            kept = _metadata("counted row")
        return rows.select(*fields, corrupt, *kept)

    def _selected(self, df: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        found = self._fitting(df.schema)
        columns = [F.col(quoted(found[name])).alias(name) for name in self.stream.schema.names]
        if self.keeps_corrupt:
            columns.append(F.col(CORRUPT))
        return df.select(*columns, *self._identifying(df))

    def _identifying(self, df: DataFrame) -> list[Column]:
        from pyspark.sql import functions as F

        identity = self.identity
        if identity.kind == "key":
            return []
        if all(name in df.columns for name in identity.columns):
            return [F.col(name) for name in identity.columns]
        return _metadata(identity.kind)


def _metadata(kind: Kind) -> list[Column]:
    """The columns of an identity that come from Spark's column `_metadata`."""
    from pyspark.sql import functions as F

    return [F.expr(value).alias(PREFIX + name) for name, value in METADATA[kind].items()]


def _with_corrupt(schema: StructType) -> StructType:
    from pyspark.sql.types import StringType, StructType

    return StructType([*schema.fields]).add(CORRUPT, StringType())


def _spelled(settings: SourceSettings, stream: Stream) -> tuple[str, ...]:
    """The columns of the key as the stream spells them."""
    for name in settings.key:
        if name.lower() not in stream.spelling:
            raise SchemaError(
                f'source "{settings.name}": its key "{name}" is no column of stream "{stream.name}"',
                hint=f"its columns are {', '.join(stream.schema.names[:12])}",
            )
    return tuple(stream.spelling[name.lower()] for name in settings.key)


def _local_folder(settings: SourceSettings) -> Path | None:
    """The folder of a source of files on this machine; None where Spark alone can look."""
    path = settings.path
    return None if path is None or _is_pattern(path) else local_path(path)


def _visible_files(folder: Path | None) -> Iterator[Path]:
    if folder is None or folder.is_file():
        return iter(() if folder is None else (folder,))
    found = sorted(folder.rglob("*"))
    return (path for path in found if not path.name.startswith(("_", ".")) and path.is_file())


def _refuse_pattern(settings: SourceSettings) -> None:
    """Refuse a folder whose name Spark takes for a pattern: it would read other folders, or none without a word."""
    if settings.path is None or not any(mark in settings.path for mark in MARKS):
        return
    folder = local_path(settings.path)
    if folder is not None and folder.exists():
        raise FileError(
            f'source "{settings.name}": Spark takes the name of the folder {folder} for a pattern',
            hint=f"give it a name without {' '.join(MARKS)}",
        )


def _is_pattern(path: str) -> bool:
    return any(mark in path for mark in "*?[{")


_STREAMING: Final = frozenset(  # options that mean something only while rows come
    [
        *("maxfilespertrigger", "maxbytespertrigger", "latestfirst", "maxfileage", "cleansource"),
        *("sourcearchivedir", "filenameonly", "subscribe", "subscribepattern", "assign", "startingoffsets"),
        *("startingtimestamp", "startingoffsetsbytimestamp", "startingoffsetsbytimestampstrategy"),
        *("maxoffsetspertrigger", "minoffsetspertrigger", "maxtriggerdelay"),
    ]
)


def _shared_options(settings: SourceSettings) -> dict[str, Value]:
    """The options that reading rows once and reading them as they come have in common."""
    return {name: value for name, value in settings.options.items() if name.lower() not in _STREAMING}
