"""`worst`: the order with the most visits in a period, exact up to 16 subjects; to compare with."""

from __future__ import annotations

from typing import Final, Literal

from eddyline.order.extremes import Extreme


class Worst(Extreme):
    """Proposes the order with the most visits."""

    name: Final[Literal["worst"]] = "worst"
    sign = -1
