"""A TOML file to the settings of a pipeline; what is wrong with them is said here, before anything starts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, cast, get_args

from eddyline.config import StrategyName
from eddyline.errors import FileError
from eddyline.functions.zones import find_zone
from eddyline.runtime.spark.base.addresses import LAST_PORT, ListenAddress
from eddyline.runtime.spark.base.folders import check_apart
from eddyline.runtime.spark.base.remote_folders import is_address
from eddyline.runtime.spark.base.secrets import Secret, Value
from eddyline.runtime.spark.base.settings import (
    AVAILABLE_NOW,
    KEEP_DAYS,
    NAME,
    RETRIES,
    STALLED_AFTER,
    STOP_WITHIN,
    Columns,
    Part,
    PipelineSettings,
    SessionSettings,
    SinkSettings,
    SourceSettings,
)
from eddyline.runtime.spark.base.toml_table import TomlTable

FILE_FORMATS: Final = ("json", "csv", "parquet", "orc", "text", "xml", "avro", "binaryfile")
_TRIGGER: Final = re.compile(r"\d+ (millisecond|second|minute|hour|day)s?")
_MOST_DAYS: Final = 36_500
_MOST_RETRIES: Final = 1_000_000
_MOST_SECONDS: Final = 10_000_000


def read(path: Path) -> PipelineSettings:
    """The settings in a file."""
    file = str(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{file} is not TOML: {error}") from error
    tables = TomlTable(file, "the file", document)
    main = TomlTable(file, "[pipeline]", document.get("pipeline", {}))
    session = TomlTable(file, "[session]", document.get("session", {}))
    sources = _numbered(file, "source", document)
    sinks = _numbered(file, "sink", document)
    for key in ("pipeline", "session", "source", "sink"):
        tables.known(key)
    tables.end()
    return _checked(_pipeline(main, path.absolute().parent, sources, sinks, session, file), file)


def _pipeline(
    table: TomlTable,
    folder: Path,
    sources: Iterable[TomlTable],
    sinks: Iterable[TomlTable],
    session: TomlTable,
    file: str,
) -> PipelineSettings:
    name = table.needed("name")
    registry = table.value("registry")
    if not registry:
        table.fail('"registry" is missing', "the file or the address of the registry")
    settings = PipelineSettings(
        name=name,
        registry=_place(folder, registry),
        checkpoint=_resolved(folder, table.needed("checkpoint")),
        trigger=_trigger(table),
        time_zone=_zone(table),
        dead_letters=_resolved(folder, table.text("dead_letters", "") or ""),
        prometheus=_listening(table),
        stalled_after=cast(int, table.number("stalled_after", STALLED_AFTER, 0, _MOST_SECONDS)),
        stop_within=cast(int, table.number("stop_within", STOP_WITHIN, 0, _MOST_SECONDS)),
        functions=table.texts("functions"),
        quarantine=table.flag("quarantine", True),
        keep_days=cast(int, table.number("keep_days", KEEP_DAYS, 1, _MOST_DAYS)),
        retries=cast(int, table.number("retries", RETRIES, 0, _MOST_RETRIES)),
        order=cast(StrategyName, table.text("order", "adaptive", allowed=get_args(StrategyName))),
        sources=tuple(_source(one, folder) for one in sources),
        sinks=tuple(_sink(one, folder) for one in sinks),
        session=_session(session),
        file=file,
    )
    table.end()
    return settings


def _source(table: TomlTable, folder: Path) -> SourceSettings:
    name = _name(table)
    format = table.needed("format").lower()
    path = table.text("path")
    if path is None and format in FILE_FORMATS:
        table.fail('"path" is missing', f"the folder where {format} files arrive")
    source = SourceSettings(
        name=name,
        format=format,
        stream=table.text("stream", "") or "",
        path=None if path is None else _resolved(folder, path),
        key=table.texts("key"),
        schema=table.text("schema"),
        strict=table.flag("strict", False),
        options=_options(table),
    )
    table.end()
    return source


def _sink(table: TomlTable, folder: Path) -> SinkSettings:
    name = _name(table)
    format = table.needed("format").lower()
    path = table.text("path")
    sink = SinkSettings(
        name=name,
        format=format,
        path=None if path is None else _resolved(folder, path),
        default=table.flag("default", False),
        partition_by=cast(tuple[Part, ...], table.texts("partition_by", allowed=("date", "query"))),
        columns=cast(Columns, table.text("columns", "auto", allowed=("auto", "payload", "typed"))),
        url=table.value("url"),
        allow=table.texts("allow"),
        callback=table.text("callback"),
        options=_options(table),
    )
    table.end()
    for key, formats, value in (
        ("path", FILE_FORMATS, sink.path),
        ("url", ("webhook",), sink.url or sink.allow or None),
        ("callback", ("callback",), sink.callback),
    ):
        if format in formats and value is None:
            table.fail(f'"{key}" is missing', f"a sink of format {format} needs it")
    return sink


def _session(table: TomlTable) -> SessionSettings:
    cores = table.number("cores", None, 1, 100_000)
    remote = table.text("remote")
    master = table.value("master")
    settings = table.rest_as_options()
    for name in settings:
        if not name.startswith("spark."):
            table.fail(
                f'"{name}" is not a setting of Spark', "allowed: cores, master, remote, and names with spark."
            )
    if master is not None:
        settings["spark.master"] = master
    return SessionSettings(cores=cores, remote=remote, settings=settings)


def _numbered(file: str, key: str, document: dict[str, Any]) -> list[TomlTable]:
    """The tables of an array of tables, each called by its name, or by its number where it has none."""
    tables = document.get(key, [])
    if not isinstance(tables, list):
        raise FileError(f"{file}: [{key}] must be written [[{key}]]", hint="there may be several")
    titles = [table.get("name") if isinstance(table, dict) else None for table in tables]
    return [
        TomlTable(
            file, f'[[{key}]] "{title}"' if isinstance(title, str) else f"[[{key}]] number {number}", table
        )
        for number, (title, table) in enumerate(zip(titles, tables, strict=True), 1)
    ]


def _name(table: TomlTable) -> str:
    name = table.needed("name")
    if not NAME.fullmatch(name):
        table.fail(
            f'"{name}" cannot be a name', "letters, digits, _ . and -, at most 100, a letter or digit first"
        )
    return name


def _options(table: TomlTable) -> dict[str, Value]:
    options = table.options("options")
    if any(name.lower() == "path" for name in options):
        table.fail('"path" stands among the options', "write it beside them: path = ...")
    return options


def _trigger(table: TomlTable) -> str:
    trigger = " ".join((table.text("trigger", "1 second") or "").lower().split())
    if trigger != AVAILABLE_NOW and not _TRIGGER.fullmatch(trigger):
        table.fail(
            f'"trigger" is "{trigger}", which is not allowed', f'write "10 seconds" or "{AVAILABLE_NOW}"'
        )
    return trigger


def _listening(table: TomlTable) -> int | str | None:
    where = table.number_or_text("prometheus", 0, LAST_PORT)
    try:
        if where is not None:
            ListenAddress.of(where)
        return where
    except ValueError as error:
        table.fail(f'"prometheus": {error}', 'a port of 127.0.0.1, or an address with one: "0.0.0.0:9108"')


def _zone(table: TomlTable) -> str:
    zone = table.text("time_zone", "UTC") or ""
    if find_zone(zone) is None:
        table.fail(f'"time_zone" is "{zone}", which is no time zone', "write Europe/Vienna or +02:00")
    return zone


def _place(folder: Path, where: Value) -> Value:
    return where if isinstance(where, Secret) else _resolved(folder, where)


def _resolved(folder: Path, path: str) -> str:
    """A path relative to the settings' folder as an absolute one; an address stays."""
    return path if not path or is_address(path) else str((folder / path).absolute())


def _checked(settings: PipelineSettings, file: str) -> PipelineSettings:
    """What tables cannot see of one another."""
    for key, several in (("source", settings.sources), ("sink", settings.sinks)):
        if not several:
            raise FileError(f"{file}: there is no [[{key}]]", hint=f"a pipeline needs at least one {key}")
        _all_different(file, key, [one.name for one in several])
    defaults = [sink.name for sink in settings.sinks if sink.default]
    if len(defaults) > 1:
        raise FileError(f"{file}: the sinks {' and '.join(defaults)} both have default = true")
    check_apart(settings)
    return settings


def _all_different(file: str, key: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise FileError(f'{file}: there are two [[{key}]] with the name "{name}"')
        seen.add(name.lower())
