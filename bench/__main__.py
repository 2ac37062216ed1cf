"""`python -m bench run`: measure, print, and write bench/results/latest.json; `report`: put that into the README."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from rich.console import Console

from bench import compiling, record, report
from bench.measure import Setting
from bench.record import Record
from bench.suites import alerts, boolean, engine, equality, paper, patterns, registry, selective, sigma

Suite = Callable[[Setting], Iterable[Record]]


def _compiling(setting: Setting) -> list[Record]:
    return compiling.measure(Console(), min(setting.queries, 2_000 if setting.quick else 100_000))


SUITES: Final[dict[str, Suite]] = {
    "paper": paper.run,
    "alerts": alerts.run,
    "boolean": boolean.run,
    "patterns": patterns.run,
    "selective": selective.run,
    "equality": equality.run,
    "sigma": sigma.run,
    "engine": engine.run,
    "compile": _compiling,
    "registry": registry.run,
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; 1 if a suite broke or a result was not the peer's."""
    chosen = _parser().parse_args(arguments)
    if chosen.command == "report":
        report.write(record.read(chosen.results))
        return 0
    console = Console() if sys.stdout.isatty() else Console(width=100)
    setting = Setting(chosen.quick, chosen.queries)
    records, broken = _run(chosen.workload or list(SUITES), setting, console, chosen.results)
    report.show(records, console, quick=chosen.quick)
    console.print(f"written to {chosen.results}")
    return 1 if broken or not all(line.equal for line in records) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure")
    run.add_argument("--workload", choices=list(SUITES), action="extend", nargs="+", help="all if not given")
    run.add_argument("--quick", action="store_true", help="small batches, up to 10,000 queries")
    run.add_argument("--queries", type=int, default=1_000_000, help="the largest set of queries")
    shown = commands.add_parser("report", help="write the table of the README")
    for command in (run, shown):
        command.add_argument("--results", type=Path, default=record.LATEST, help="the results file")
    return parser


def _run(names: list[str], setting: Setting, console: Console, path: Path) -> tuple[list[Record], bool]:
    """The lines of some suites; one that breaks is told and does not stop the others."""
    records: list[Record] = []
    broken = False
    for name in names:
        try:
            for line in SUITES[name](setting):
                records.append(line)
                console.print("  ".join(report.cells(line)), style="dim", highlight=False)
                record.write(records, path)
        except Exception:  # a long run must not be lost for one workload
            broken = True
            console.print(
                f"{name} broke:\n{traceback.format_exc()}", style="red", highlight=False, markup=False
            )
    record.write(records, path)
    return records, broken


if __name__ == "__main__":
    sys.exit(main())
