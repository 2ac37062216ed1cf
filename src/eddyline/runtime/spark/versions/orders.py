"""In which order a batch's tuples visit the subjects, as it is written down with the batch's version.

An order is found from the data of the batches before, and no replay could find the same one again: so it is part of the
record, and workers do as it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from eddyline.execute.steering.protocol import Way
from eddyline.model.asc import ASC, subject_text
from eddyline.model.visit_order import Arrow, VisitOrder

LONGEST_WORDS: Final = 300  # characters of an order that are written down for people
SHOWN: Final = 3  # segments of a version whose orders are told


@dataclass(frozen=True, slots=True)
class SegmentOrder:
    """The order of one segment of a compiled version, by the segment's name, and the way that its large batches go.

    >>> order = SegmentOrder("7f3a", VisitOrder((1, 0)), "row by row", "price -> symbol")
    >>> SegmentOrder.of(order.as_json()) == order, str(order)
    (True, 'price -> symbol, row by row')
    """

    segment: str
    sequence: VisitOrder
    way: Way = "sliced"
    words: str = ""

    @classmethod
    def made(
        cls, segment: str, ascs: tuple[ASC, ...], sequence: VisitOrder, way: Way = "sliced"
    ) -> SegmentOrder:
        """With the names of the subjects."""
        names = " -> ".join(subject_text(ascs[subject].subject) for subject in sequence.subjects)
        arrows = f" and {len(sequence.arrows)} micro-arrows" if sequence.arrows else ""
        kept = LONGEST_WORDS - len(arrows)
        return cls(
            segment, sequence, way, (names if len(names) <= kept else names[: kept - 3] + "...") + arrows
        )

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> SegmentOrder:
        """What `as_json` wrote."""
        arrows = tuple([Arrow(*arrow) for arrow in found.get("arrows", ())])
        sequence = VisitOrder(tuple(found["subjects"]), arrows)
        way: Way = found["way"] if found["way"] in get_args(Way) else "sliced"
        return cls(found["segment"], sequence, way, found["words"])

    def as_json(self) -> dict[str, Any]:
        """As a document."""
        arrows = [[arrow.subject, arrow.region, arrow.to] for arrow in self.sequence.arrows]
        return {
            "segment": self.segment,
            "subjects": list(self.sequence.subjects),
            **({"arrows": arrows} if arrows else {}),
            "way": self.way,
            "words": self.words,
        }

    def fits(self, ascs: tuple[ASC, ...]) -> bool:
        """Whether it can be an order of these subjects: a version that was damaged is compiled again, maybe otherwise."""
        whole = sorted(self.sequence.subjects) == list(range(len(ascs)))
        return whole and all(arrow.region < ascs[arrow.subject].regions for arrow in self.sequence.arrows)

    def __str__(self) -> str:
        return f"{self.words}, {self.way}"


Orders = tuple[SegmentOrder, ...]


def in_words(orders: Iterable[SegmentOrder]) -> str:
    """The orders of a batch for people, those of the first segments."""
    texts = [str(order) for order in orders]
    more = f"; and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return "; ".join(texts[:SHOWN]) + more
