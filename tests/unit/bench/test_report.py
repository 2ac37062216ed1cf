"""Figures become a table, with the bar that each must reach."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from bench import measure, record, report
from bench.__main__ import SUITES, main
from bench.bars import BARS, bar_of
from bench.record import Record

GOOD = Record.rates("paper", 10_000, 400_000, "marginal", 6_400_000, "polars", 348_000, True)
POOR = Record.rates("alerts", 10_000, 200_000, "call", 9_000_000, "duckdb", 2_000_000, False)
BYTES = Record("alerts", 100_000, 0, "bytes", 180.0, "SQL texts", 130.0, 130 / 180, True)


EMPTY_PAGE = "".join(f"{begin}\n{end}\n" for begin, end in report.MARKERS.values())


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "results" / "latest.json"
    record.write([GOOD, POOR], path)
    assert record.read(path) == [GOOD, POOR]
    keys = ["workload", "queries", "rows", "metric", "ours", "peer", "peer_value", "ratio", "equal"]
    assert [list(line) for line in json.loads(path.read_text())] == [keys, keys]


def test_bars_are_found_by_workload_metric_peer_and_size() -> None:
    assert str(bar_of(GOOD)) == "12x" and bar_of(GOOD).met(GOOD)
    assert str(bar_of(POOR)) == "10x" and not bar_of(POOR).met(POOR)
    assert str(bar_of(BYTES)) == "< 200" and bar_of(BYTES).met(BYTES)
    assert bar_of(Record.rates("alerts", 100_000, 1, "call", 1, "duckdb", 1, True)) is None


def test_every_bar_has_a_measure() -> None:
    assert all((bar.ratio is None) != (bar.ours is None) for bar in BARS)


def test_table_fits_a_hundred_columns_and_says_what_differs() -> None:
    out = io.StringIO()
    report.show([GOOD, POOR, BYTES], Console(file=out, width=100))
    lines = out.getvalue().splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert "18.4x" in lines[1] and "12x" in lines[1] and "!" not in lines[1]
    assert "results differ" in lines[2] and "10x !" in lines[2]


def test_page_gets_the_table_between_its_markers(tmp_path: Path) -> None:
    page, readme = tmp_path / "benchmarks.md", tmp_path / "README.md"
    for path in (page, readme):
        path.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.write([GOOD], page, readme)
    text = page.read_text()
    assert "old" not in text and text.startswith("before\n") and text.endswith("\nafter\n")
    assert "| paper | 10,000 | 400 k | marginal | 6.4 M | polars | 348 k | 18.4x | 12x |" in text
    report.write([GOOD], page, readme)
    assert page.read_text() == text
    assert "old" in readme.read_text()  # most of its lines were not measured
    with pytest.raises(ValueError, match="no lines"):
        report.insert("a page without them", "")


def test_joins_have_a_table_of_their_own(tmp_path: Path) -> None:
    page, readme, results = (tmp_path / name for name in ("benchmarks.md", "README.md", "latest.json"))
    page.write_text(EMPTY_PAGE)
    join = Record.rates("pairs even", 1_000, 20_000, "join", 4_000_000, "esper", 1_000, True)
    report.write([GOOD, join], page, readme)
    table = page.read_text().partition(report.MARKERS["joins"][0])[2]
    assert "pairs even" in table and "polars" not in table
    record.write([GOOD, join], results)
    assert record.kept(results, {"joins"}) == [GOOD] and record.kept(results, {"embedded"}) == [join]


def test_readme_gets_the_headlines_once_all_are_measured(tmp_path: Path) -> None:
    page, readme = tmp_path / "benchmarks.md", tmp_path / "README.md"
    page.write_text(EMPTY_PAGE)
    readme.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    lines = [
        Record.rates(h.workload, h.queries, 1_000, h.metric, 2_000_000, h.peer, 1_000, True)
        for h in report.HEADLINES
    ]
    report.write(lines, page, readme)
    text = readme.read_text()
    assert "old" not in text and text.count("| 2,000x |") == len(report.HEADLINES) <= 8


def test_marginal_takes_what_a_call_costs_anyway_out() -> None:
    now = [0.0]

    def run(rows: int) -> None:
        now[0] += 5 + rows / 1_000

    found = measure.marginal(run, (1_000, 1_000), (4_000, 4_000), clock=lambda: now[0], budget=1_000.0)
    assert found == pytest.approx(1_000)


def test_a_suite_that_breaks_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(setting: measure.Setting) -> list[Record]:
        raise RuntimeError(f"no luck with {setting.queries}")

    monkeypatch.setitem(SUITES, "paper", broken)
    monkeypatch.setitem(SUITES, "alerts", lambda setting: [GOOD])
    path = tmp_path / "latest.json"
    arguments = ["run", "--quick", "--queries", "7", "--workload", "paper", "alerts", "--results", str(path)]
    assert main(arguments) == 1
    assert record.read(path) == [GOOD]
