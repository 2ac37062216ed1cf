"""`python -m bench figures`: runs the figures of a paper, writes CSV, JSON and a picture of each, and prints the verdicts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
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
    changing_queries,
    disj_figure_15,
    disj_figures_9_to_11,
    disj_figures_12_to_14,
    disj_pairs,
    disj_spreads,
    disj_table_7,
    drift,
    plots,
)
from bench.experiments.result import Result, write
from bench.experiments.scale import Scale

FIGURES: Final[dict[str, tuple[ModuleType, ...]]] = {
    "asc-1": (asc_1_figure_4, asc_1_figure_5, asc_1_figure_6, asc_1_figure_7, asc_1_figure_8, asc_1_figure_9),
    "asc-2": (asc_2_figure_6, asc_2_figure_7, asc_2_figure_8, asc_2_figure_9),
    "cacq": (cacq_figure_4, cacq_figure_6, cacq_figure_8, cacq_figure_9),
    "disj": (
        disj_figures_9_to_11,
        disj_figures_12_to_14,
        disj_figure_15,
        disj_spreads,
        disj_table_7,
        disj_pairs,
    ),
    "beyond": (drift, changing_queries),
}
FOLDER: Final = Path(__file__).parents[1] / "results" / "figures"


def chosen(papers: Iterable[str], names: Sequence[str]) -> list[ModuleType]:
    """The figures of some papers, or those of them that are named; ValueError if there is none of a name."""
    known = {name_of(module): module for paper in papers for module in FIGURES[paper]}
    for name in names:
        if name not in known:
            raise ValueError(f'figure "{name}" is not known here, one of {", ".join(known)}')
    return [module for name, module in known.items() if not names or name in names]


def name_of(module: ModuleType) -> str:
    """The name of a figure, which its files have too.

    >>> name_of(drift), name_of(cacq_figure_4)
    ('beyond-drift', 'cacq-figure-4')
    """
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    return f"beyond-{name}" if module in FIGURES["beyond"] else name


def run(modules: Iterable[ModuleType], scale: Scale, folder: Path, console: Console) -> list[Result]:
    """Some figures; each is written as soon as it is there."""
    results = []
    for module in modules:
        start = time.process_time()
        result = module.run(scale)
        write(result, folder)
        plots.save(result, module.plot(result), folder / f"{result.name}.png")
        results.append(result)
        seconds = time.process_time() - start
        console.print(f"{result.title}  ({seconds:.0f} s of CPU)", style="bold", highlight=False)
        console.print(f"  {result.verdict}\n", highlight=False, markup=False)
    return results
