"""The executors of one segment behind one face."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

from eddyline.config import FIXED_ORDER, OrderSettings
from eddyline.execute.executor import Executor
from eddyline.execute.kinds.table import EXECUTORS
from eddyline.execute.kinds.unkeyed import UnkeyedExecutor
from eddyline.execute.once import once
from eddyline.execute.sliced.sliced import Counts
from eddyline.execute.steering.live import LiveSteering, OrderReport
from eddyline.execute.steering.protocol import Steering, Way
from eddyline.execute.steering.recorded import Passed, RecordedSteering
from eddyline.functions.evaluate import Evaluation
from eddyline.index.rowwise.asc import AscIndex
from eddyline.index.segment import Segment
from eddyline.kernels.sorting import add_numbers
from eddyline.model.matches import SegmentPart
from eddyline.model.visit_order import VisitOrder


class SegmentExecutor:
    """Evaluates all queries of a segment; what its executors need is made when it is first wanted.

    `before` are executors of segments that this one takes the place of: their order and choice are kept as far as they
    still fit. `name` is what the segment is called where it is saved, everywhere the same.
    """

    def __init__(
        self,
        segment: Segment,
        order: OrderSettings = FIXED_ORDER,
        before: Iterable[SegmentExecutor] = (),
    ) -> None:
        self.segment = segment
        self.order = order
        self.executors: dict[str, Executor] = {
            name: EXECUTORS[name](index, order) for name, index in segment.indexes.items()
        }
        self._before = [executor.live for executor in before]
        self.name: str | None = None
        # What has taken its place since it failed, see `rescue.py`: none or one. A list, so that the executors that are
        # steered otherwise share what was found out.
        self.rescues: list[Any] = []

    @property
    def unkeyed(self) -> UnkeyedExecutor | None:
        """The executor that is steered, if the segment has queries for it."""
        found = self.executors.get("unkeyed")
        return found if isinstance(found, UnkeyedExecutor) else None

    @property
    def ascs(self) -> AscIndex | None:
        """What tuples visit that are evaluated row by row; None if there are no such."""
        index = self.unkeyed.index.rowwise if self.unkeyed is not None else None
        return index.ascs if index is not None and index.ascs.ascs else None

    @once
    def steering(self) -> Steering | None:
        """Who says which way batches go: the data, by what the batches before have told."""
        unkeyed, before = self.unkeyed, [steering for steering in self._before if steering is not None]
        self._before = []
        if unkeyed is None or unkeyed.index.rowwise is None:
            return None
        return LiveSteering(
            unkeyed.rowwise, self.order, small=unkeyed.small, ways=unkeyed.ways, before=before
        )

    @property
    def live(self) -> LiveSteering | None:
        """The steering that has followed the data so far, if there was any."""
        found = self.__dict__.get("steering")
        return found if isinstance(found, LiveSteering) else None

    def recorded(
        self, sequence: VisitOrder | None = None, way: Way = "sliced", passed: Passed | None = None
    ) -> RecordedSteering | None:
        """Steering that learns nothing: in the first order of the segment, or in a given order and way."""
        unkeyed = self.unkeyed
        if unkeyed is None or unkeyed.index.rowwise is None:
            return None
        first = unkeyed.index.rowwise.sequence
        return RecordedSteering(sequence or first, way, small=unkeyed.small, passed=passed)

    def steered(self, steering: Steering) -> SegmentExecutor:
        """The same executors, and all that was made for them, steered by somebody else."""
        other = copy(self)
        other.steering = steering
        return other

    def prepare(self) -> None:
        """Make all that the first batch would."""
        for executor in self.executors.values():
            executor.prepare()
        wanted: tuple[object, ...] = self.segment.columns, self.steering
        assert len(wanted) == 2, "they are made by being asked for"

    def match(self, evaluation: Evaluation, rows: int, *, threads: int = 1) -> list[SegmentPart]:
        """The matches of a batch."""
        steering = self.steering
        parts: list[SegmentPart] = []
        for executor in self.executors.values():
            parts += executor.match(evaluation, rows, steering, threads)
        return parts

    def count(self, evaluation: Evaluation, rows: int, totals: Counts, *, threads: int = 1) -> None:
        """Add the number of matches of each query to totals[its slot], without keeping the matches.

        Nothing is added before everything is counted: where an executor fails, another way begins from the same totals.
        """
        steering = self.steering
        counted = [e.count(evaluation, rows, steering, threads) for e in self.executors.values()]
        for found in counted:
            for slots, counts in found:
                if counts is None:
                    add_numbers(slots, totals)
                else:
                    totals[slots] += counts

    def order_report(self) -> OrderReport | None:
        """What the order of the tuples evaluated row by row did so far; None if there were none."""
        return self.live.report() if self.live is not None else None
