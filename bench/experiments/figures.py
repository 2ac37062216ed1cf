"""`python -m bench figures`: runs the figures of a paper, writes CSV, JSON and a picture of each, and prints the verdicts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Final

from rich.console import Console

from bench.experiments import (
    asc_1_figure_4,
    asc_1_figure_5,
    asc_1_figure_6,
    asc_1_figure_7,
    asc_1_figure_8,
    asc_1_figure_9,
    asc_2_figure_6,
    asc_2_figure_7,
    asc_2_figure_8,
    asc_2_figure_9,
    cacq_figure_4,
    cacq_figure_6,
    cacq_figure_8,
    cacq_figure_9,
    drift,
    plots,
)
from bench.experiments.result import Result, write
from bench.experiments.scale import Scale

FIGURES: Final[dict[str, tuple[ModuleType, ...]]] = {
    "asc-1": (asc_1_figure_4, asc_1_figure_5, asc_1_figure_6, asc_1_figure_7, asc_1_figure_8, asc_1_figure_9),
    "asc-2": (asc_2_figure_6, asc_2_figure_7, asc_2_figure_8, asc_2_figure_9),
    "cacq": (cacq_figure_4, cacq_figure_6, cacq_figure_8, cacq_figure_9),
    "beyond": (drift,),
}
FOLDER: Final = Path(__file__).parents[1] / "results" / "figures"


def run(papers: Iterable[str], scale: Scale, folder: Path, console: Console) -> list[Result]:
    """All figures of some papers; each is written as soon as it is there."""
    results = []
    for paper in papers:
        for module in FIGURES[paper]:
            start = time.perf_counter()
            result = module.run(scale)
            write(result, folder)
            plots.save(result, module.plot(result), folder / f"{result.name}.png")
            results.append(result)
            seconds = time.perf_counter() - start
            console.print(f"{result.title}  ({seconds:.0f} s)", style="bold", highlight=False)
            console.print(f"  {result.verdict}\n", highlight=False, markup=False)
    return results
