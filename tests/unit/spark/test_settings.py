"""Settings of pipelines: every mistake names the file, the table and the key, and no secret is ever shown."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from pathlib import Path

import pytest

from eddyline.errors import FileError
from eddyline.runtime.spark.base.secrets import Secret, revealed_all, scrubbed, secrets_in
from eddyline.runtime.spark.base.settings import (
    PipelineSettings,
    SinkSettings,
    SourceSettings,
    read_settings,
)
from eddyline.spark import Pipeline

COMPLETE = """
[pipeline]
name = "market"
registry = "market.db"
checkpoint = "state"
trigger = "10  Seconds"
time_zone = "Europe/Vienna"
prometheus = 9108
functions = ["my_udf"]
quarantine = false
retries = 2
keep_days = 7
order = "fixed"

[session]
master = "local[2,4]"
cores = 2
spark.sql.shuffle.partitions = 2
"spark.driver.memory" = "1g"

[[source]]
name = "quotes"
format = "JSON"
path = "incoming"
key = ["id"]
options = { maxFilesPerTrigger = 1, multiLine = false }

[[source]]
name = "trades"
stream = "trade"
format = "kafka"
options = { kafka.bootstrap.servers = "h:9092", "kafka.sasl.jaas.config" = "hush-jaas", subscribe = "t" }

[[sink]]
name = "results"
format = "parquet"
path = "out"
default = true
partition_by = ["date", "query"]

[[sink]]
name = "hooks"
format = "webhook"
url = "https://example.com/hook?key=${env:HOOK_KEY}"
allow = ["https://example.com/other"]
"""

SMALL = """
[pipeline]
name = "p"
registry = "r.db"
checkpoint = "s"
[[source]]
name = "a"
format = "rate"
[[sink]]
name = "out"
format = "console"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOOK_KEY", "hush-hook")
    return tmp_path


def read(folder: Path, text: str) -> PipelineSettings:
    file = folder / "p.toml"
    file.write_text(text, encoding="utf-8")
    return read_settings(file)


def refusal(folder: Path, text: str) -> FileError:
    with pytest.raises(FileError) as caught:
        read(folder, text)
    return caught.value


def test_complete(folder: Path) -> None:
    settings = read(folder, COMPLETE)
    assert settings.registry == str(folder / "market.db")
    assert settings.checkpoint == str(folder / "state")
    assert settings.dead_letter_folder == str(folder / "state" / "dead-letters")
    moved = replace(settings, checkpoint=str(folder / "other"))
    assert moved.dead_letter_folder == str(folder / "other" / "dead-letters")
    assert (settings.trigger, settings.time_zone, settings.retries) == ("10 seconds", "Europe/Vienna", 2)
    assert settings.keep_days == 7
    assert (settings.prometheus, settings.functions, settings.quarantine) == (9108, ("my_udf",), False)
    assert settings.order == "fixed"
    assert settings.session.cores == 2
    assert settings.session.settings == {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.master": "local[2,4]",
    }
    quotes, trades = settings.sources
    assert (quotes.stream, quotes.format, quotes.path) == ("quotes", "json", str(folder / "incoming"))
    assert (quotes.key, quotes.options) == (("id",), {"maxFilesPerTrigger": "1", "multiLine": "false"})
    assert (trades.stream, trades.path) == ("trade", None)
    assert revealed_all(trades.options)["kafka.bootstrap.servers"] == "h:9092"
    results, hooks = settings.sinks
    assert (results.path, results.partition_by, results.default) == (
        str(folder / "out"),
        ("date", "query"),
        True,
    )
    assert isinstance(hooks.url, Secret)
    assert hooks.url.reveal() == "https://example.com/hook?key=hush-hook"


def test_where_it_listens_and_how_long_it_waits(folder: Path) -> None:
    more = 'prometheus = "0.0.0.0:9108"\nstalled_after = 0\nstop_within = 5\n'
    settings = read(folder, COMPLETE.replace("prometheus = 9108\n", more))
    assert (settings.prometheus, settings.stalled_after, settings.stop_within) == ("0.0.0.0:9108", 0, 5)
    default = read(folder, COMPLETE)
    assert (default.stalled_after, default.stop_within) == (900, 60)


