"""The reference as the judge of normal forms of joins: a pair satisfies one iff the condition as bound is TRUE for it.

Normal forms are taken at their word: sides, keys, window and residual of each branch, for every pair of rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from eddyline import reference
from eddyline.errors import QueryError
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.event_time import length_in_units, longest
from eddyline.model.expression import Call, Literal
from eddyline.model.join import BoundJoin, Branch, KeyPart, NormalJoin, virtual_column
from eddyline.model.query import Query
from eddyline.normalize import explain_join, plan_join
from eddyline.sql import bind
from eddyline.testing.joins.scripts import JoinScript, PushStep
from eddyline.testing.joins.statements import JoinStatement
from eddyline.testing.joins.streams import batch_of
from tests.comparisons import compared
from tests.differential.join_stretches import JoinReport, names_time
from tests.differential.normal import holds

Row = Mapping[str, object]


def judge_normal_joins(script: JoinScript, report: JoinReport) -> None:
    """Compare the normal form of every join of a script with its predicate, over all pairs of the script's rows."""
    known = {stream.name: stream for stream in script.streams.both}
    rows = {name: _joined_rows(script, stream) for name, stream in known.items()}
    for statement in script.statements:
        bound = bind(Query("j", str(statement)), script.streams.both, time_zone=script.streams.zone)
        assert isinstance(bound, BoundJoin), "two streams are joined"
        try:
            normal = plan_join(bound, known, script.join_window).instantiate()
        except QueryError:
            report.refused += 1
            continue
        report.judged += 1
        _judge(script, statement, bound, normal, rows, report)
    compared("reference: normal forms of joins", len(script.statements))


def _judge(
    script: JoinScript,
    statement: JoinStatement,
    bound: BoundJoin,
    normal: NormalJoin,
    rows: Mapping[str, list[Row]],
    report: JoinReport,
) -> None:
    known = {stream.name: stream for stream in script.streams.both}
    first, second = (rows[source.stream] for source in normal.sources)
    for one in first:
        for other in second:
            expected = _expected(script, bound, normal, one, other)
            report.pairs += expected
            if pair_holds(normal, known, one, other) is not expected:
                used = [
                    {name: value for name, value in row.items() if value is not None} for row in (one, other)
                ]
                report.findings.append(
                    f"[normal join] {statement}\n    expected: {expected} for {used}\n    zone {script.streams.zone}, "
                    f"window {script.join_window}\n{explain_join(normal, known)}"
                )
                return


def _expected(script: JoinScript, bound: BoundJoin, normal: NormalJoin, one: Row, other: Row) -> bool:
    row = joined_row(normal, one, other)
    if reference.evaluate(bound.predicate, row, time_zone=bound.time_zone) is not True:
        return False
    known = {stream.name: stream for stream in script.streams.both}
    distance = _distance(normal, known, one, other)
    assert distance is not None, "rows without a time are left out"
    if script.join_window is None or names_time(script, bound.sql):
        return True
    times = script.streams.orders.times
    assert times is not None, "orders have an event time"
    return abs(distance) <= length_in_units(script.join_window, times.type, "join_window")


def _joined_rows(script: JoinScript, stream: Stream) -> list[Row]:
    """The rows of a stream that may be joined, as the reference reads them."""
    pushed = [
        row
        for step in script.steps
        if isinstance(step, PushStep) and step.stream == stream.name
        for row in step.rows
    ]
    assert stream.times is not None, "streams of scripts have event times"
    read = reference.rows(batch_of(pushed, range(len(pushed))), stream) if pushed else []
    times = [(row, row[stream.times.column]) for row in read]
    return [row for row, time in times if time is not None and abs(time) < longest(stream.times.type)]


def pair_holds(join: NormalJoin, streams: Mapping[str, Stream], first: Row, second: Row) -> bool:
    """Whether two rows satisfy one of the branches."""
    distance = _distance(join, streams, first, second)
    return any(_branch_holds(join, branch, distance, first, second) for branch in join.branches)


def joined_row(join: NormalJoin, first: Row, second: Row) -> Row:
    """The row of the virtual source."""
    return {
        virtual_column(source.alias, name): value
        for source, row in zip(join.sources, (first, second), strict=True)
        for name, value in row.items()
    }


def _distance(join: NormalJoin, streams: Mapping[str, Stream], first: Row, second: Row) -> int | None:
    times = [streams[source.stream].times for source in join.sources]
    values = [row[time.column] for row, time in zip((first, second), times, strict=True) if time is not None]
    match values:
        case [int(before), int(after)]:
            return after - before
    return None


def _branch_holds(join: NormalJoin, branch: Branch, distance: int | None, first: Row, second: Row) -> bool:
    zone = join.time_zone
    if distance is None or not branch.window.low <= distance <= branch.window.high:
        return False
    if not all(_equal(key, first, second, zone) for key in branch.keys):
        return False
    if not holds(branch.sides[0], first, zone) or not holds(branch.sides[1], second, zone):
        return False
    if branch.residual is None:
        return True
    return reference.evaluate(branch.residual, joined_row(join, first, second), time_zone=zone) is True


def _equal(key: KeyPart, first: Row, second: Row, zone: str) -> bool:
    values = tuple(
        Literal(reference.evaluate(expression, row, time_zone=zone), expression.type)
        for expression, row in zip(key.expressions, (first, second), strict=True)
    )
    return reference.evaluate(Call("null_safe_eq" if key.null_safe else "eq", values, t.BOOLEAN), {}) is True
