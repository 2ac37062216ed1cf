"""Beyond the papers: cost over time while queries come and go, orders carried over or found anew.

Expected: carried over, an order is near the best one right after a change of the query set, and nearer than a new start;
macro, hybrid and adaptive are near the best in hindsight on the whole, an order that is never measured again is not.

Q1 of ASC-2 on D2. growing: a tenth of the queries is added at a time; turnover: a tenth is replaced by queries of another set
over the same attributes; replaced: four sets, one after the other, which share four of their ten attributes; recurring:
two of them in turn. Carried over: subjects that are still asked about keep their order, new ones come where a cover set
needs them. Anew: by number. Either way a rearrangement begins at once, which takes a period for each step. Tickets stay
with their filters. In hindsight: the exact best order of each query set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bench.baselines.conjunctions import Conjunction
from bench.baselines.orders import best_order
from bench.experiments import course, over_time, sets
from bench.experiments.data import bell
from bench.experiments.query_sets import indexed, query_set
from bench.experiments.result import Claim, Result, Row, head_of
from bench.experiments.scale import Scale
from bench.workloads.predicates import Compare
from eddyline.config import OrderSettings, StrategyName
from eddyline.model.asc import ASC
from eddyline.model.sample import Sample
from eddyline.model.visit_order import VisitOrder
from eddyline.order.carry_over import carry_over

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRATEGIES: Final[tuple[StrategyName, ...]] = ("macro", "hybrid", "adaptive")
ANEW: Final = tuple([f"{name}, anew" for name in STRATEGIES])
KINDS: Final = ("growing", "turnover", "replaced", "recurring")
DRAWN: Final = ("fixed", "ticket", "macro", "macro, anew", "adaptive", "adaptive, anew", over_time.HINDSIGHT)
NAMES: Final = ("fixed", "ticket", *STRATEGIES, *ANEW, over_time.HINDSIGHT)
LAMBDA: Final = 5  # in periods
ELSEWHERE: Final = 6  # by how many attributes every second set is moved, so that it shares four of ten
Queries = tuple[Conjunction, ...]
Start = Callable[[VisitOrder, Sequence[ASC], Sequence[ASC]], VisitOrder]


@dataclass(frozen=True)
class Chapter:
    """The part of the stream that one query set sees, in periods."""

    ascs: tuple[ASC, ...]
    stream: list[Sample]


def run(scale: Scale) -> Result:
    """Cost over time by kind of change and strategy."""
    tuples, period = scale.tuples(500_000, 50_000), scale.steps(200, 200, least=50)
    rows: list[Row] = []
    changes: dict[str, list[int]] = {}
    for kind in KINDS:
        chapters = chapters_of(kind, tuples, period)
        rows += over_time.rows_of(kind, _courses(chapters, period))
        lengths = [len(chapter.stream) for chapter in chapters]
        changes[kind] = [period * sum(lengths[:i]) for i in range(1, len(lengths))]
    parameters = {"tuples": tuples, "tau": period, "lambda": LAMBDA * period, "mu": 0.0, "changes": changes}
    claims = _claims(rows, changes, LAMBDA * period)
    return Result("beyond-changing-queries", *head_of(__doc__), parameters, tuple(rows), claims)


def query_sets_of(kind: str) -> list[Queries]:
    """The query sets that follow each other."""
    one, two, three, four = (query_set(sets.first(seed)).queries for seed in range(1, 5))
    tenth = len(one) // 10
    match kind:
        case "growing":
            return [one[: tenth * count] for count in range(1, 11)]
        case "turnover":
            return [(one + two)[tenth * gone : tenth * gone + len(one)] for gone in range(10)]
        case "replaced":
            return [one, _moved(two), three, _moved(four)]
        case _:
            return [one, _moved(two)] * 4


def chapters_of(kind: str, tuples: int, period: int) -> list[Chapter]:
    """The stream cut where the query set changes."""
    following = query_sets_of(kind)
    length = max(1, tuples // period // len(following)) * period
    chapters = []
    for place, queries in enumerate(following):
        made = indexed(sets.first(), queries)
        data = bell((place + 1) * length)
        chapters.append(
            Chapter(made.index.ascs, list(course.periods(made, data, period, first=place * length)))
        )
    return chapters


def _moved(queries: Queries) -> Queries:
    """The same over other attributes."""
    return tuple([tuple([_elsewhere(part) for part in query]) for query in queries])


def _elsewhere(part: Compare) -> Compare:
    return replace(part, column=f"a{int(part.column[1:]) + ELSEWHERE}")


def _courses(chapters: list[Chapter], period: int) -> dict[str, course.Course]:
    start = best_order(over_time.joined(chapters[0].stream).part(0, over_time.LEARNT_FROM))
    plain = OrderSettings(period=period, check_every=LAMBDA * period, threshold=0.0)
    made = {"fixed": through(chapters, replace(plain, strategy="fixed"), start, carry_over)}
    made["ticket"] = with_tickets(chapters, plain)
    for name, anew in zip(STRATEGIES, ANEW, strict=True):
        settings = replace(plain, strategy=name)
        made[name] = through(chapters, settings, start, carry_over)
        made[anew] = through(chapters, settings, start, by_number)
    made[over_time.HINDSIGHT] = over_time.in_hindsight([chapter.stream for chapter in chapters], period)
    return made


def by_number(old: VisitOrder, old_ascs: Sequence[ASC], new_ascs: Sequence[ASC]) -> VisitOrder:
    """A new start, which knows nothing of the old order."""
    return VisitOrder(tuple(range(len(new_ascs))))


def through(
    chapters: list[Chapter], settings: OrderSettings, start: VisitOrder, then: Start
) -> course.Course:
    """All chapters, each started by what `then` makes of the last order of the one before."""
    costs: list[float] = []
    sequence = start
    for place, chapter in enumerate(chapters):
        if place:
            sequence = then(sequence, chapters[place - 1].ascs, chapter.ascs)
        each = course.run(chapter.stream, settings, sequence, at_once=place > 0)
        costs += each.costs
        sequence = each.last
    return course.Course(settings.period, tuple(costs), (), sequence)


def with_tickets(chapters: list[Chapter], settings: OrderSettings) -> course.Course:
    """CACQ's lottery: filters that are still there keep their tickets."""
    costs: list[float] = []
    held: dict[object, int] = {}
    for chapter in chapters:
        tickets = course.new_tickets(chapter.ascs, settings)
        tickets.held = [held.get(asc.subject, 1) for asc in chapter.ascs]
        costs += course.run_tickets(chapter.stream, settings, tickets).costs
        held = {asc.subject: tickets.held[asc.number] for asc in chapter.ascs}
    return course.Course(settings.period, tuple(costs), (), VisitOrder(()))


