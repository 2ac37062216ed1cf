"""What is said of a stream's event time beside its columns: in the text of a schema, in a file's metadata, by options.

columns as text        symbol STRING, ts TIMESTAMP WITH (event_time = ts, lateness = '10 seconds')
Parquet and Arrow      metadata of the schema: eddyline.event_time, eddyline.lateness, ...
options                --event-time ts --lateness "10 seconds"; these come first
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa

from eddyline.errors import SchemaError, UsageError
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length, settled_length
from eddyline.service.files.named import split_name
from eddyline.sql.grammar.parse_literals import LiteralParser
from eddyline.sql.grammar.tokens import NUMBER, QUOTED, RAW_STRING, STRING, WORD

SETTINGS: Final = ("event_time", "lateness", "ahead", "idle")
_PREFIX: Final = "eddyline."  # of the keys in the metadata of a schema


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeOptions:
    """Options of a command, each written as VALUE for all of its streams, or as NAME=VALUE for one of them."""

    event_time: Sequence[str] = ()
    lateness: Sequence[str] = ()
    ahead: Sequence[str] = ()
    idle: Sequence[str] = ()

    def apply(self, streams: Iterable[Stream]) -> list[Stream]:
        """The streams with what the options say of them.

        >>> quotes = Stream("quotes", pa.schema([("ts", pa.timestamp("us"))]))
        >>> TimeOptions(event_time=["ts"], lateness=["quotes=90 s"]).apply([quotes])[0].lateness
        '1 minute 30 seconds'
        """
        known = list(streams)
        said = {name: self._by_stream(name, known) for name in SETTINGS}
        return [
            with_times(stream, {name: by.get(stream.name.lower(), by.get("")) for name, by in said.items()})
            for stream in known
        ]

    def _by_stream(self, setting: str, streams: Sequence[Stream]) -> dict[str, str]:
        """The values of one option by the streams that they are for, in lower case; "" for all others."""
        option, found = option_name(setting), dict[str, str]()
        names = {stream.name.lower() for stream in streams}
        for text in getattr(self, setting):
            named, value = split_name(text)
            name = named or ""
            if not streams:
                raise UsageError(f"{option} needs a stream: add --schema")
            if name and name.lower() not in names:
                raise UsageError(f'{option} names the stream "{name}", which has no --schema')
            if name.lower() in found:
                raise UsageError(f"{option} is given twice" + (f' for "{name}"' if name else ""))
            found[name.lower()] = value.strip()
        return found


NO_OPTIONS: Final = TimeOptions()


def stated_window(text: str | None) -> Length | None:
    """The length that `--join-window` says.

    >>> stated_window("300 s"), stated_window("100"), stated_window(None)
    ('5 minutes', 100, None)
    """
    try:
        return settled_length(text, option_name("join_window"))
    except SchemaError as error:
        raise UsageError(error.message + (f"; {error.hint}" if error.hint else "")) from None


def window_text(window: Length | None) -> str:
    """A join window for people.

    >>> window_text("5 minutes"), window_text(None)
    ('join window 5 minutes', 'no join window')
    """
    return "no join window" if window is None else f"join window {window}"


def option_name(setting: str) -> str:
    """What the option of a setting is called.

    >>> option_name("event_time")
    '--event-time'
    """
    return "--" + setting.replace("_", "-")


def with_times(stream: Stream, said: Mapping[str, str | None]) -> Stream:
    """A stream of which something is said; what is not said stays as it is."""
    given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    if not given:
        return stream
    column = given.get("event_time")
    if column is None and stream.event_time is None:
        option = option_name(next(iter(given)))
        raise UsageError(
            f'{option} speaks of an event time: name its column in "{stream.name}" with --event-time'
        )
    if column is not None:
        given["event_time"] = stream.spelling.get(column.lower(), column)
    return replace(stream, **given)


def split_metadata(schema: pa.Schema) -> tuple[pa.Schema, dict[str, str]]:
    """A schema without what its metadata says of the event time, and that."""
    metadata = dict(schema.metadata or {})
    found = {}
    for name in SETTINGS:
        value = metadata.pop((_PREFIX + name).encode(), None)
        if value is not None:
            found[name] = value.decode("utf-8", "replace")
    return (schema.with_metadata(metadata), found) if found else (schema, found)


def take_settings(cursor: LiteralParser) -> dict[str, str]:
    """Take `WITH (event_time = ts, lateness = '10 seconds')`, if it stands there, as metadata of a schema."""
    found: dict[str, str] = {}
    if not cursor.take_word("WITH"):
        return found
    opening = cursor.peek
    cursor.expect_symbol("(", "WITH wants settings in parentheses")
    while not found or cursor.take_symbol(","):
        token = cursor.peek
        name = cursor.spelled(cursor.advance()).lower()
        if name not in SETTINGS or _PREFIX + name in found:
            problem = "stands here twice" if name in SETTINGS else "is no setting of a stream"
            cursor.fail(f'"{cursor.source(token)}" {problem}', token=token)
        cursor.expect_symbol("=", f"{name} wants a value: {name} = ...")
        found[_PREFIX + name] = _value(cursor, name)
    cursor.expect_symbol(")", "the list of WITH is never closed", token=opening)
    return found


def _value(cursor: LiteralParser, name: str) -> str:
    token = cursor.peek
    if token.kind in (STRING, RAW_STRING):
        return cursor.string()
    is_column = name == "event_time" and token.kind in (WORD, QUOTED)
    if not is_column and token.kind != NUMBER:
        cursor.fail(
            f"{name} wants a column" if name == "event_time" else f"{name} wants a text such as '10 seconds'"
        )
    return cursor.spelled(cursor.advance())


def times_of(stream: Stream) -> dict[str, str | int]:
    """What a stream says of its event time, where it says something."""
    said = {name: getattr(stream, name) for name in SETTINGS}
    return {name: value for name, value in said.items() if value is not None}


def times_text(stream: Stream) -> str:
    """The same for people.

    >>> times_text(Stream("q", pa.schema([("ts", pa.timestamp("us"))]), "ts", "10 seconds"))
    'event time ts, lateness 10 seconds'
    """
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in times_of(stream).items())
