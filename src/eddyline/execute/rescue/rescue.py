"""Matching that goes on where executors fail: a bug that one query brings out must not stop all the others.

    segment fails ──► which subjects cannot be computed, or located?
                        some: the queries that speak about them one by one, all others as a segment of their own
                        none: all queries of the segment one by one (`plain.py`)

A query that fails there too has no matches in this batch and is reported as failed. What was found out stays for the next
batches, until the queries are compiled anew.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final, Protocol

import numpy as np

from eddyline.errors import PASSED_ON, QueryError
from eddyline.execute.parts import PairPart
from eddyline.execute.placed import Placed
from eddyline.execute.rescue.plain import PlainPredicates
from eddyline.execute.segment import SegmentExecutor
from eddyline.execute.sliced.sliced import Counts
from eddyline.functions.evaluate import Evaluation
from eddyline.index.segment import build_segment
from eddyline.model.expression import Expression
from eddyline.model.matches import SegmentPart
from eddyline.model.numbering import Numbering
from eddyline.model.predicate import conditions_of
from eddyline.model.query import NormalQuery

log = logging.getLogger("eddyline.match")
SHOWN: Final = 5  # ids in a message
Failed = dict[int, Exception]  # queries that could not be evaluated, by number


class QueriesByNumber(Protocol):
    """Who knows the queries of a set by number."""

    def normal_form(self, number: int) -> NormalQuery | None:
        """A query as it was compiled; None if it is gone. A `QueryError` if it cannot be compiled here."""
        ...

    def name(self, number: int) -> str:
        """Its id."""
        ...


def match(
    placed: Placed,
    evaluation: Evaluation,
    rows: int,
    members: QueriesByNumber,
    failed: Failed,
    *,
    threads: int = 1,
) -> list[SegmentPart]:
    """The matches of a segment's queries; those that cannot be evaluated are entered into `failed`."""
    executor, numbering = placed.executor, placed.numbering
    if not executor.rescues:
        try:
            parts = executor.match(evaluation, rows, threads=threads)
            return [part.numbered(numbering) for part in parts]
        except PASSED_ON:
            raise
        except Exception as error:
            executor.rescues.append(Rescue(placed, error, evaluation, rows, members))
    return _rescued(placed, evaluation, rows, failed, threads)


def count(
    placed: Placed,
    evaluation: Evaluation,
    rows: int,
    members: QueriesByNumber,
    totals: Counts,
    failed: Failed,
    *,
    threads: int = 1,
) -> None:
    """As `match`, adding the number of matches of each query to totals[its number]."""
    executor, numbering = placed.executor, placed.numbering
    if not executor.rescues:
        try:
            if numbering.listed is None:
                own = totals[numbering.first : numbering.first + numbering.size]
                executor.count(evaluation, rows, own, threads=threads)
            else:
                own = np.zeros(numbering.size, np.int64)
                executor.count(evaluation, rows, own, threads=threads)
                totals[numbering.listed] += own
            return
        except PASSED_ON:
            raise
        except Exception as error:
            executor.rescues.append(Rescue(placed, error, evaluation, rows, members))
    for part in _rescued(placed, evaluation, rows, failed, threads):
        numbers, counts = part.counts()
        totals[numbers] += counts


def _rescued(
    placed: Placed, evaluation: Evaluation, rows: int, failed: Failed, threads: int
) -> list[SegmentPart]:
    rescue: Rescue = placed.executor.rescues[0]
    lost: Failed = {}
    parts = [part.numbered(placed.numbering) for part in rescue.match(evaluation, rows, lost, threads)]
    failed.update({placed.numbering.number(slot): error for slot, error in lost.items()})
    return parts


class _BySlot:
    """The queries of a segment by slot."""

    def __init__(self, members: QueriesByNumber, numbering: Numbering) -> None:
        self._members, self._numbering = members, numbering

    def normal_form(self, number: int) -> NormalQuery | None:
        return self._members.normal_form(self._numbering.number(number))

    def name(self, number: int) -> str:
        return self._members.name(self._numbering.number(number))


