"""How long a registry of 100,000 queries takes: SQL text in, listed, searched, out again, by the command itself.

There is no peer: the ratio is 1, and `equal` says that what came out is what went in.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from bench.measure import Setting
from bench.record import Record
from bench.workloads.texts import QUOTES, few_shapes
from eddyline.cli import app
from eddyline.registry import Registry

QUERIES = 100_000
TAGS = 1_000  # every tag is on one query of so many


def run(setting: Setting) -> Iterator[Record]:
    """Seconds of `query import`, `list`, `list --tag` and `export`, on an SQLite file."""
    count = min(setting.queries, 2_000 if setting.quick else QUERIES)
    with tempfile.TemporaryDirectory() as folder:
        source, copy, where = (Path(folder) / name for name in ("in.jsonl", "out.jsonl", "registry.db"))
        _write(source, few_shapes(count))
        with Registry.open(where) as registry:
            registry.declare(QUOTES)
        tag = f"t{min(7, TAGS - 1)}"
        for name, command in (
            ("import", ["import", str(source)]),
            ("list", ["list"]),
            ("search", ["list", "--tag", tag]),
            ("export", ["export", str(copy)]),
        ):
            seconds, printed = _seconds(["query", *command, "--registry", str(where)])
            yield _record(f"registry {name}", count, seconds, _is_right(name, printed, source, copy, count))


def _write(path: Path, texts: list[str]) -> None:
    with path.open("w") as file:
        for number, text in enumerate(texts):
            tags = [f"t{number % TAGS}", "all"]
            file.write(
                json.dumps({"id": f"q{number}", "sql": text, "tags": tags, "owner": f"o{number % 50}"}) + "\n"
            )


def _seconds(command: list[str]) -> tuple[float, str]:
    start = time.perf_counter()
    with contextlib.redirect_stderr(io.StringIO()):
        result = CliRunner().invoke(app, command)
    if result.exit_code != 0:
        raise AssertionError(result.output[-2_000:])
    return time.perf_counter() - start, result.output


def _is_right(name: str, printed: str, source: Path, copy: Path, count: int) -> bool:
    if name == "search":
        return len(printed.splitlines()) == 2 + len(range(min(7, TAGS - 1), count, TAGS))
    if name == "export":
        return _read(source) == _read(copy)
    return f"{count:,}" in printed.splitlines()[-1]


def _read(path: Path) -> list[tuple[str, str, list[str], str]]:
    records = map(json.loads, path.read_text().splitlines())
    return [(r["id"], r["sql"].strip(), sorted(r["tags"]), r["owner"]) for r in records]


def _record(name: str, count: int, seconds: float, right: bool) -> Record:
    return Record(name, count, 0, "seconds", seconds, "none", seconds, 1.0, right)
