"""Strategies by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, get_args

from eddyline.config import DEFAULT_ORDER, OrderSettings, StrategyName
from eddyline.errors import SettingsError
from eddyline.model.asc import ASC
from eddyline.model.visit_order import VisitOrder
from eddyline.order.sample_table import Ending
from eddyline.order.strategies.adaptive import Adaptive, VisitCosts
from eddyline.order.strategies.fixed import Fixed
from eddyline.order.strategies.hybrid import Hybrid
from eddyline.order.strategies.macro import Macro
from eddyline.order.strategies.macs import Macs
from eddyline.order.strategies.macssas import Macssas
from eddyline.order.strategies.sas import Sas
from eddyline.order.strategies.strategy import Strategy
from eddyline.order.strategies.ticket import Ticket

STRATEGIES: Final[tuple[StrategyName, ...]] = get_args(StrategyName)
_GREEDY: Final[dict[str, Callable[[Sequence[ASC], VisitOrder], Strategy]]] = {
    "macs": Macs,
    "sas": Sas,
    "macssas": Macssas,
    "macro": Macro,
    "hybrid": Hybrid,
}


def make_strategy(
    name: str,
    ascs: Sequence[ASC],
    *,
    settings: OrderSettings = DEFAULT_ORDER,
    start: VisitOrder | None = None,
    costs: VisitCosts | None = None,
    ending: Ending = "dropped",
) -> Strategy:
    """A strategy for a set of ASCs.

    start: the sequence in force, which holds until something better is known; without it subjects come by number.
    costs, ending: what visits take and where ways end, which only `adaptive` asks for.
    """
    if name not in STRATEGIES:
        raise SettingsError(f'strategy "{name}" is not known', hint=f"one of {', '.join(STRATEGIES)}")
    start = start or VisitOrder(tuple(range(len(ascs))))
    assert sorted(start.subjects) == list(range(len(ascs))), "a sequence has all subjects"
    match name:
        case "fixed":
            return Fixed(start)
        case "ticket":
            return Ticket(ascs, start, settings.seed)
        case "adaptive":
            return Adaptive(ascs, start, costs, ending)
        case _:
            return _GREEDY[name](ascs, start)
