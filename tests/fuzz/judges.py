"""Who judges the random statements: for each judge, where statements and rows come from and who decides."""

from __future__ import annotations

from collections.abc import Callable

from eddyline.testing.plain import plain_rows
from eddyline.testing.queries import statement
from eddyline.testing.rows import benign_rows, nasty_rows
from tests.fuzz.judge import Judge
from tests.fuzz.statements import StatementJudge


def _spark() -> list[Judge]:
    from eddyline.spark import session
    from tests.differential.agreement import judge_refusals, judge_text, judge_try

    spark = session("eddyline-fuzz", cores=1)
    return [
        StatementJudge(
            "try",
            statement,
            lambda seed: nasty_rows(seed, 48),
            lambda s, b, zone: judge_try(spark, s, b, zone).findings,
        ),
        StatementJudge(
            "text",
            statement,
            lambda seed: benign_rows(seed, 32),
            lambda s, b, zone: judge_text(spark, s, b, zone).findings,
        ),
        StatementJudge(
            "refusal",
            lambda seed: statement(seed, wild=0.06),
            lambda seed: benign_rows(seed, 2),
            lambda s, b, zone: judge_refusals(spark, s, b, zone).findings,
        ),
    ]


def _duckdb() -> list[Judge]:
    from tests.differential.duck import judge_duckdb, plain_statement

    return [
        StatementJudge(
            "duckdb", plain_statement, lambda seed: plain_rows(seed, 40), lambda s, b, _: judge_duckdb(s, b)
        )
    ]


def _normal() -> list[Judge]:
    from tests.differential.normal import judge_normal

    return [StatementJudge("normal", statement, lambda seed: nasty_rows(seed, 40), judge_normal)]


def _matches() -> list[Judge]:
    from tests.fuzz.sets import SetJudge

    return [SetJudge()]


def _joins() -> list[Judge]:
    from tests.fuzz.joins import duckdb_joins, normal_joins

    return [normal_joins(), duckdb_joins()]


def _engine_joins() -> list[Judge]:
    from tests.fuzz.joins import engine_joins

    return [engine_joins()]


def _spark_joins() -> list[Judge]:
    from tests.fuzz.joins import spark_joins

    return [spark_joins()]


def _relations() -> list[Judge]:
    from tests.fuzz.relations import relation_judges

    return [*relation_judges()]


JUDGES: dict[str, Callable[[], list[Judge]]] = {
    "spark": _spark,
    "duckdb": _duckdb,
    "normal": _normal,
    "matches": _matches,
    "joins": _joins,
    "engine-joins": _engine_joins,
    "spark-joins": _spark_joins,
    "relations": _relations,
}
