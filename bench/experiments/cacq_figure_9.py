"""CACQ, table 4 and figure 9: tickets that filters receive while queries are added.

Expected: a filter has no tickets before it comes and reaches its level within four seconds; (1) independent queries: the most
selective filter, e, gets the most; (2) nested, all alike selective: the more predicates the more tickets, a most, e least;
(3) nested, later ones more selective: a, b and c about the same, d and e slightly more than in (2).

A query is added every five seconds. The eddy runs tuple by tuple without a clock: a second is a number of tuples. Drawn are
the tickets that filters won and kept in each second, as shares of all; the tickets that they hold since the start, which
the lottery goes by, stand in the rows too.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from bench.experiments import plots
from bench.experiments.cacq_source import FIELDS, compiled, flow, nested, tuples
from bench.experiments.result import Claim, Result, Row, each, head_of
from bench.experiments.scale import Scale
from eddyline.execute.eddy import Eddy, TicketRouting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORKLOADS: Final = {
    1: ["a > 30", "b > 50", "c > 10", "d > 40", "e > 90"],
    2: nested([f"{name} > 10" for name in FIELDS]),
    3: nested(["a > 10", "b > 30", "c > 50", "d > 70", "e > 90"]),
}
TITLES: Final = {
    1: "(1) independent",
    2: "(2) nested, all alike",
    3: "(3) nested, later more selective",
}
BETWEEN: Final = 5  # seconds from one query to the next
SECONDS: Final = 40
SETTLED: Final = 30  # from here on shares are taken as steady
SOON: Final = 4  # seconds in which the paper's filters reach their level
Shares = dict[str, float]


def run(scale: Scale) -> Result:
    """The course of all workloads."""
    second = scale.steps(20_000, 1_000, 50)
    rows = [row for workload in WORKLOADS for row in _course(workload, second)]
    parameters: Row = {"tuples a second": second, "seconds": SECONDS, "seconds between queries": BETWEEN}
    return Result("cacq-figure-9", *head_of(__doc__), parameters, tuple(rows), _claims(rows))


def plot(result: Result) -> Figure:
    """A panel for each workload."""
    figure, panels = plots.picture(len(WORKLOADS))
    for axes, workload in zip(panels, WORKLOADS, strict=True):
        plots.lines(axes, result, [_series(workload, name) for name in FIELDS], "second", "won", marks=False)
        for place, line in enumerate(axes.get_lines()):
            line.set_label(FIELDS[place])
            axes.axvline(place * BETWEEN, color=plots.COLOURS[place], linestyle=":", linewidth=0.8)
        axes.set_title(TITLES[workload], fontsize=9)
        axes.set_ylim(0, 1.02)
        axes.set_ylabel("share of the tickets won" if workload == 1 else "")
    panels[-1].legend(fontsize=8, loc="upper right", title="filter", title_fontsize=8)
    return figure


def _series(workload: int, name: str) -> str:
    return f"{workload}: {name}"


def _course(workload: int, second: int) -> list[Row]:
    """Shares at the end of each second, one row a filter; a filter that is not there yet has none."""
    queries = compiled(WORKLOADS[workload])
    policy = TicketRouting(seed=workload)
    eddy = Eddy(policy)
    rows: list[Row] = []
    before: dict[str, int] = {}
    for now in range(SECONDS):
        if now % BETWEEN == 0 and now // BETWEEN < len(queries):
            eddy.add(queries[now // BETWEEN])
        flow(eddy, tuples(second, seed=1_000 * workload + now))
        held = policy.held()
        won = {name: max(0, held.get(name, 0) - before.get(name, 0)) for name in FIELDS}
        for name in FIELDS:
            shares = {"won": _share(won, name), "held": _share(held, name), "won a tuple": won[name] / second}
            rows.append({"series": _series(workload, name), "second": now + 1, **shares})
        before = held
    return rows


def _share(tickets: dict[str, int], name: str) -> float:
    return tickets.get(name, 0) / max(1, sum(tickets.values()))


def _claims(rows: list[Row]) -> tuple[Claim, ...]:
    one, two, three = (_mean(rows, workload, SETTLED, SECONDS) for workload in WORKLOADS)
    won_2, won_3 = (_mean(rows, workload, SETTLED, SECONDS, "won a tuple") for workload in (2, 3))
    more = sum(won_3.values()) / sum(won_2.values())
    late = _late(rows)
    return (
        Claim("(1) e gets the most", max(one, key=one.__getitem__) == "e", each(list(one.items()))),
        Claim(
            "(2) a most, then b, c, d, e",
            all(more > less for more, less in pairwise(two.values())),
            each(list(two.items())),
        ),
        Claim(
            "(3) a, b and c about the same (the least has at least two thirds of the most)",
            min(three[name] for name in "abc") >= 2 / 3 * max(three[name] for name in "abc"),
            each(list(three.items())),
        ),
        Claim(
            "(3) d and e get more tickets than in (2)",
            all(won_3[name] > won_2[name] for name in "de"),
            "; ".join(f"{name} {won_3[name]:.3f} to {won_2[name]:.3f} a tuple" for name in "de"),
        ),
        *[
            Claim(
                f"(3) {name} gets a larger share of all tickets than in (2)",
                three[name] > two[name],
                f"{three[name]:.3f} to {two[name]:.3f}; all filters together win {more:.1f} times as many",
            )
            for name in "de"
        ],
        Claim(
            f"in most cases a filter is at its level {SOON} seconds after it comes",
            len(late) <= 5,
            f"{len(late)} of 15 are not: {', '.join(late)}" if late else "all 15",
        ),
    )


def _mean(rows: list[Row], workload: int, first: int, last: int, of: str = "won") -> Shares:
    """Mean shares of the tickets won between two seconds, or means of another column."""
    found: Shares = {}
    for name in FIELDS:
        own = [row for row in rows if row["series"] == _series(workload, name)]
        won = [row[of] for row in own if first < row["second"] <= last]
        found[name] = sum(won) / len(won)
    return found


def _late(rows: list[Row]) -> list[str]:
    """Filters whose share in the third and fourth second is not, to 5%, what it is until the next query comes."""
    late = []
    for workload in WORKLOADS:
        for place, name in enumerate(FIELDS):
            start = place * BETWEEN
            last = SECONDS if place == len(FIELDS) - 1 else start + BETWEEN
            level = _mean(rows, workload, start + SOON, last)[name]
            early = _mean(rows, workload, start + SOON - 2, start + SOON)[name]
            if abs(early - level) > 0.05:
                late.append(_series(workload, name))
    return late
