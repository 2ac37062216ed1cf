"""Who judges the random statements: for each judge, where statements and rows come from and who decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from eddyline.testing.plain import plain_rows
from eddyline.testing.queries import statement
from eddyline.testing.rows import benign_rows, nasty_rows
from eddyline.testing.tree import Statement
from tests.differential.finding import Finding

Check = Callable[[Sequence[Statement], pa.RecordBatch, str], list[Finding]]


@dataclass(frozen=True)
class Judge:
    """One judgement; `check` takes statements, rows and a time zone."""

    name: str
    statement: Callable[[int], Statement]
    rows: Callable[[int], pa.RecordBatch]
    check: Check


def _spark() -> list[Judge]:
    from eddyline.spark import session
    from tests.differential.agreement import judge_refusals, judge_text, judge_try

    spark = session("eddyline-fuzz", cores=1)
    return [
        Judge(
            "try",
            statement,
            lambda seed: nasty_rows(seed, 48),
            lambda s, b, zone: judge_try(spark, s, b, zone).findings,
        ),
        Judge(
            "text",
            statement,
            lambda seed: benign_rows(seed, 32),
            lambda s, b, zone: judge_text(spark, s, b, zone).findings,
        ),
        Judge(
            "refusal",
            lambda seed: statement(seed, wild=0.06),
            lambda seed: benign_rows(seed, 2),
            lambda s, b, zone: judge_refusals(spark, s, b, zone).findings,
        ),
    ]


def _duckdb() -> list[Judge]:
    from tests.differential.duck import judge_duckdb, plain_statement

    return [
        Judge(
            "duckdb", plain_statement, lambda seed: plain_rows(seed, 40), lambda s, b, _: judge_duckdb(s, b)
        )
    ]


def _normal() -> list[Judge]:
    from tests.differential.normal import judge_normal

    return [Judge("normal", statement, lambda seed: nasty_rows(seed, 40), judge_normal)]


def _matches() -> list[Judge]:
    from tests.differential.configured import judge_configured

    return [Judge("matches", statement, lambda seed: nasty_rows(seed, 40), judge_configured)]


JUDGES: dict[str, Callable[[], list[Judge]]] = {
    "spark": _spark,
    "duckdb": _duckdb,
    "normal": _normal,
    "matches": _matches,
}
