"""`python -m bench run`: measure, print, and write bench/results/latest.json; `spark`: the same on Spark, in the same file;
`report`: put that into docs/benchmarks.md, the README and the rates of capacity; `figures`: the experiments of the papers, with pictures;
`compare`: two trees beside each other.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from rich.console import Console

from bench import capacity_report, compiling, record, report
from bench.experiments.scale import QUICK, Scale
from bench.measure import Setting
from bench.record import Record, TableName
from bench.spark.suites import CORES as SPARK_CORES
from bench.spark.suites import SUITES as SPARK_SUITES
from bench.spark.suites import TABLES as SPARK_TABLES
from bench.suites import (
    alerts,
    boolean,
    engine,
    equality,
    joins,
    order,
    paper,
    patterns,
    regexes,
    registry,
    relations,
    selective,
    sigma,
)
from eddyline.standing.merging.own_process import collect_rarely

Suite = Callable[[Setting], Iterable[Record]]
PAPERS: Final = ("asc-1", "asc-2", "cacq", "disj", "beyond")
EXAMPLES: Final = """examples:
  python -m bench figures                                        all, quick: under six minutes of one core
  python -m bench figures --paper cacq beyond                    CACQ's, and those beyond the papers
  python -m bench figures --figure asc-2-figure-6 --scale 1      one figure with the paper's sizes
  python -m bench figures --paper asc-1 --out my-figures         CSV, JSON and pictures into another folder"""

COMPARISONS: Final = """examples:
  python -m bench compare main                                   this folder beside the newest commit of main
  python -m bench compare v0.1 main --line push p99              two revisions, some lines
  python -m bench compare ../before . --spark                    two folders, the lines on Spark"""


def _compiling(setting: Setting) -> list[Record]:
    return compiling.measure(Console(), min(setting.queries, 2_000 if setting.quick else 100_000))


SUITES: Final[dict[str, Suite]] = {
    "paper": paper.run,
    "alerts": alerts.run,
    "boolean": boolean.run,
    "patterns": patterns.run,
    "regexes": regexes.run,
    "selective": selective.run,
    "order": order.run,
    "equality": equality.run,
    "sigma": sigma.run,
    "engine": engine.run,
    "compile": _compiling,
    "registry": registry.run,
    "joins": joins.run,
    "relations": relations.run,
}
_TABLES: Final[dict[str, TableName]] = {
    "joins": "joins",
    "relations": "relations",
}  # all other suites have one together


def _on_spark(names: list[str] | None) -> dict[str, Suite]:
    """The measurements on Spark, which is started when the first of them is."""
    from bench.spark.cluster import cluster

    def together(setting: Setting) -> Iterator[Record]:
        by_cores: dict[int, list[str]] = {}
        for name in names or SPARK_SUITES:
            by_cores.setdefault(SPARK_CORES.get(name, 1), []).append(name)
        for cores, chosen in by_cores.items():
            with cluster(cores) as running:
                for name in chosen:
                    yield from SPARK_SUITES[name](setting, running)

    return {"spark": together}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; 1 if a suite broke or a result was not the peer's."""
    chosen = _parser().parse_args(arguments)
    collect_rarely()  # as the commands of Eddyline do
    if chosen.command == "report":
        report.write(record.read(chosen.results))
        capacity_report.write(chosen.results.with_name(capacity_report.NAME))
        return 0
    console = Console() if sys.stdout.isatty() else Console(width=100)
    if chosen.command == "figures":
        return _figures(chosen, console)
    if chosen.command == "compare":
        return _compare(chosen, console)
    setting = Setting(chosen.quick, chosen.queries)
    on_spark = chosen.command == "spark"
    suites = _on_spark(chosen.workload) if on_spark else {n: SUITES[n] for n in chosen.workload or SUITES}
    replaced: set[TableName] = {_TABLES.get(name, "embedded") for name in suites}
    if on_spark:
        replaced = {SPARK_TABLES.get(name, "spark") for name in chosen.workload or SPARK_SUITES}
    kept = record.kept(chosen.results, replaced)
    records, broken = _run(suites, setting, console, chosen.results, kept)
    report.show(records, console, quick=chosen.quick)
    console.print(f"written to {chosen.results}")
    return 1 if broken or not all(line.equal for line in records) else 0


