"""Goes on for as long as one likes with fresh seeds; shrinks what it finds and prints it as a regression test.

    python -m tests.fuzz --seconds 600 --judge spark

Exit code 0: nothing found; 1: findings.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.judges import JUDGES
from tests.fuzz.statements import BLOCK

ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata")


def main() -> int:
    """Search until the time is up or enough was found."""
    options = _options()
    seed = time.time_ns() // 1_000_000 if options.seed is None else options.seed
    judges = JUDGES[options.judge]()
    end = time.monotonic() + options.seconds
    queries, found = 0, 0
    for block in range(sys.maxsize):
        if time.monotonic() >= end or found >= options.most:
            break
        for judge in judges:
            searched = judge.search(seed + block * BLOCK, ZONES[block % len(ZONES)], options.most - found)
            for text in searched.findings:
                found += 1
                _say(text)
            queries += searched.queries
    _say(f"{queries} queries compared from seed {seed} on, judged by {options.judge}: {found} findings")
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--seed", type=int, help="first seed (else the clock); the same seed gives the same search"
    )
    parser.add_argument("--judge", choices=sorted(JUDGES), default="spark")
    parser.add_argument("--most", type=int, default=10, help="stop after so many findings")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
