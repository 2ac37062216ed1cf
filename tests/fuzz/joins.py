"""Scripts of joins: drawn, judged one by one, and made small where somebody disagrees.

A script has its own time zone; joins come and go in it while rows of two streams arrive.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from zlib import crc32

from eddyline.reference import JoinedPair
from eddyline.testing.joins.scripts import (
    JoinScript,
    PushStep,
    asking_for_positions,
    draw_script,
    reference_steps,
    run_reference,
    texts,
)
from eddyline.testing.joins.shrink import shrink_script
from eddyline.testing.joins.streams import Row
from tests.differential.join_stretches import JoinReport
from tests.differential.normal_joins import judge_normal_joins
from tests.fuzz.judge import Searched
from tests.join_scripts import by_query, configuration, run_engine

SCRIPTS = 20  # per search
TRIES = 300  # to make a finding smaller
# scripts of this number, and every eighth after it: joins select nothing of both tuples
ASKED_FOR_NOTHING = 2


@dataclass(frozen=True)
class _Asked:
    """What a join is asked for: the positions of the tuples of some of its sources, -1 for the others."""

    first: bool
    second: bool

    @property
    def items(self) -> str:
        return (
            f"{'a.number' if self.first else '-1L'} AS one, {'b.number' if self.second else '-1L'} AS other"
        )

    def of(self, pair: JoinedPair) -> JoinedPair:
        first, second = pair.first if self.first else -1, pair.second if self.second else -1
        return pair._replace(first=first, second=second)


def _asked(id: str, script: int) -> _Asked:
    """In every other script all joins are asked for the same, so that nothing at all may be kept of a stream at first."""
    chosen = crc32(id.encode()) if script % 2 else script // 2
    return _Asked(first=chosen % 4 not in (0, 1), second=chosen % 4 not in (1, 2))


def judge_engine(script: JoinScript, report: JoinReport, number: int = 0) -> None:
    """The engine against the reference: the same pairs at the same steps, in the same order, whatever its configuration.

    Some joins select nothing of one source, or of both.
    """
    asked = asking_for_positions(script, lambda id: _asked(id, number).items)
    reference = run_reference(asked)
    with TemporaryDirectory() as folder:
        found = run_engine(
            {query.id: query.sql for query in texts(asked.joins)},
            list(reference_steps(asked)),
            streams=asked.streams.both,
            join_window=asked.join_window,
            time_zone=asked.streams.zone,
            **configuration(number, folder),
        )
    report.judged += len(script.statements)
    report.pairs += len(reference.pairs)
    for place, (pairs, ours) in enumerate(zip(reference.steps, found.steps, strict=True)):
        right = by_query(_asked(pair.query, number).of(pair) for pair in pairs)
        if right != ours:
            report.findings.append(f"[engine] step {place}\n    expected: {right}\n    here: {ours}")
            return


@dataclass(frozen=True)
class JoinJudge:
    """One judgement of scripts; `plain` ones mean the same to every engine."""

    check: Callable[[JoinScript, JoinReport], None]
    plain: bool = False

    def search(self, seed: int, zone: str, most: int) -> Searched:
        """The scripts of some seeds, and the findings among them as small as they get."""
        judged, findings = 0, []
        for each in range(seed, seed + SCRIPTS):
            script = draw_script(random.Random(each), plain=self.plain)
            report = JoinReport()
            wrong = self._wrong(script, report)
            judged += report.judged
            if wrong and len(findings) < most:
                findings.append(f"# seed {each}\n{self._smallest(script, _kind(wrong))}")
        return Searched(judged, findings)

    def _smallest(self, script: JoinScript, kind: str) -> str:
        """The finding with as few joins, rows and conditions as it takes to stay one of its kind."""
        smallest = shrink_script(script, lambda smaller: _kind(self._wrong(smaller)) == kind, tries=TRIES)
        return f"{self._wrong(smallest)}\n{as_text(smallest)}"

    def _wrong(self, script: JoinScript, report: JoinReport | None = None) -> str:
        """What is wrong with a script."""
        report = JoinReport() if report is None else report
        try:
            self.check(script, report)
        except Exception as error:
            return f"crash: {type(error).__name__}: {error}"
        return report.findings[0] if report.findings else ""


def _kind(wrong: str) -> str:
    """What must stay the same while shrinking: a crash stays that crash."""
    return ":".join(wrong.split(":")[:2]) if wrong.startswith("crash") else wrong.split("]")[0]


def as_text(script: JoinScript) -> str:
    """A script as one reads it: settings, then joins, rows and changes in their order."""
    orders, fills = script.streams.both
    lines = [
        f"# {script.streams.zone}, join_window={script.join_window!r}, event times {orders.event_time} and "
        f"{fills.event_time}, lateness {orders.lateness!r} and {fills.lateness!r}"
    ]
    lines += [f"{id}: {statement}" for id, statement in script.joins.items()]
    for step in script.steps:
        if isinstance(step, PushStep):
            lines.append(f"push {step.stream} at {step.clock}")
            lines += [f"    {_used_values(script, row)}" for row in step.rows]
        else:
            lines += [f"remove {id}" for id in step.remove]
            lines += [f"add {id}: {statement}" for id, statement in step.add.items()]
            lines += [f"replace {id}: {statement}" for id, statement in step.replace.items()]
    return "\n".join(lines) + "\n"


def _used_values(script: JoinScript, row: Row) -> dict[str, object]:
    """What a row has in the columns that joins name, and in the event times."""
    text = " ".join(map(str, script.statements))
    used = [stream.event_time for stream in script.streams.both]
    used += [name for name in row if re.search(rf"\b{name}\b", text)]
    return {name: value for name, value in row.items() if name in used and value is not None}


def normal_joins() -> JoinJudge:
    """Normal forms against the reference."""
    return JoinJudge(judge_normal_joins)


def duckdb_joins() -> JoinJudge:
    """The reference against DuckDB."""
    import duckdb

    from tests.differential.duck_joins import judge_duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return JoinJudge(lambda script, report: judge_duckdb(connection, script, report), plain=True)


def spark_joins() -> JoinJudge:
    """The reference against Spark."""
    from eddyline.spark import session
    from tests.differential.spark_joins import judge_spark

    spark = session("eddyline-fuzz", cores=1)
    return JoinJudge(lambda script, report: judge_spark(spark, script, report))


def engine_joins() -> JoinJudge:
    """The engine against the reference."""
    return JoinJudge(judge_engine)