def _figures(chosen: argparse.Namespace, console: Console) -> int:
    """A verdict "no" is a finding, not a failure."""
    from bench.experiments import figures

    folder = chosen.out or figures.FOLDER
    try:
        modules = figures.chosen(chosen.paper or PAPERS, chosen.figure)
    except ValueError as error:
        console.print(f"--figure: {error}", style="red", highlight=False)
        return 2
    figures.run(modules, chosen.scale, folder, console)
    console.print(f"written to {folder}")
    return 0


def _compare(chosen: argparse.Namespace, console: Console) -> int:
    from bench.compare.compare import CompareError, compare, names

    known = names(embedded=not chosen.spark, spark=chosen.spark or bool(chosen.line))
    wanted = [name for name in known if not chosen.line or any(word in name for word in chosen.line)]
    try:
        if not wanted:
            raise CompareError(f"--line: none has these words; there are {', '.join(known)}")
        return compare(chosen.old, chosen.new, wanted, console, chosen.results)
    except CompareError as error:
        console.print(str(error), style="red", highlight=False, markup=False)
        return 2


def _scale(text: str) -> Scale:
    try:
        return Scale(float(text))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text}: a number above 0 and at most 1, such as {QUICK:g} (quick) or 1 (the papers' sizes)"
        ) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure")
    run.add_argument("--workload", choices=list(SUITES), action="extend", nargs="+", help="all if not given")
    run.add_argument("--quick", action="store_true", help="small batches, up to 10,000 queries")
    run.add_argument("--queries", type=int, default=1_000_000, help="the largest set of queries")
    spark = commands.add_parser("spark", help="measure on Spark, on one core, pipelines on two")
    spark.add_argument(
        "--workload", choices=list(SPARK_SUITES), action="extend", nargs="+", help="all if not given"
    )
    spark.add_argument("--quick", action="store_true", help="few rows, up to 10,000 queries")
    spark.add_argument("--queries", type=int, default=1_000_000, help="the largest set of queries")
    shown = commands.add_parser("report", help="write the tables of docs/benchmarks.md and the README")
    figures = commands.add_parser(
        "figures",
        help="run the experiments of the papers",
        description="Runs the experiments of the papers and ours beyond them; prints whether each is as in the paper, and why.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    figures.add_argument("--paper", choices=PAPERS, action="extend", nargs="+", help="all if not given")
    figures.add_argument(
        "--figure",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these, all if not given",
    )
    figures.add_argument(
        "--scale",
        type=_scale,
        default=Scale(),
        help=f"share of the papers' sizes: {QUICK:g}, a quick run, if not given; 1 is all of them",
    )
    figures.add_argument("--out", type=Path, help="the folder for CSV, JSON and pictures")
    compared = commands.add_parser(
        "compare",
        help="two trees beside each other: is the new one slower anywhere?",
        epilog=COMPARISONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compared.add_argument("old", help="a folder with the project, or a revision of it")
    compared.add_argument("new", nargs="?", default=".", help="the same; this folder if not given")
    compared.add_argument(
        "--line", action="extend", nargs="+", help="only lines that have one of these words"
    )
    compared.add_argument(
        "--spark", action="store_true", help="the lines on Spark instead of the embedded ones"
    )
    compared.add_argument("--results", type=Path, default=record.LATEST.with_name("compare.json"))
    for command in (run, spark, shown):
        command.add_argument("--results", type=Path, default=record.LATEST, help="the results file")
    return parser


def _run(
    suites: Mapping[str, Suite], setting: Setting, console: Console, path: Path, kept: list[Record]
) -> tuple[list[Record], bool]:
    """The lines of some suites, written behind those that are kept; one that breaks does not stop the others."""
    records: list[Record] = []
    broken = False
    for name, suite in suites.items():
        try:
            for line in suite(setting):
                records.append(line)
                console.print("  ".join(report.cells(line)), style="dim", highlight=False)
                record.write(kept + records, path)
        except Exception:  # a long run must not be lost for one workload
            broken = True
            console.print(
                f"{name} broke:\n{traceback.format_exc()}", style="red", highlight=False, markup=False
            )
    record.write(kept + records, path)
    return records, broken


if __name__ == "__main__":
    sys.exit(main())
