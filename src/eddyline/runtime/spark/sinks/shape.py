"""The columns in which results leave: those of ours first, then what was selected, as JSON text or as columns."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from eddyline.delivery.json_text import unique
from eddyline.runtime.spark.sinks.typed import SELECTED, TypedList

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

OURS: Final = ("query_id", "query_revision", "version", "source", "batch_id", "tuple_key", "event_time")
TIMESTAMPS: Final = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"  # Spark's own form stops at milliseconds
WALL_CLOCKS: Final = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
PART: Final = "__eddyline_part"  # which sink a row of results is for, before they are parted
SHORT: Final = 32  # characters of a long id, and of its hash, in the name of a folder


def columns(
    rows: DataFrame, typed: TypedList | None, ours: tuple[str, ...] = OURS, beside: tuple[str, ...] = ()
) -> DataFrame:
    """Results with `ours`, the selected columns if they are typed, and `payload`; `beside` are names taken already.

    A row of another SELECT list than the typed one has NULL in its columns, and its payload.
    """
    from pyspark.sql import functions as f

    if typed is None:
        return rows.select(*ours, "payload")
    # where no SELECT list of the batch has these columns, the rows come without them
    row = f.col(SELECTED) if typed.numbers else f.lit(None).cast(f"struct<{typed.ddl}>")
    names = selected_names(typed, (*ours, *beside, "payload"))
    selected = [row.getField(name).alias(to) for name, to in zip(typed.names, names, strict=True)]
    return rows.select(*ours, *selected, "payload")


def selected_names(typed: TypedList, taken: tuple[str, ...]) -> list[str]:
    """Names of selected columns beside others: one that is taken gets a number."""
    return unique([*taken, *typed.names])[len(taken) :]


def with_parts(shaped: DataFrame, parts: tuple[str, ...], at: datetime) -> DataFrame:
    """Results with the columns by which files are laid out; `at` stands in for a time that a row does not have."""
    from pyspark.sql import functions as f

    found = {"date": lambda: f.to_date(f.coalesce(f.col("event_time"), f.lit(at))), "query": folder_of_query}
    for part in parts:
        shaped = shaped.withColumn(part, found[part]())
    return shaped


def folder_of_query() -> Column:
    """A query's id as a folder can be called: escaped where it is not ASCII, cut with a hash where it is long.

    Without a UTF-8 locale Java writes every other letter as a question mark, and folders of two queries become one.
    """
    from pyspark.sql import functions as f

    id = f.col("query_id")
    plain = f.when(id.rlike(r"^[\x20-\x7e]*$"), id).otherwise(f.url_encode(id))
    short = f.concat(f.substring(plain, 1, SHORT), f.lit("-"), f.substring(f.sha2(id, 256), 1, SHORT))
    return f.when(f.length(plain) > 2 * SHORT, short).otherwise(plain)


_PAYLOAD: Final = ',"payload":'


def as_json() -> Column:
    """A whole result as the text of one JSON object, the payload in it as an object too."""
    from pyspark.sql import functions as f

    options = {"ignoreNullFields": "false", "timestampFormat": TIMESTAMPS, "timeZone": "UTC"}
    lead = f.to_json(f.struct(*OURS), options)  # ends with a quoted time or null, so with one brace
    payload = f.coalesce(f.col("payload"), f.lit("null"))
    return f.concat(f.rtrim(lead, f.lit("}")), f.lit(_PAYLOAD), payload, f.lit("}"))


def payload_in(text: str) -> str | None:
    r"""The payload in what `as_json` gave, letter by letter; in the values in front of it quotes are escaped.

    >>> payload_in(r'{"query_id":",\"payload\":","payload":{"price":1.50}}')
    '{"price":1.50}'
    """
    payload = text.partition(_PAYLOAD)[2].removesuffix("}")
    return None if payload == "null" else payload
