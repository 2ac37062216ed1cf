"""What an executor asks before and during a batch, and tells when it is done."""

from __future__ import annotations

from typing import Literal, Protocol

from eddyline.execute.rowwise.lineages import Lineages
from eddyline.functions.evaluate import Evaluation
from eddyline.model.visit_order import VisitOrder

Way = Literal["sliced", "filtered", "row by row"]
"""All tuples at once; the same for those that the first subjects leave; or each tuple from subject to subject."""
Job = Literal["match", "count"]
"""What is made of the matches, which is part of the time."""


class Steering(Protocol):
    """Steers the queries of one segment that have no key; no answer changes a match.

        pick(job, rows)          which way a batch goes, and whether its time is wanted
          sequence               in which order its tuples visit subjects, if they do
          expects_drops          whether the first subject is known to drop most tuples:
            surprised(...)         it does not any more
          visited(...)           what came of the visits
          filtered(...)          whether the first subjects left few tuples to the sliced executor
        took(...)                the time, if it was wanted

    `sequence` and `expects_drops` are read once a batch and are plain attributes: a call would take longer than they do.
    """

    sequence: VisitOrder
    expects_drops: bool

    def pick(self, job: Job, rows: int) -> tuple[Way, bool]:
        """Which way a batch goes, and whether its time is to be told."""
        ...

    def surprised(self, evaluation: Evaluation, rows: int, *, gives_up: bool) -> VisitOrder | None:
        """The order to go on with, in the middle of a batch; None, where there is another way, to take that."""
        ...

    def visited(self, evaluation: Evaluation, rows: int, found: Lineages, seconds: float) -> None:
        """Tuples went row by row, in so many seconds."""
        ...

    def filtered(self, few: bool) -> None:
        """Whether few tuples were left."""
        ...

    def took(self, job: Job, way: Way, evaluation: Evaluation, rows: int, seconds: float) -> None:
        """What a batch took on the whole."""
        ...
