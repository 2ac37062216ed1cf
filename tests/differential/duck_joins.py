"""DuckDB as the judge of joins whose text means the same there: batch SQL for each stretch over which a join stands."""

from __future__ import annotations

import duckdb

from eddyline.model import types as t
from eddyline.testing.joins.scripts import JoinScript, run_reference
from tests.comparisons import compared
from tests.differential.join_stretches import JoinReport, arrived, as_written, judge_pairs, stretches

_NUMBERS = {t.TIMESTAMP_NTZ: "epoch_us({})"}


def judge_duckdb(connection: duckdb.DuckDBPyConnection, script: JoinScript, report: JoinReport) -> None:
    """Compare what the reference finds with what DuckDB does."""
    result = run_reference(script)
    for name, tuples in arrived(script, result).items():
        connection.register(name, tuples)
    answers = [
        set(connection.execute(as_written(script, stretch, _NUMBERS)).fetchall())
        for stretch in stretches(script)
    ]
    compared("DuckDB: joins", len(answers))
    judge_pairs(script, result, answers, "duckdb", report)
