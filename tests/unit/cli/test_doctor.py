"""`eddyline doctor`: what it finds, what it says to do, and its exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eddyline import kernels
from eddyline.cli import app
from eddyline.errors import SetupError
from eddyline.model.catalog import Stream
from eddyline.registry import Put, Registry
from eddyline.registry.migrations import FORMAT
from eddyline.service.jobs import doctor
from eddyline.service.jobs.doctor import Checkup, look_at_registry
from eddyline.testing.market import QUOTES

RUN = CliRunner()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EDDYLINE_REGISTRY", raising=False)


def parts(*arguments: str) -> dict[str, dict[str, object]]:
    found = json.loads(RUN.invoke(app, ["doctor", "--json", *arguments]).stdout)
    return {part["name"]: part for part in found["parts"]}


def test_machine() -> None:
    found = parts()
    assert {found[name]["state"] for name in ("Python", "pyarrow", "time zones", "compiled code")} == {"ok"}
    assert "Python" in RUN.invoke(app, ["doctor"]).stdout


def test_no_java_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> None:
        raise SetupError("no Java 17 or later was found\n  here", hint="pip install 'eddyline[java]'")

    monkeypatch.setattr("eddyline.runtime.spark.sessions.java.find_java", nowhere)
    monkeypatch.setattr(doctor, "version", lambda name: "1.0")
    result = RUN.invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "Java: pip install 'eddyline[java]'" in result.stdout
    assert "something is missing or broken" in result.stdout


@pytest.mark.parametrize(("package", "exit_code"), [("pyspark", 0), ("psycopg", 0), ("pyarrow", 1)])
def test_a_missing_package(package: str, exit_code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name == package:
            raise doctor.PackageNotFoundError
        return "1.0"

    monkeypatch.setattr(doctor, "version", version)
    monkeypatch.setattr(doctor, "_java", lambda: Checkup("Java", "ok", "17"))
    result = RUN.invoke(app, ["doctor"])
    assert result.exit_code == exit_code
    assert f"{package}: " in result.stdout and "pip install" in result.stdout


def test_compiled_code_is_missing_or_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = vars(kernels)["numba"].config
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "new"))
    assert parts()["compiled code"]["found"] == f"none yet in {tmp_path / 'new'}"
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "file" / "x"))
    found = parts()["compiled code"]
    assert found["state"] == "broken" and "XDG_CACHE_HOME" in str(found["to_do"])
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert "NUMBA_DISABLE_JIT" in str(parts()["compiled code"]["to_do"])


def test_warming_says_how_long_it_took_and_where_the_code_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setattr(vars(kernels)["numba"].config, "CACHE_DIR", str(folder))
    monkeypatch.setattr("eddyline.queryset.warming.warm", lambda thorough: _keep(folder / "one.nbi"))
    found = str(parts("--warm")["warm-up"]["found"])
    assert found.startswith("1 functions compiled in ") and found.endswith(f" s, kept in {folder}")
    assert parts("--warm")["warm-up"]["state"] == "ok", "the second time there is nothing to do"
    assert "warm-up" not in parts()


def test_warming_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(vars(kernels)["numba"].config, "CACHE_DIR", str(tmp_path / "file" / "x"))
    monkeypatch.setattr("eddyline.queryset.warming.warm", lambda thorough: None)
    found = parts("--warm")["warm-up"]
    assert found["state"] == "broken" and "XDG_CACHE_HOME" in str(found["to_do"])


def _keep(file: Path) -> None:
    file.parent.mkdir(exist_ok=True)
    file.touch()


def test_a_registry_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    with Registry.open("eddyline.db") as registry:
        registry.declare(replace(QUOTES, lateness="10 seconds"))
        registry.change([Put("cheap", "SELECT * FROM quotes WHERE price < 10")])
        registry.declare(Stream("news", QUOTES.schema))
    streams = "quotes (event time at, lateness 10 seconds), news"
    held = f"format {FORMAT}, version 3, queries: 1 enabled, streams: {streams}"
    assert parts()["registry"]["found"] == f"eddyline.db: {held}"
    Path("eddyline.db").rename("other.db")
    assert parts()["registry"]["state"] == "missing"
    assert parts("--registry", "other.db")["registry"]["found"] == f"other.db: {held}"
    monkeypatch.setenv("EDDYLINE_REGISTRY", "other.db")
    assert parts()["registry"]["state"] == "ok"


def test_no_registry_is_fine_unless_one_was_named() -> None:
    (part,) = look_at_registry(None)
    assert not part.needed
    result = RUN.invoke(app, ["doctor", "--registry", "no.db"])
    assert result.exit_code == 1
    assert not Path("no.db").exists()


def test_a_broken_registry() -> None:
    Path("bad.db").write_text("hello, this is no database at all" * 99)
    (part,) = look_at_registry("bad.db")
    assert part.state == "broken" and part.needed and part.to_do
