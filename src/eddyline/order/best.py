"""`best`: the order with the fewest visits in a period, exact up to 16 subjects; to compare with."""

from __future__ import annotations

from typing import Final, Literal

from eddyline.order.extremes import Extreme


class Best(Extreme):
    """Proposes the order with the fewest visits."""

    name: Final[Literal["best"]] = "best"
    sign = 1
