"""The process that runs one line for one tree: it gets ready, then measures a turn for every line of its input.

    python -m bench.compare.worker "paper 1,000"

The tree is the one whose `src` stands first in PYTHONPATH. Every answer is one line of JSON on standard output.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time

import eddyline
from bench.compare.lines import LINES, Measured, Turn, spark_lines

WARM = 1.0  # seconds of turns before anything counts: kernels are loaded, orders and choices have settled
SHORTEST = 0.02  # seconds of one answer at least; shorter ones would measure the clock


def main(name: str) -> None:
    """Get ready, say so, and answer until there is no more input."""
    # Both trees as a command would run them (`eddyline.standing.merging.own_process`), also one that sets this by itself: else a
    # line of building would measure the garbage collector.
    gc.set_threshold(100_000, 50, 50)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what anything else prints is no answer

    def answer(**values: object) -> None:
        answers.write(json.dumps(values) + "\n")

    try:
        turn = {**LINES, **dict(spark_lines())}[name]()
    except LookupError as error:
        answer(skipped=str(error))
        return
    turns = _warmed(turn)
    answer(source=eddyline.__file__, turns=turns)
    for _ in sys.stdin:
        value, found = _measured(turn, turns)
        answer(value=value, found=found)


def _warmed(turn: Turn) -> int:
    """How many turns make one answer, found while the line warms up."""
    started, count = time.perf_counter(), 0
    while time.perf_counter() - started < WARM:
        took, _ = _measured(turn, 1)
        count += 1
    return max(1, round(SHORTEST / max(took, 1e-6))) if count > 1 else 1


def _measured(turn: Turn, turns: int) -> tuple[float, int]:
    """Seconds of CPU time per turn, or what the turns measured themselves, and what the last one found."""
    start, own = time.process_time(), 0.0
    for _ in range(turns):
        found = turn()
        if isinstance(found, Measured):
            own += found.value
    took = time.process_time() - start
    return (own / turns, found.found) if isinstance(found, Measured) else (took / turns, found)


if __name__ == "__main__":
    main(sys.argv[1])
