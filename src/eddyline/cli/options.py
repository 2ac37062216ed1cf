"""Options that several commands have, each with one meaning and one help text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Final

import typer

from eddyline import admission
from eddyline.cli.completion import query_ids
from eddyline.errors import UsageError
from eddyline.model.query_state import State
from eddyline.service.registries import DEFAULT, VARIABLE

HELP: Final = (
    "What the stream's columns are: a Parquet, Arrow, CSV or JSON file, a .ddl file, or text such as "
    "'symbol STRING, price DOUBLE'. NAME=SCHEMA names the stream, and may be given several times. A lone SCHEMA is "
    "the stream that the queries name. Text may end in WITH (event_time = ts, lateness = '10 seconds')."
)
Schemas = Annotated[list[str], typer.Option("--schema", metavar="[NAME=]SCHEMA", help=HELP)]
MaybeSchemas = Annotated[list[str] | None, typer.Option("--schema", metavar="[NAME=]SCHEMA", help=HELP)]
EventTimes = Annotated[
    list[str],
    typer.Option(
        "--event-time",
        metavar="[NAME=]COLUMN",
        help="The column that says when a tuple happened, which joins need: a timestamp, a date or a whole number.",
    ),
]
Latenesses = Annotated[
    list[str],
    typer.Option(
        "--lateness",
        metavar="[NAME=]LENGTH",
        help="How far behind the latest tuple others may come and still be joined, such as '10 seconds'.",
    ),
]
Aheads = Annotated[
    list[str],
    typer.Option(
        "--ahead",
        metavar="[NAME=]LENGTH",
        help="How far ahead of the clock tuples may be and still be joined. Default: 1 day.",
    ),
]
Idles = Annotated[
    list[str],
    typer.Option(
        "--idle",
        metavar="[NAME=]LENGTH",
        help="After how long a silent stream no longer holds back those that are joined with it. Kept for pipelines; "
        "an Engine is told by advance().",
    ),
]
JoinWindow = Annotated[
    str | None,
    typer.Option(
        "--join-window",
        metavar="LENGTH",
        help="How far apart tuples may be that a join without time bounds joins, such as '5 minutes'; "
        "a registry's own, if it is not given.",
    ),
]
FilesJoinWindow = Annotated[
    str | None,
    typer.Option(
        "--join-window",
        metavar="LENGTH",
        help="How far apart tuples may be that a join without time bounds joins, such as '5 minutes'.",
    ),
]
RegistryJoinWindow = Annotated[
    str | None,
    typer.Option(
        "--join-window",
        metavar="LENGTH",
        help="How far apart tuples may be that a join without time bounds joins, such as '5 minutes'. The registry keeps "
        "it, for all such joins; --join-window none removes it.",
    ),
]
StreamName = Annotated[str | None, typer.Option("--stream", help="Name of the stream of a lone SCHEMA.")]
TimeZone = Annotated[str, typer.Option(help="Session time zone, as Spark names them.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

# What is read.
QueryFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--queries",
        "-q",
        metavar="FILE",
        help="Queries: .sql, .jsonl, .json or .csv; may be given several times.",
    ),
]
MaybeRegistry = Annotated[
    str | None,
    typer.Option(
        "--registry",
        metavar="FILE_OR_URL",
        help=f"Queries of a registry. Without --queries: {VARIABLE}, else {DEFAULT} in this folder.",
    ),
]
StreamSources = Annotated[
    list[str] | None,
    typer.Option(
        "--stream",
        "-s",
        metavar="NAME=SOURCE",
        help="Rows of a stream: a file, a folder, a glob, or - for standard input; may be given several times.",
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT", help="parquet, arrow, csv, tsv or jsonl; otherwise the file's ending says it."
    ),
]
Rejected = Annotated[
    str | None, typer.Option(metavar="FILE", help="Where rows go that cannot be read, as JSON lines.")
]

# Queries of a registry.
RegistryOption = Annotated[
    str,
    typer.Option(
        "--registry",
        envvar=VARIABLE,
        metavar="FILE_OR_URL",
        help="Where the queries are kept: an SQLite file, or postgresql://user@host/database.",
    ),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="The query's name.", autocompletion=query_ids)]
Ids = Annotated[
    list[str], typer.Argument(metavar="[ID]...", help="Ids of queries.", autocompletion=query_ids)
]
Tags = Annotated[list[str], typer.Option("--tag", help="With this tag; several must all be there.")]
Owner = Annotated[str | None, typer.Option("--owner", help="Of this owner.")]
States = Annotated[State | None, typer.Option("--state", help="In this state.")]
Search = Annotated[
    str | None, typer.Option("--search", help="With this text in id, SQL, destination or metadata.")
]
VersionNumber = Annotated[
    int | None, typer.Option("--version", help="As of this version, instead of the newest.")
]

# Changes of a registry.
Author = Annotated[
    str | None, typer.Option("--author", help="Who makes the change; your login name if it is not given.")
]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept with the version.")]
Base = Annotated[
    int | None,
    typer.Option("--base", help="Refuse the change if the registry is not at this version any more."),
]
Redeclare = Annotated[
    bool,
    typer.Option(
        "--redeclare",
        help="Let --schema change a stream, and --join-window the registry's, if all queries still fit.",
    ),
]
OverBudget = Annotated[
    admission.OverBudget | None,
    typer.Option(
        "--over-budget", help="What becomes of a query that costs too much; else its budget says it."
    ),
]
IfSame = Annotated[
    admission.IfSame,
    typer.Option(
        "--if-same",
        help="What to do with a query that matches the same rows as another: warn (a note), refuse, shadow, or alias.",
    ),
]
IfImplied = Annotated[
    admission.IfImplied,
    typer.Option(
        "--if-implied",
        help="What to do with a query whose matches are all matched by another: warn (a note), refuse, or shadow.",
    ),
]


# Where rows are matched.
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
            raise UsageError(f"{name} means nothing with --runtime {runtime}: {why}")


def settings_of(texts: Sequence[str] | None) -> dict[str, str]:
    """Settings of Spark, written as KEY=VALUE."""
    settings = {}
    for text in texts or ():
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            raise UsageError(f'--spark is written as KEY=VALUE, such as spark.master=local[4], not "{text}"')
        settings[key.strip()] = value.strip()
    return settings
