"""What is said of event times: in the text of a schema, in the metadata of files, by options of commands."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from eddyline.errors import EddylineError, QueryError, SchemaError, UsageError
from eddyline.model.catalog import Stream
from eddyline.service.files.event_times import TimeOptions, times_of
from eddyline.service.files.schemas import read_source, streams_of

COLUMNS = "symbol STRING, ts TIMESTAMP, day DATE, number BIGINT"


def stream(option: str, times: TimeOptions = TimeOptions()) -> Stream:  # noqa: B008 (it is frozen)
    return streams_of([read_source(option)], [], name=None, times=times)[0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("event_time = ts", {"event_time": "ts"}),
        ("event_time = `TS`, lateness = '90 s'", {"event_time": "ts", "lateness": "1 minute 30 seconds"}),
        ("Event_Time = 'day', LATENESS = r'2 weeks'", {"event_time": "day", "lateness": "14 days"}),
        ("event_time = number, lateness = 5", {"event_time": "number", "lateness": 5}),
        (
            "lateness = '0 s', ahead = '2 hours', idle = '1 min', event_time = ts",
            {"event_time": "ts", "lateness": "0 seconds", "ahead": "2 hours", "idle": "1 minute"},
        ),
    ],
)
def test_text_of_a_schema(tmp_path: Path, settings: str, said: dict[str, object]) -> None:
    text = f"{COLUMNS} WITH ({settings})"
    assert times_of(stream(f"quotes={text}")) == said
    (tmp_path / "quotes.ddl").write_text(f"-- quotes\n{text};\n")
    found = stream(str(tmp_path / "quotes.ddl"))
    assert times_of(found) == said and found.schema.metadata in (None, {})
    assert found.name == "quotes" and found.schema.names == ["symbol", "ts", "day", "number"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{COLUMNS} WITH", "WITH wants settings in parentheses"),
        (f"{COLUMNS} WITH ()", '")" is no setting of a stream'),
        (f"{COLUMNS} WITH (latness = '1 s')", '"latness" is no setting of a stream'),
        (f"{COLUMNS} WITH (event_time ts)", "event_time wants a value"),
        (f"{COLUMNS} WITH (event_time = )", "event_time wants a column"),
        (f"{COLUMNS} WITH (event_time = ts, event_time = ts)", '"event_time" stands here twice'),
        (f"{COLUMNS} WITH (event_time = ts, lateness = 10 seconds)", '"seconds" was not expected here'),
        (f"{COLUMNS} WITH (event_time = ts, lateness = seconds)", "lateness wants a text such as"),
        (f"{COLUMNS} WITH (event_time = ts, lateness = -5)", "lateness wants a text such as"),
        (f"{COLUMNS} WITH (event_time = ts", "the list of WITH is never closed"),
        (f"{COLUMNS} WITH (event_time = ts) WITH (idle = '1 s')", '"WITH" was not expected here'),
        (f"{COLUMNS}, WITH (event_time = ts)", "a type should stand here"),
        ("WITH (event_time = ts)", "a type should stand here"),
    ],
)
def test_text_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        read_source(text)
    assert caught.value.message.startswith(f"the schema cannot be read: {message}")
    assert caught.value.span is not None


def test_metadata_of_files(tmp_path: Path) -> None:
    said = {b"eddyline.event_time": b"ts", b"eddyline.lateness": b"10 seconds", b"mine": b"stays"}
    table = pa.table({"ts": pa.array([1], pa.timestamp("us"))}).replace_schema_metadata(said)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_file(str(tmp_path / "b.arrow"), table.schema) as file:
        file.write_table(table)
    for name in ("a.parquet", "b.arrow"):
        found = stream(str(tmp_path / name))
        assert times_of(found) == {"event_time": "ts", "lateness": "10 seconds"}
        assert found.schema.metadata == {b"mine": b"stays"}
    table = table.replace_schema_metadata({b"eddyline.event_time": b"\xff\xfe"})
    pyarrow.parquet.write_table(table, tmp_path / "c.parquet")
    with pytest.raises(SchemaError, match="to be its event time"):
        stream(str(tmp_path / "c.parquet"))


def test_options_come_before_the_file() -> None:
    text = f"{COLUMNS} WITH (event_time = ts, lateness = '10 seconds', idle = '1 hour')"
    options = TimeOptions(lateness=["1 minute"], ahead=["2 days"])
    assert times_of(stream(text, options)) == {
        "event_time": "ts",
        "lateness": "1 minute",
        "ahead": "2 days",
        "idle": "1 hour",
    }


def test_options_for_all_streams_and_for_one() -> None:
    sources = [read_source(f"{name}={COLUMNS}") for name in ("quotes", "trades", "news")]
    options = TimeOptions(event_time=["ts", "News=day"], lateness=["10 seconds", "news=3 days"])
    found = streams_of(sources, [], name=None, times=options)
    assert [(each.event_time, each.lateness) for each in found] == [
        ("ts", "10 seconds"),
        ("ts", "10 seconds"),
        ("day", "3 days"),
    ]


def test_without_options_a_stream_is_itself() -> None:
    quotes = Stream("quotes", pa.schema([("ts", pa.timestamp("us"))]), "ts")
    assert TimeOptions().apply([quotes])[0] is quotes


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (TimeOptions(event_time=["when"]), SchemaError, 'has no column "when" to be its event time'),
        (TimeOptions(event_time=["symbol"], lateness=["1 s"]), SchemaError, "has the type string"),
        (
            TimeOptions(event_time=["ts"], lateness=["soon"]),
            SchemaError,
            "lateness 'soon' is no length of time",
        ),
        (
            TimeOptions(event_time=["ts"], lateness=["2 months"]),
            SchemaError,
            "lateness '2 months' is no length",
        ),
        (
            TimeOptions(event_time=["ts"], lateness=["-5 seconds"]),
            SchemaError,
            "lateness '-5 seconds' is no length",
        ),
        (TimeOptions(event_time=["ts"], lateness=["5"]), SchemaError, "lateness '5' is no length of time"),
        (TimeOptions(event_time=["ts"], lateness=[""]), SchemaError, "lateness '' is no length of time"),
        (
            TimeOptions(event_time=["ts"], idle=["a while"]),
            SchemaError,
            "idle 'a while' is no length of time",
        ),
        (
            TimeOptions(event_time=["day"], lateness=["5 hours"]),
            SchemaError,
            "does not fit an event time that is a date",
        ),
        (TimeOptions(event_time=["number"], lateness=["5 hours"]), SchemaError, "that is a whole number"),
        (
            TimeOptions(event_time=["number"], lateness=["-5"]),
            SchemaError,
            "does not fit an event time that is a whole",
        ),
        (TimeOptions(event_time=["number"], ahead=["5"]), SchemaError, "which no clock shows"),
        (TimeOptions(event_time=["ts"], lateness=["9" * 19 + " weeks"]), SchemaError, "is too long"),
        (TimeOptions(lateness=["5 seconds"]), UsageError, "name its column in .* with --event-time"),
        (TimeOptions(event_time=["trades=ts"]), UsageError, '--event-time names the stream "trades"'),
        (TimeOptions(event_time=["ts", "day"]), UsageError, "--event-time is given twice"),
        (
            TimeOptions(event_time=["ts"], idle=["q=1 s", "Q=2 s"]),
            UsageError,
            '--idle is given twice for "Q"',
        ),
    ],
)
def test_options_that_make_no_sense(options: TimeOptions, kind: type[EddylineError], message: str) -> None:
    with pytest.raises(kind, match=message):
        stream(f"q={COLUMNS}", options)


def test_options_without_a_schema() -> None:
    with pytest.raises(UsageError, match="--ahead needs a stream"):
        streams_of([], [], name=None, times=TimeOptions(ahead=["1 day"]))
