"""`pipeline capacity`: what is printed for people and for machines, and that neither Spark nor Java is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddyline.capacity.measured import RATES
from eddyline.cli import app
from eddyline.service.jobs import capacity as job
from tests.unit.capacity import figures
from tests.unit.service.test_capacity import SETTINGS, report, write


@pytest.fixture(autouse=True)
def round_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "RATES", figures.RATES)


def run(*arguments: str | Path) -> Result:
    words = ["pipeline", "capacity", *map(str, arguments)]
    return CliRunner().invoke(app, words, catch_exceptions=False)


def test_what_is_needed_for_a_small_load() -> None:
    result = run("--queries", 1_000, "--rows-per-second", 100_000, "--columns", 2)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert (
        lines[0]
        == "1,000 queries that ask for a rare value, 100,000 rows a second, 2 columns, 0.001 matches per row"
    )
    assert lines[1].startswith("rates: the package's, measured on ")
    assert lines[2] == "assumed: each query matches one row in a million (--matches-per-row)"
    cells = {line[:2].strip() + line[2:].split("  ")[0]: line.split()[-1] for line in lines if line}
    assert cells["Python: matching rows"] == "0.1" and cells["as workers of 4 cores"] == "1"
    assert "one pipeline can do this, if costs go on as they were measured" in lines
    assert result.stdout.count("extrapolated") == 0


def test_what_breaks_is_said_with_what_to_do() -> None:
    result = run("--queries", 10_000_000, "--rows-per-second", "1e7", "--kind", "ranges")
    assert result.exit_code == 1
    assert "one pipeline cannot do this, however many cores it has" in result.stdout
    assert "no number of cores will do" in result.stdout
    assert "extrapolated: queries: measured up to 100,000" in result.stdout
    assert result.stdout.count("\nhint: ") >= 3


def test_json_has_all_of_it() -> None:
    result = run("--queries", 1_000_000, "--rows-per-second", 1_000_000, "--json")
    found = json.loads(result.stdout)
    assert found["possible"] is (result.exit_code == 0)
    assert found["load"]["queries"] == 1_000_000 and found["needs"]["cores"]["needed"] >= 1
    assert found["limits"][0]["growth"] <= found["limits"][-1]["growth"]
    assert found["rates"]["batch"] == figures.RATES.batch and found["measured_on"]["machine"]
    assert found["extrapolated"] and found["assumed"]


def test_a_pipelines_own_reports_are_named(tmp_path: Path) -> None:
    settings = tmp_path / "market.toml"
    settings.write_text(SETTINGS)
    result = run(settings, "--queries", 10, "--rows-per-second", 100)
    assert '  (pipeline "market" has not reported any batch yet)' in result.stdout
    write(settings, [report(number) for number in range(8)])
    result = run(settings, "--rows-per-second", 200_000)
    assert result.exit_code == 0, result.stderr
    assert (
        'rates: Python\'s are those of pipeline "market" on its own machines, from 6 steady batches'
        in result.stdout
    )
    assert "2,000 queries" in result.stdout and "0.02 matches per row" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows-per-second", "1"], "state the number of queries with --queries"),
        (["--rows-per-second", "-5", "--queries", "1"], "rows per second: -5 is not a number above 0"),
        (["--rows-per-second", "nan", "--queries", "1"], "rows per second: nan is not"),
        (["--rows-per-second", "9", "--queries", "1", "--utilisation", "7"], "utilisation: 7 is not"),
        (["--rows-per-second", "9", "--queries", "5", "--matches-per-row", "6"], "matches per row: 6 is not"),
        (["--rows-per-second", "9", "--queries", "1", "--kind", "odd"], "'odd' is not one of"),
    ],
)
def test_numbers_that_make_no_sense(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and message in " ".join(result.stderr.replace("│", " ").split())


def test_settings_that_are_not_there(tmp_path: Path) -> None:
    result = run(tmp_path / "no.toml", "--rows-per-second", 1)
    assert result.exit_code == 3 and "no.toml" in result.stderr


@pytest.mark.slow
def test_neither_spark_nor_java_is_needed(tmp_path: Path) -> None:
    """Where pyspark cannot be imported, the settings and reports of a pipeline are read all the same."""
    settings = tmp_path / "market.toml"
    settings.write_text(SETTINGS)
    write(settings, [report(number) for number in range(8)])
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        f"sys.argv = ['eddyline', 'pipeline', 'capacity', {str(settings)!r}, '--rows-per-second', '1000']\n"
        "from eddyline.cli import main; main()"
    )
    environment = {"PATH": "", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert 'those of pipeline "market"' in done.stdout and RATES.machine in done.stdout
