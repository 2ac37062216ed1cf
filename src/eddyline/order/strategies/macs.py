"""`macs` (ASC-1): a cover set of least size first, so that tuples can be dropped early; nothing is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from eddyline.model.asc import ASC
from eddyline.model.sample import Sample, query_usage
from eddyline.model.visit_order import VisitOrder
from eddyline.order.cover_set import minimal_cover_set


class Macs:
    """Proposes the cover set, then the other subjects, both in the order in force."""

    name: Final[Literal["macs"]] = "macs"
    ready: Final = True

    def __init__(self, ascs: Sequence[ASC], start: VisitOrder) -> None:
        cover = set(minimal_cover_set(query_usage(ascs)))
        self._subjects = tuple(sorted(start.subjects, key=lambda subject: subject not in cover))

    def observe(self, sample: Sample) -> None:
        """Look at nothing: a cover set depends on the queries alone."""

    def propose(self) -> VisitOrder:
        return VisitOrder(self._subjects)