class Rescue:
    """What takes the place of a segment that failed: a sound segment, and queries that are evaluated one by one.

    It speaks of slots, as the segment did, and outlasts the version that it was made in.
    """

    def __init__(
        self, placed: Placed, error: Exception, evaluation: Evaluation, rows: int, members: QueriesByNumber
    ) -> None:
        self._members = _BySlot(members, placed.numbering)
        self._lost: Failed = {}  # cannot be compiled here, such as functions that Spark's driver alone knows
        queries = self._compiled(placed.segment.size)
        culprits = broken_subjects(placed.executor, evaluation, rows)
        self._suspects = {
            slot: query
            for slot, query in queries.items()
            if not culprits or any(c.subject in culprits for c in conditions_of(query.predicate))
        }
        others = {slot: query for slot, query in queries.items() if slot not in self._suspects}
        self._sound = _built(placed.executor, others)
        if self._sound is None:
            self._suspects = queries
        self._reported: set[int] = set()
        log.error(
            "matching failed, which is a bug in Eddyline; from now on %s evaluated one by one: %s",
            _named(self._suspects, self._members),
            _words(error),
            exc_info=error,
        )

    def _compiled(self, size: int) -> dict[int, NormalQuery]:
        queries = {}
        for slot in range(size):
            try:
                found = self._members.normal_form(slot)
            except QueryError as error:
                self._lost[slot] = error
                continue
            if found is not None:
                queries[slot] = found
        return queries

    def match(self, evaluation: Evaluation, rows: int, failed: Failed, threads: int) -> list[SegmentPart]:
        """The matches of all queries but those that fail."""
        parts: list[SegmentPart] = []
        failed.update(self._lost)
        if self._sound is not None:
            parts += match(self._sound, evaluation, rows, self._members, failed, threads=threads)
        plain = PlainPredicates(evaluation, rows)
        found_rows, found_slots = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for slot, query in self._suspects.items():
            try:
                found = np.flatnonzero(plain.holds(query.predicate))
            except PASSED_ON:
                raise
            except Exception as error:
                failed[slot] = error
                self._report(slot, error)
                continue
            found_rows.append(found)
            found_slots.append(np.full(len(found), slot, np.int64))
        parts.append(PairPart(np.concatenate(found_rows), np.concatenate(found_slots)))
        return parts

    def _report(self, slot: int, error: Exception) -> None:
        """Once for each query: the next batch may fail as well, and the one after it."""
        if slot not in self._reported:
            self._reported.add(slot)
            name = self._members.name(slot)
            log.error('query "%s" cannot be evaluated: %s', name, _words(error), exc_info=error)


def _built(executor: SegmentExecutor, queries: Mapping[int, NormalQuery]) -> Placed | None:
    """Queries as a segment of their own; None if there are none, or if they cannot be compiled."""
    if not queries:
        return None
    try:
        segment = build_segment(executor.segment.stream, list(queries.values()))
    except PASSED_ON:
        raise
    except Exception as error:
        log.error("queries cannot be compiled again: %s", _words(error), exc_info=error)
        return None
    return Placed(SegmentExecutor(segment, executor.order), Numbering.of(list(queries)))


def broken_subjects(executor: SegmentExecutor, evaluation: Evaluation, rows: int) -> set[Expression]:
    """The subjects of a segment that cannot be computed over a batch, or whose values cannot be located."""
    broken: set[Expression] = set()
    for each in executor.executors.values():
        for subjects, attempt in each.trials(evaluation, rows):
            try:
                attempt()
            except PASSED_ON:
                raise
            except Exception:
                broken.update(subjects)
    return broken


def _named(slots: Mapping[int, object], members: QueriesByNumber) -> str:
    shown = ", ".join(f'"{members.name(slot)}"' for slot in list(slots)[:SHOWN])
    more = f" and {len(slots) - SHOWN} others" if len(slots) > SHOWN else ""
    return f"{len(slots)} queries ({shown}{more}) are"


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
