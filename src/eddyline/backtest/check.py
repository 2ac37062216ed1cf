"""Expectations held against what a back-test found: one verdict each, with the reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches

import pyarrow as pa

from eddyline.backtest.expectations import EVERY, Expectation, Wanted
from eddyline.backtest.prepare import JoinLane, Lane, PreparedBacktest
from eddyline.backtest.rows import plain
from eddyline.backtest.values import Backtest, ExpectationResult, QueryResult
from eddyline.errors import EddylineError
from eddyline.model.catalog import Stream
from eddyline.model.join import NormalJoin
from eddyline.standing.one_pair import rows_by_alias, why_of_pair

Fetch = Callable[[Wanted, Stream], pa.RecordBatch]


def check(
    found: Backtest, prepared: PreparedBacktest, expectations: Iterable[Expectation], *, fetch: Fetch
) -> Backtest:
    """The same back-test with its checks; `fetch` gives the rows that it names."""
    checks = _Checks(found, prepared, fetch)
    return replace(found, checks=tuple(check for each in expectations for check in checks.all_of(each)))


@dataclass(frozen=True)
class _Checks:
    found: Backtest
    prepared: PreparedBacktest
    fetch: Fetch

    def all_of(self, expected: Expectation) -> Iterator[ExpectationResult]:
        if expected.query == EVERY:
            for query in self.found.queries:
                yield from _counts(expected, query)
            return
        tested = next((query for query in self.found.queries if query.id == expected.query), None)
        if tested is None:
            yield self._missing(expected)
            return
        yield from _counts(expected, tested)
        lane = (self.prepared.join_lane if tested.is_join else self.prepared.lane)(tested.stream)
        for kind, rows in (("match", expected.match), ("no_match", expected.no_match)):
            for wanted in rows:
                yield self._row(expected, kind, wanted, lane)

    def _missing(self, expected: Expectation) -> ExpectationResult:
        refusal = next((r for r in self.found.refused if r.id == expected.query and not r.existing), None)
        if refusal is not None:
            message = f'query "{expected.query}" was refused: {refusal.message}'
        else:
            close = get_close_matches(expected.query, [query.id for query in self.found.queries], 1)
            message = f'there is no query "{expected.query}" under test'
            message += f'; did you mean "{close[0]}"?' if close else ""
        return ExpectationResult(expected.query, "exists", "is under test", False, message, expected.place)

    def _row(
        self, expected: Expectation, kind: str, wanted: Wanted, lane: Lane | JoinLane
    ) -> ExpectationResult:
        shown = wanted if isinstance(wanted, str) else json.dumps(wanted, default=plain, ensure_ascii=False)
        number = next(n for n, query in enumerate(lane.tested) if query.id == expected.query)
        should = kind == "match"
        says = f"{'matches' if should else 'does not match'} {shown}"
        what = "pair" if isinstance(lane, JoinLane) else "row"
        try:
            matched, why = self._judged(lane, number, wanted)
        except EddylineError as error:
            return ExpectationResult(
                expected.query, kind, says, False, f"the {what} cannot be looked at: {error}", expected.place
            )
        reason = "; ".join(line.strip() for line in why.split("\n")[1:]) or why
        verb = "matches" if matched else "does not match"
        aim = "" if matched == should else f", and {'should' if should else 'should not'}"
        message = f'query "{expected.query}" {verb} the {what} {shown}{aim}: {reason}'
        return ExpectationResult(expected.query, kind, says, matched == should, message, expected.place)

    def _judged(self, lane: Lane | JoinLane, number: int, wanted: Wanted) -> tuple[bool, str]:
        """Whether a row matches, or two rows that are given by alias, and why."""
        if isinstance(lane, JoinLane):
            return self._judged_pair(lane.forms[number], lane.streams, wanted)
        row = self.fetch(wanted, lane.stream)
        matched = lane.queries.match(row).counts()[str(number)] == 1
        return matched, str(lane.queries.why(str(number), row))

    def _judged_pair(self, join: NormalJoin, streams: Iterable[Stream], wanted: Wanted) -> tuple[bool, str]:
        by_name = {stream.name: stream for stream in streams}
        given = rows_by_alias(join, wanted)
        rows = {
            source.alias: self.fetch(row, by_name[source.stream])
            for source, row in zip(join.sources, given, strict=True)
        }
        why = why_of_pair(join, by_name, rows)
        return why.matched, str(why)


def _counts(expected: Expectation, query: QueryResult) -> Iterator[ExpectationResult]:
    noun = "pair" if query.is_join else "row"
    has = f'query "{query.id}" matched {_counted(query.matches, noun)}'
    if expected.min is not None:
        held = query.matches >= expected.min
        message = f"{has}, {'and' if held else 'but'} at least {expected.min} were expected"
        yield ExpectationResult(
            query.id, "min", f"matches at least {_counted(expected.min, noun)}", held, message, expected.place
        )
    if expected.max is not None:
        held = query.matches <= expected.max
        message = f"{has}, {'and' if held else 'but'} at most {expected.max} were expected"
        yield ExpectationResult(
            query.id, "max", f"matches at most {_counted(expected.max, noun)}", held, message, expected.place
        )


def _counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"