def test_secrets_are_not_shown(folder: Path) -> None:
    settings = read(folder, COMPLETE)
    assert "hush" not in repr(settings)
    assert {secret.reveal() for secret in secrets_in(settings)} == {
        "https://example.com/hook?key=hush-hook",
        "hush-jaas",
    }
    assert scrubbed("login: hush-jaas!", secrets_in(settings)) == "login: ***!"


def test_settings_travel(folder: Path) -> None:
    settings = read(folder, COMPLETE)
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_the_only_sink_is_the_default(folder: Path) -> None:
    sink = read(folder, SMALL).default_sink
    assert sink is not None and sink.name == "out"


def test_addresses_stay_as_they_are(folder: Path) -> None:
    text = SMALL.replace('"r.db"', '"postgresql://ann@host/db"').replace(
        'format = "rate"', 'format = "parquet"\npath = "s3a://bucket/in"'
    )
    settings = read(folder, text)
    assert settings.registry == "postgresql://ann@host/db"
    assert settings.sources[0].path == "s3a://bucket/in"


@pytest.mark.parametrize(
    ("before", "after", "message", "hint"),
    [
        ('name = "p"', "", '[pipeline]: "name" is missing', None),
        ('registry = "r.db"', "", '[pipeline]: "registry" is missing', "registry"),
        ('checkpoint = "s"', 'chekpoint = "s"', '"checkpoint" is missing', 'did you mean "checkpoint"?'),
        (
            'checkpoint = "s"',
            'checkpoint = "s"\ntriger = 3',
            '"triger" is not known',
            'did you mean "trigger"?',
        ),
        ('checkpoint = "s"', 'checkpoint = "s"\ntrigger = "often"', '"trigger" is "often"', "available now"),
        ('checkpoint = "s"', 'checkpoint = "s"\ntime_zone = "Wien"', "no time zone", "Europe/Vienna"),
        ('checkpoint = "s"', 'checkpoint = "s"\nprometheus = 70000', "70000, and may be 0 to 65535", None),
        ('checkpoint = "s"', 'checkpoint = "s"\nprometheus = ":9"', "no address in front of", "0.0.0.0:9108"),
        (
            'checkpoint = "s"',
            'checkpoint = "s"\nprometheus = "all"',
            '"all" is neither a port',
            "0.0.0.0:9108",
        ),
        ('checkpoint = "s"', 'checkpoint = "s"\nprometheus = "::1:9"', "in brackets", None),
        ('checkpoint = "s"', 'checkpoint = "s"\nprometheus = true', "must be a whole number", None),
        ('checkpoint = "s"', 'checkpoint = "s"\nstop_within = -1', "-1, and may be 0 to", None),
        ('checkpoint = "s"', 'checkpoint = "s"\norder = "best of all"', '"order"', "adaptive"),
        ('checkpoint = "s"', 'checkpoint = "s"\nkeep_days = 0', "may be 1 to 36500", None),
        ('checkpoint = "s"', 'checkpoint = "s"\nretries = true', "must be a whole number, not true", None),
        (
            'checkpoint = "s"',
            'checkpoint = "${env:HOOK_KEY}"',
            "cannot be read from the environment",
            "options",
        ),
        ('format = "rate"', "", '[[source]] "a": "format" is missing', None),
        ('format = "rate"', 'format = "json"', '[[source]] "a": "path" is missing', "json"),
        ('format = "rate"', 'format = "rate"\nkey = "id"', '"key" must be a list of texts, not "id"', None),
        ('format = "rate"', 'format = "rate"\noptions = { path = "x" }', "among the options", "path = ..."),
        (
            'format = "rate"',
            'format = "rate"\noptions = { a = "${env:NOT_THERE}" }',
            '"a": the environment has no variable NOT_THERE',
            "set NOT_THERE",
        ),
        ('format = "rate"', 'format = "rate"\noptions = { a = [1] }', 'the option "a" must be a text', None),
        ('name = "a"', 'name = "../a"', '"../a" cannot be a name', "letters"),
        ('name = "a"', "", '[[source]] number 1: "name" is missing', None),
        (
            'format = "console"',
            'format = "console"\npartition_by = ["day"]',
            '[[sink]] "out": "partition_by" is "day", which is not allowed',
            "allowed: date, query",
        ),
        (
            'format = "console"',
            'format = "console"\ncolumns = "typd"',
            "not allowed",
            'did you mean "typed"?',
        ),
        ('format = "console"', 'format = "webhook"', '[[sink]] "out": "url" is missing', "webhook"),
        ('format = "console"', 'format = "callback"', '"callback" is missing', "callback"),
        ("[[sink]]", "[sink]", "[sink] must be written [[sink]]", "several"),
        ("[[source]]", "[[sourse]]", '"sourse" is not known', 'did you mean "source"?'),
        ("[pipeline]", "[session]\nmemory = 1\n[pipeline]", '"memory" is not a setting of Spark', "spark."),
        ("[pipeline]", "[pipeline", "is not TOML", None),
    ],
)
def test_mistakes(folder: Path, before: str, after: str, message: str, hint: str | None) -> None:
    assert before in SMALL
    error = refusal(folder, SMALL.replace(before, after))
    assert error.message.startswith(str(folder / "p.toml"))
    assert message in error.message
    assert hint is None or (error.hint is not None and hint in error.hint)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('[[source]]\nname = "A"\nformat = "rate"', 'two [[source]] with the name "A"'),
        ('[[sink]]\nname = "out"\nformat = "console"', 'two [[sink]] with the name "out"'),
        (
            '[[sink]]\nname = "b"\nformat = "console"\ndefault = true\n'
            '[[sink]]\nname = "c"\nformat = "console"\ndefault = true',
            "the sinks b and c both have default = true",
        ),
        (
            '[[source]]\nname = "b"\nformat = "json"\npath = "x"\n[[sink]]\nname = "b"\nformat = "json"\npath = "x"',
            'the sink "b" would be written where the source "b" reads',
        ),
        (
            '[[source]]\nname = "b"\nformat = "json"\npath = "x"\n[[sink]]\nname = "b"\nformat = "json"\npath = "./x/y"',
            'the sink "b" would be written where the source "b" reads',
        ),
        (
            '[[sink]]\nname = "b"\nformat = "json"\npath = "x"\n[[sink]]\nname = "c"\nformat = "json"\npath = "x/y"',
            'the sink "c" would be written into the folder of the sink "b"',
        ),
        (
            '[[sink]]\nname = "b"\nformat = "json"\npath = "."',
            'the checkpoint would be written into the folder of the sink "b"',
        ),
        (
            '[[source]]\nname = "b"\nformat = "json"\npath = "."',
            'the checkpoint would be written where the source "b" reads',
        ),
    ],
)
def test_tables_that_do_not_go_together(folder: Path, more: str, message: str) -> None:
    assert message in refusal(folder, SMALL + more).message


def test_folders_apart_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings made in Python are looked at too, relative paths as they are meant."""
    monkeypatch.chdir(tmp_path)
    settings = PipelineSettings(
        name="p",
        registry="r.db",
        checkpoint="state",
        sources=(SourceSettings(name="a", format="json", path=str(tmp_path / "in")),),
        sinks=(SinkSettings(name="out", format="json", path="out"),),
    )
    assert Pipeline(settings).settings is settings
    for wrong in (
        replace(settings, checkpoint="in/../in/state"),
        replace(settings, dead_letters="in"),
        replace(settings, sinks=(SinkSettings(name="out", format="json", path=f"file://{tmp_path}/in/out"),)),
    ):
        with pytest.raises(FileError, match='would be written where the source "a" reads'):
            Pipeline(wrong)


def test_nothing_to_read_from(folder: Path) -> None:
    text = SMALL.replace('[[source]]\nname = "a"\nformat = "rate"\n', "")
    assert "there is no [[source]]" in refusal(folder, text).message


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read_settings(tmp_path / "missing.toml")


def test_the_example_of_the_page(folder: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "pipeline.md").read_text()
    example, *_ = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    settings = read(folder, example)
    assert settings.default_sink is not None and settings.sources[0].stream == "quotes"
