"""`eddyline demo --runtime embedded` with small settings and without a terminal; what it leaves on disk."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console
from typer.testing import CliRunner

import eddyline as ed
from eddyline.cli import app
from eddyline.cli.demo.embedded.picture import picture
from eddyline.cli.demo.embedded.run import DemoPlan, DemoRecord, run
from eddyline.cli.demo.embedded.story import EVERY
from eddyline.cli.demo.embedded.view import ScreenView
from eddyline.testing.market import QUOTES

RUN = CliRunner()


def told(folder: Path, *arguments: str) -> dict[str, Any]:
    result = RUN.invoke(
        app,
        [
            "demo",
            "--runtime",
            "embedded",
            "--seconds",
            "2",
            "--queries",
            "60",
            "--out",
            str(folder),
            "--json",
            *arguments,
        ],
        catch_exceptions=False,
    )
    assert result.exit_code == 0
    found: dict[str, Any] = json.loads(result.stdout)
    return {
        name: value for name, value in found.items() if not name.startswith("seconds") and name != "folder"
    }


@pytest.mark.long
def test_the_seed_decides_what_is_matched(tmp_path: Path) -> None:
    first = told(tmp_path / "a")
    assert first["tuples"] == 200_000 and first["matches"] > 100
    assert sum(first["families"].values()) == first["matches"] >= first["delivered"]
    assert [change["version"] for change in first["changes"]] == [2, 3]
    assert told(tmp_path / "b") == first
    assert told(tmp_path / "c", "--seed", "8") != first


def test_what_is_on_disk_agrees(tmp_path: Path) -> None:
    found = told(tmp_path)
    log = ed.DeliveryLog(tmp_path / "deliveries")
    assert sum(table.num_rows for push in log for table in push.tables) == found["delivered"]
    with ed.Registry.open(tmp_path / "registry.db") as registry:
        assert registry.version == found["version"] and len(registry.entries()) == found["queries"]
        counted = sum(counts["matches"] for counts in registry.counters().values())
    assert counted == found["matches"]
    assert pq.read_schema(tmp_path / "quotes.parquet").equals(QUOTES.schema)
    assert xml.etree.ElementTree.parse(tmp_path / "demo.svg").getroot().tag.endswith("svg")


def test_without_a_terminal(tmp_path: Path) -> None:
    result = RUN.invoke(
        app,
        [
            "demo",
            "--runtime",
            "embedded",
            "--seconds",
            "1",
            "--queries",
            "40",
            "--out",
            str(tmp_path / "new"),
        ],
        catch_exceptions=False,
    )
    assert "version 2: chen adds 8 queries" in result.stdout
    assert "100,000 tuples" in result.stdout and "matches by kind of query" in result.stdout
    assert "\x1b" not in result.stdout
    assert f"eddyline query history --registry {tmp_path}/new/registry.db" in result.stdout


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    result = RUN.invoke(app, ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 3 and "is not empty" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.slow
def test_every_event_happens_and_is_seen(tmp_path: Path) -> None:
    seconds = 2 * 7 * EVERY // 5 + 1
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=120, height=40)
    with ScreenView(console) as screen:
        record = run(DemoPlan(seconds, 100, 7, tmp_path), screen)
    words = " ".join(event.text for event in record.events)
    for what in ("adds", "another text", "removes", "refused", "trial", "shadow", "rolls back"):
        assert what in words
    shown = terminal.getvalue()
    assert "busiest queries" in shown and "latest deliveries" in shown and "tuples/s" in shown
    assert "others" in picture(record)


def test_a_picture_of_a_run_without_matches(tmp_path: Path) -> None:
    record = DemoRecord(DemoPlan(1, 1, 7, tmp_path), pushing=1.0)
    xml.etree.ElementTree.fromstring(picture(record))
