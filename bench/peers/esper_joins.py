"""Esper joins windows in a JVM of its own, started here: a statement for each query, tuples one by one.

Its jars are fetched by Maven, into the folder of `EDDYLINE_ESPER` or `~/.cache/eddyline-bench/esper`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from bench.peers.missing import Missing
from bench.workloads.joins import BATCHES, SECOND, JoinWorkload

_JARS: Final = (
    "com.espertech:esper-common:8.9.0",
    "com.espertech:esper-compiler:8.9.0",
    "com.espertech:esper-runtime:8.9.0",
    "org.antlr:antlr4-runtime:4.9.3",
    "org.codehaus.janino:janino:3.1.9",
    "org.codehaus.janino:commons-compiler:3.1.9",
    "org.slf4j:slf4j-api:1.7.36",
    "org.slf4j:slf4j-nop:1.7.36",
)
_SOURCE: Final = Path(__file__).parent / "java" / "EsperJoins.java"
# Esper's windows leave out their end, and ours have it.
_WINDOW: Final = f"#time({BATCHES - 1}.000001 sec)"


def run(workload: JoinWorkload, tables: Mapping[str, pa.Table]) -> tuple[float, np.ndarray]:
    """Rows of both streams a second once windows are full, and how many pairs satisfy each query."""
    if shutil.which("javac") is None:
        raise Missing("there is no javac")
    path = os.pathsep.join(map(str, _jars()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        statements = [_statement(sides) for sides in workload.sides]
        (folder / "queries").write_text("\n".join(statements) + "\n")
        (folder / "rows").write_text(_lines(tables))
        _call("javac", "-cp", path, "-d", name, str(_SOURCE))
        files = [str(folder / "queries"), str(folder / "rows"), str(BATCHES * SECOND), str(folder / "out")]
        _call("java", "-Xmx4g", "-cp", os.pathsep.join([name, path]), "EsperJoins", *files)
        head, *counts = (folder / "out").read_text().splitlines()
    seconds, rows = map(float, head.split("\t"))
    return rows / seconds, np.array([int(count) for count in counts])


def _call(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"{command[0]} fails: {done.stderr.strip()[-500:]}")


def _jars() -> list[Path]:
    folder = Path(os.environ.get("EDDYLINE_ESPER", Path.home() / ".cache" / "eddyline-bench" / "esper"))
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for coordinates in _JARS:
        _, name, version = coordinates.split(":")
        path = folder / f"{name}-{version}.jar"
        if not path.exists():
            if shutil.which("mvn") is None:
                raise Missing(f"{path.name} is not in {folder}, and there is no Maven to fetch it")
            _call(
                "mvn",
                "-q",
                "-B",
                "dependency:copy",
                f"-Dartifact={coordinates}",
                f"-DoutputDirectory={folder}",
            )
        found.append(path)
    return found


def _statement(sides: tuple[str | None, str | None]) -> str:
    """A query in EPL; `price between a and b` and `price > a` are written as in SQL."""
    quotes, trades = (f"({side})" if side else "" for side in sides)
    conditions = [each.replace(" AND ", " and ").replace("BETWEEN", "between") for each in (quotes, trades)]
    return (
        f"select q.price as bid, t.price as price from Quote{conditions[0]}{_WINDOW} as q, "
        f"Trade{conditions[1]}{_WINDOW} as t where q.symbol = t.symbol"
    )


def _lines(tables: Mapping[str, pa.Table]) -> str:
    columns = []
    for number, table in enumerate(tables.values()):
        times = np.asarray(table.column("ts").cast(pa.int64()))
        columns += list(
            zip(
                times.tolist(),
                [number] * len(times),
                table.column("symbol").to_pylist(),
                table.column("price").to_pylist(),
                strict=True,
            )
        )
    columns.sort(key=lambda row: row[0])
    return "".join(f"{time}\t{stream}\t{symbol}\t{price!r}\n" for time, stream, symbol, price in columns)