def _claims(rows: list[Row], changes: dict[str, list[int]], span: int) -> tuple[Claim, ...]:
    at = over_time.excess(rows, KINDS, NAMES)
    soon = over_time.excess(_after(rows, changes, span), KINDS, NAMES)
    worse = [
        f"{name}, {kind}"
        for name, anew in zip(STRATEGIES, ANEW, strict=True)
        for kind in KINDS
        if soon[kind][name] >= soon[kind][anew]
    ]
    return (
        Claim(
            "in the first lambda after a change an order that is carried over is nearer to the best than a new start",
            not worse,
            "; ".join(
                f"{kind} {100 * soon[kind]['adaptive']:+.0f}% to {100 * soon[kind]['adaptive, anew']:+.0f}% (adaptive), "
                f"{100 * soon[kind]['macro']:+.0f}% to {100 * soon[kind]['macro, anew']:+.0f}% (macro)"
                for kind in KINDS
            )
            + (f"; not {', '.join(worse)}" if worse else ""),
        ),
        *[over_time.near(at, name, KINDS) for name in STRATEGIES],
        Claim(
            "an order that is carried over and never measured is more than 10% above it",
            all(at[kind]["fixed"] > 0.1 for kind in KINDS),
            over_time.told(at, "fixed"),
        ),
    )


def _after(rows: list[Row], changes: dict[str, list[int]], span: int) -> list[Row]:
    """The rows within a span after a change."""
    return [
        row for row in rows if any(change <= row["tuples"] < change + span for change in changes[row["kind"]])
    ]


def plot(result: Result) -> Figure:
    """A panel for each kind of change; hybrid is left to the rows."""
    return over_time.plot(result, KINDS, DRAWN, dotted=ANEW)
