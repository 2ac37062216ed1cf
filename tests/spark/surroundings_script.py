"""Sessions of a pipeline's own with secrets in all settings, and sessions whose workers lack the package.

Called as `python -m tests.spark.surroundings_script FOLDER` with HUSH in the environment; everything that a user would see
is printed, and in the last line, as JSON, what came of it. One process: Java starts once for all sessions.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from typer.testing import CliRunner

import eddyline
from eddyline import QuerySet
from eddyline.cli import app
from eddyline.delivery.retry import Patience
from eddyline.errors import EddylineError
from eddyline.runtime.spark.base.settings import read_settings
from eddyline.runtime.spark.pipeline import supervision
from eddyline.runtime.spark.pipeline.batch import run as batches
from eddyline.spark import Pipeline, match, session
from tests.conftest import SPARK_SETTINGS
from tests.spark.pipelines import QUOTES, Place, quotes

SETTINGS = """
[pipeline]
name = "market"
registry = "${{env:HUSH_REGISTRY}}"
checkpoint = "{name}/state"
trigger = "available now"
retries = 1

[session]
cores = 1
"spark.hadoop.fs.s3a.access.key" = "${{env:HUSH}}"
"spark.hadoop.some.plain.name" = "x-${{env:HUSH}}-y"
{session}

[[source]]
name = "quotes"
format = "json"
path = "{name}/quotes"
options = {{ maxFilesPerTrigger = 1, apiToken = "${{env:HUSH}}", plain = "at:${{env:HUSH}}" }}

[[sink]]
name = "results"
format = "parquet"
path = "{name}/out"
options = {{ {options} }}
"""
REFUSED = """compression = "${env:HUSH}", password = "${env:HUSH}" """  # Spark's refusal quotes the value
HIDDEN = """
import os, sys
sys.path[:] = [path for path in sys.path if not os.path.isdir(os.path.join(path or ".", "eddyline"))]
"""
SHORT = Patience(attempts=2, first=0.01, longest=0.02)


class Scene:
    """Pipelines in one folder, over one registry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hidden = folder / "hidden"
        self.hidden.mkdir()
        (self.hidden / "sitecustomize.py").write_text(HIDDEN)
        Place(folder).register({"all": "SELECT id FROM quotes WHERE id > 0"})
        (folder / "registry.db").rename(os.environ["HUSH_REGISTRY"])

    def pipeline(self, name: str, *, options: str = "", session: dict[str, Any] | None = None) -> Path:
        """The settings of a pipeline with a file to read."""
        (self.folder / name).mkdir()
        Place(self.folder / name).write("a.json", quotes(0, 3))
        given = {**SPARK_SETTINGS, **(session or {})}
        lines = "\n".join(f'"{key}" = {json.dumps(value)}' for key, value in given.items())
        file = self.folder / f"{name}.toml"
        file.write_text(SETTINGS.format(name=name, options=options, session=lines))
        return file

    @property
    def without_package(self) -> dict[str, str]:
        return {"spark.executorEnv.PYTHONPATH": str(self.hidden)}

    def package(self) -> str:
        """The package as --py-files takes it."""
        source = Path(eddyline.__file__).parent
        draft = self.folder / "package" / "eddyline"
        shutil.copytree(source, draft, ignore=shutil.ignore_patterns("__pycache__"))
        return shutil.make_archive(str(self.folder / "eddyline"), "zip", draft.parent)


def call(*arguments: object) -> str:
    """What the command line says, also printed."""
    told = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    print(told.output)  # noqa: T201
    return told.output


def failure(action: Callable[[], object]) -> str:
    """What an action fails of, also printed."""
    try:
        action()
    except Exception as error:
        name = "EddylineError" if isinstance(error, EddylineError) else type(error).__name__
        print(repr(error), error)  # noqa: T201
        return f"{name}: {error}"
    return ""


def secrets(scene: Scene) -> dict[str, Any]:
    """Plan, run, metrics and status of a pipeline whose sink refuses a secret."""
    file = scene.pipeline("secrets", options=REFUSED)
    plan = call("run", file, "--dry-run")
    log = call("run", file, "--log", scene.folder / "secrets.jsonl")
    with Pipeline(replace(read_settings(file), prometheus=0)).start() as running:
        assert running.endpoint is not None
        with urlopen(running.endpoint.url) as answer:
            print(answer.read().decode())  # noqa: T201
        told = failure(lambda: running.await_termination(60))
        print(repr(running.settings), running.status, running.problems)  # noqa: T201
    registry = Path(os.environ["HUSH_REGISTRY"])
    content = registry.read_bytes()
    registry.write_bytes(b"damaged" * 1000)
    damaged = call("run", file)
    registry.write_bytes(content)
    return {"plan": plan, "log": log, "failure": told, "damaged": damaged}


def workers(scene: Scene) -> dict[str, Any]:
    """What is said where workers lack the package, warm and cold, and that it can be handed over."""
    found = {"warm": call("run", scene.pipeline("warm", session=scene.without_package))}
    cold = {
        **scene.without_package,
        "spark.python.daemon.module": "pyspark.daemon",
    }  # Java keeps the first one
    spark = session("cold", cores=1, warm=False, config={**SPARK_SETTINGS, **cold})
    try:
        qs = QuerySet.build({"all": "SELECT * FROM quotes WHERE id > 0"}, streams=[QUOTES])
        rows = spark.range(3)
        file = scene.pipeline("cold")
        found["match"] = failure(lambda: rows.transform(match(qs)).collect())
        found["cold"] = failure(lambda: Pipeline(file).run(spark))
        spark.sparkContext.addPyFile(scene.package())
        found["handed over"] = [row.id for row in rows.transform(match(qs)).collect()]
        Pipeline(file).run(spark)
        found["results"] = Place(scene.folder / "cold").pairs()
    finally:
        spark.stop()
    return found


def main(folder: str) -> None:
    batches.PATIENCE = supervision.PAUSES = SHORT  # type: ignore[misc]
    os.environ["HUSH_REGISTRY"] = str(Path(folder) / f"{os.environ['HUSH']}.db")
    scene = Scene(Path(folder))
    found = {"secrets": secrets(scene), "workers": workers(scene)}
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
