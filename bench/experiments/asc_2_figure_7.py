"""ASC-2, figure 7: ASCs visited over the number of p-attributes.

Expected: the gaps between the schemes widen as the number of p-attributes grows; hybrid visits fewer ASCs than the best
fixed order.

Q3: sets with 6, 7, 8, 10, 15 p-attributes (30, 30, 35, 40, 50 queries; 78, 81, 98, 138, 173 predicates) on D2; lambda =
10,000, mu = 0. Averages over several query sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.experiments import plots, rearranged, sets
from bench.experiments.data import bell
from bench.experiments.query_sets import query_set
from bench.experiments.result import Claim, Result, Row, head_of, mean, percent
from bench.experiments.scale import Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ATTRIBUTES = tuple(sets.THIRD)
NAMES = rearranged.NAMES


def run(scale: Scale) -> Result:
    """The visits a tuple by number of p-attributes and query set."""
    data, count = bell(scale.tuples(500_000, 30_000)), scale.steps(10, 5)
    rows: list[Row] = []
    for attributes in ATTRIBUTES:
        for seed in range(1, count + 1):
            found = rearranged.costs(query_set(sets.third(attributes, seed)), data, scale)
            rows += [
                {"series": name, "p-attributes": attributes, "set": seed, "ASCs visited a tuple": found[name]}
                for name in NAMES
            ]
    parameters = {"tuples": data.tuples, "query sets": count}
    return Result("asc-2-figure-7", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    def at(name: str, attributes: int) -> float:
        return mean(rows, "ASCs visited a tuple", series=name, **{"p-attributes": attributes})

    gaps = {n: at("SEQ worst", n) - at("SEQ best", n) for n in ATTRIBUTES}
    tickets = {n: at("ticket", n) - at("hybrid", n) for n in ATTRIBUTES}
    return (
        Claim(
            "the gap between worst and best is widest with the most p-attributes",
            max(gaps, key=gaps.__getitem__) == ATTRIBUTES[-1],
            ", ".join(f"{n}: {gap:.2f}" for n, gap in gaps.items()),
        ),
        Claim(
            "the gap between ticket and hybrid is wider with 15 than with 6",
            tickets[ATTRIBUTES[-1]] > tickets[ATTRIBUTES[0]],
            ", ".join(f"{n}: {gap:.2f}" for n, gap in tickets.items()),
        ),
        Claim(
            "hybrid visits no more than the best fixed order",
            all(at("hybrid", n) <= at("SEQ best", n) for n in ATTRIBUTES),
            ", ".join(f"{n}: {percent(at('hybrid', n), at('SEQ best', n))}" for n in ATTRIBUTES),
        ),
    )


def plot(result: Result) -> Figure:
    """Visits over p-attributes."""
    figure, (axes,) = plots.picture()
    plots.lines(axes, result, NAMES, "p-attributes", "ASCs visited a tuple")
    axes.set_ylim(0)
    axes.set_xticks(ATTRIBUTES)
    axes.legend(fontsize=8)
    return figure
