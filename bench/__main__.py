"""`python -m bench run`: measure, print, and write bench/results/latest.json."""

from __future__ import annotations

import argparse

from rich.console import Console

from bench import compiling, record


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("command", choices=["run"])
    parser.add_argument("--queries", type=int, default=100_000, help="queries of each compile workload")
    arguments = parser.parse_args()
    console = Console()
    records = compiling.measure(console, arguments.queries)
    record.write(records)
    record.show(records, console)
    console.print(f"written to {record.LATEST.relative_to(record.LATEST.parents[2])}")


if __name__ == "__main__":
    main()
