"""Two distributions in turn under several thresholds mu: figure 9 of both ASC papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench.baselines.orders import best_order
from bench.experiments import course, orders, plots, sets
from bench.experiments.data import Data, alternating, bell, uniform
from bench.experiments.query_sets import QuerySet, query_set
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.scale import Scale
from eddyline.config import Drift, OrderSettings, StrategyName
from eddyline.model.visit_order import VisitOrder
from eddyline.order.drift import measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUBJECTS: Final = 10  # strategies need a period for each but one


@dataclass(frozen=True)
class Plan:
    """What the two figures differ in, and sizes: lambda, tau, tuples of one distribution at a time, and of all."""

    strategy: StrategyName
    drift: Drift
    thresholds: tuple[float, ...]
    check_every: int
    period: int
    span: int
    tuples: int

    @staticmethod
    def of(
        scale: Scale, strategy: StrategyName, drift: Drift, thresholds: tuple[float, ...], paper: int
    ) -> Plan:
        """Sizes of the paper (lambda 80,000, both distributions 500,000 tuples at a time) or a tenth of them."""
        span = scale.tuples(500_000, 50_000)
        period = max(20, span // 125)
        return Plan(
            strategy, drift, thresholds, 20 * period, period, span, scale.steps(paper // 500_000, 4, 2) * span
        )

    def settings(self, threshold: float) -> OrderSettings:
        return OrderSettings(
            strategy=self.strategy,
            drift=self.drift,
            threshold=threshold,
            check_every=self.check_every,
            period=self.period,
        )


def result(name: str, doc: str | None, plan: Plan) -> Result:
    """A figure, from the head of its file."""
    rows, courses = measured(plan)
    parameters = {"tuples": plan.tuples, "span": plan.span, "lambda": plan.check_every, "tau": plan.period}
    return Result(name, *head_of(doc), parameters, rows, claims(plan, courses))


def measured(plan: Plan) -> tuple[tuple[Row, ...], dict[str, course.Course]]:
    """Cost over time for every threshold, for the first order kept, and for the best order of the distribution in force."""
    queries = query_set(sets.first())
    one, other = uniform(plan.span), bell(plan.span)
    data = alternating(one, other, plan.span, plan.tuples)
    stream = list(course.periods(queries, data, plan.period))
    sample = orders.learning_sample(queries, one)
    start = course.found(plan.strategy, sample)
    initial = measure(sample, start, plan.drift)
    courses = {
        f"mu = {mu:g}": course.run(stream, plan.settings(mu), start, initial) for mu in plan.thresholds
    }
    courses["first order kept"] = course.run_fixed(stream, start, plan.period)
    courses["best fixed order"] = _best(queries, (one, other), stream, plan)
    rows: list[Row] = []
    for name, each in courses.items():
        for place, cost in enumerate(smooth(each.costs, 5)):
            rows.append({"series": name, "tuples": place * plan.period, "ASCs visited a tuple": cost})
    return tuple(rows), courses


def _best(queries: QuerySet, both: tuple[Data, Data], stream: Sequence[object], plan: Plan) -> course.Course:
    """The exact best fixed order of each distribution, changed at once at every boundary."""
    best = [best_order(orders.learning_sample(queries, data)) for data in both]
    costs: list[float] = []
    for place, sample in enumerate(stream):
        chosen: VisitOrder = best[place * plan.period // plan.span % 2]
        costs += course.run_fixed([sample], chosen, plan.period).costs  # type: ignore[list-item]
    return course.Course(plan.period, tuple(costs), (), best[0])


def claims(plan: Plan, courses: dict[str, course.Course]) -> tuple[Claim, ...]:
    """Cost jumps at a boundary, comes back after a rearrangement, and sooner with a smaller mu."""
    small, large = f"mu = {plan.thresholds[0]:g}", f"mu = {plan.thresholds[-1]:g}"
    check, span = plan.check_every // plan.period, plan.span // plan.period
    settled = min(check + SUBJECTS, span - 1)
    after = excess(courses, small, span, 0, check)
    late = {name: excess(courses, name, span, settled, span) for name in (small, "first order kept")}
    latest = max(excesses(courses, small, span, settled, span))
    counts = [len(courses[f"mu = {mu:g}"].rearranged) for mu in plan.thresholds]
    # after boundaries to D2 only: where D1 comes back, the order that was never changed is the right one by luck
    early = [excess(courses, f"mu = {mu:g}", span, 0, 2 * check, every=2) for mu in plan.thresholds]
    return (
        Claim(
            "after a boundary the cost is further from the best than later",
            after > late[small] + 0.01,
            f"{100 * after:+.1f}% in the first lambda, {100 * late[small]:+.1f}% after lambda and the periods needed",
        ),
        Claim(
            f"with {small} it is within 10% of the best after lambda and the periods needed, after every boundary",
            latest <= 0.1,
            f"{100 * late[small]:+.1f}%, at most {100 * latest:+.1f}%; "
            f"first order kept {100 * late['first order kept']:+.1f}%",
        ),
        Claim(
            "a smaller mu rearranges more often",
            counts == sorted(counts, reverse=True) and counts[0] > counts[-1],
            ", ".join(f"mu {mu:g}: {n} times" for mu, n in zip(plan.thresholds, counts, strict=True)),
        ),
        Claim(
            "a smaller mu comes back sooner: in the first two lambdas of D2 it is nearer to the best",
            early == sorted(early) and early[0] < early[-1],
            ", ".join(f"mu {mu:g}: {100 * e:+.1f}%" for mu, e in zip(plan.thresholds, early, strict=True))
            + f"; on the whole {courses[small].cost:.3f} against {courses[large].cost:.3f}",
        ),
    )


def excess(
    courses: dict[str, course.Course], name: str, span: int, first: int, last: int, *, every: int = 1
) -> float:
    """How far above the best order, from the first to the last period after every boundary, or every second."""
    found = excesses(courses, name, span, first, last, every=every)
    return sum(found) / len(found)


def excesses(
    courses: dict[str, course.Course], name: str, span: int, first: int, last: int, *, every: int = 1
) -> list[float]:
    """The same for each boundary by itself."""
    mine, best = courses[name].costs, courses["best fixed order"].costs
    places = [slice(start + first, start + last) for start in range(span, len(best), every * span)]
    return [sum(mine[place]) / sum(best[place]) - 1 for place in places]


def smooth(costs: Sequence[float], width: int) -> list[float]:
    """The mean of the last `width` values, so that lines can be told apart."""
    return [sum(costs[max(0, i - width + 1) : i + 1]) / min(width, i + 1) for i in range(len(costs))]


def plot(result: Result) -> Figure:
    """Cost over time, a line at each change of distribution."""
    figure, (axes,) = plots.picture()
    names, span = list(dict.fromkeys(row["series"] for row in result.rows)), result.parameters["span"]
    plots.lines(
        axes, result, names, "tuples", "ASCs visited a tuple", marks=False, dashed=("first order kept",)
    )
    last = max(row["tuples"] for row in result.rows)
    low, high = axes.get_ylim()
    for place, start in enumerate(range(0, last, span)):
        axes.axvline(start, color="#999999", linewidth=0.8, linestyle=":")
        axes.text(start + span / 2, high, ("D1", "D2")[place % 2], ha="center", va="bottom", fontsize=8)
    axes.set_ylim(low, high)
    axes.locator_params(axis="y", steps=[1, 2, 5, 10])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("tuples", labelpad=1)
    axes.legend(fontsize=7, ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.19))
    return figure
