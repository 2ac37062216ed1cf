"""Where Eddyline and Spark say different things about random statements: five judgements, each a list of findings.

    render    what was bound, printed for Spark again, must give what the text gives, over benign rows: judges the
              parser, precedence, coercions and the printing, all by Spark alone
    text      the statement as written against the reference, over benign rows
    try       the bound expressions in Spark's failing-as-NULL forms, over nasty rows: judges every operation
    refusal   a text that only one of the two accepts
    matches   the rows that a query set of all statements finds, against those for which Spark says TRUE

Expected values are Spark's, three-valued: NULL differs from FALSE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession

from eddyline import reference
from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.errors import QueryError
from eddyline.model.expression import Call, Expression
from eddyline.model.query import BoundQuery, Query
from eddyline.queryset import QuerySet
from eddyline.sql import bind, render
from eddyline.testing.rows import EVERYTHING
from eddyline.testing.text import expression_text, statement_text, where_text
from eddyline.testing.tree import Statement
from tests.comparisons import compared
from tests.differential.exceptions import excused
from tests.differential.finding import UNJUDGED, Finding, Report, same, value_of
from tests.differential.judge import Failed, Refused, Values, Verdict, judge

Find = Callable[[QuerySet, pa.RecordBatch], Mapping[str, list[int]]]


def judge_text(
    spark: SparkSession, statements: Sequence[Statement], batch: pa.RecordBatch, zone: str = "UTC"
) -> Report:
    """Spark on the text as it is against the reference on what it was bound to, and who refuses what."""
    report = Report()
    rows = list(reference.rows(batch, EVERYTHING))
    for statement, verdicts in _spark_on_text(spark, statements, batch, zone):
        report.judged += 1
        bound = _bound(statement, zone)
        refusals = _refusals(verdicts)
        if refusals or isinstance(bound, QueryError):
            report.refused += 1
            finding = _refusal(statement, refusals, bound)
            if finding is not None:
                _file(report, finding)
        elif any(isinstance(v, Failed) for v in verdicts):
            report.failed += 1
        else:
            for expression, verdict in zip(_expressions(bound), verdicts, strict=True):
                finding = _difference("text", statement, expression, verdict, rows, zone)
                if finding is not None and _is_passed_over(spark, finding, batch, zone):
                    report.excused += 1
                elif finding is not None:
                    _file(report, finding)
                    break
    compared("Spark: text", report.judged)
    return report


def _is_passed_over(spark: SparkSession, finding: Finding, batch: pa.RecordBatch, zone: str) -> bool:
    """Whether Spark fails at all that failed here too, where it has to compute it.

    It did not: what it knows to have no NULLs, it does not compute to find out whether `IS NULL` holds.
    """
    assert finding.row is not None or not finding.failed, "what failed, failed in a row"
    row = batch.slice(finding.row or 0, 1)
    verdicts = judge(spark, row, [render(call) for call in finding.failed], time_zone=zone)
    return bool(verdicts) and all(isinstance(verdict, Failed) for verdict in verdicts)


def judge_render(
    spark: SparkSession, statements: Sequence[Statement], batch: pa.RecordBatch, zone: str = "UTC"
) -> Report:
    """Spark on the text against Spark on what the text was bound to, and who refuses what."""
    report = Report()
    bound = {s: b for s in statements if isinstance(b := _bound(s, zone), BoundQuery)}
    texts = [render(e) for b in bound.values() for e in _expressions(b)]
    verdicts = iter(judge(spark, batch, texts, time_zone=zone))
    ours = {s: [next(verdicts) for _ in _expressions(b)] for s, b in bound.items()}
    for statement, several in _spark_on_text(spark, statements, batch, zone):
        report.judged += 1
        _compare_rendered(report, statement, bound.get(statement), several, ours.get(statement, []))
    compared("Spark: render", report.judged)
    return report


def _compare_rendered(
    report: Report, statement: Statement, bound: BoundQuery | None, texts: list[Verdict], ours: list[Verdict]
) -> None:
    if bound is None or any(isinstance(v, Refused) for v in texts):
        report.refused += 1
        return
    if any(isinstance(v, Failed) for v in texts):
        report.failed += 1
        return
    for expression, expected, actual in zip(_expressions(bound), texts, ours, strict=True):
        assert isinstance(expected, Values), "neither refused nor failed"
        if not isinstance(actual, Values):
            _file(report, Finding("render", statement, expected.type, actual, detail=render(expression)))
            return
        for row, (one, other) in enumerate(
            zip(canonical(expected.array), canonical(actual.array), strict=True)
        ):
            if not same(one, other):
                _file(report, Finding("render", statement, one, other, row, render(expression)))
                return


def judge_refusals(
    spark: SparkSession, statements: Sequence[Statement], batch: pa.RecordBatch, zone: str = "UTC"
) -> Report:
    """Only who refuses what, and the types of what both accept."""
    report = Report()
    for statement, verdicts in _spark_on_text(spark, statements, batch, zone, only_types=True):
        report.judged += 1
        bound = _bound(statement, zone)
        refusals = _refusals(verdicts)
        report.refused += bool(refusals)
        finding = _refusal(statement, refusals, bound)
        if finding is None and isinstance(bound, BoundQuery):
            types = [
                (v.type, str(e.type))
                for v, e in zip(verdicts, _expressions(bound), strict=True)
                if not isinstance(v, Refused)
            ]
            wrong = [pair for pair in types if not _same_type(*pair)]
            finding = Finding("type", statement, *wrong[0]) if wrong else None
        if finding is not None:
            _file(report, finding)
    compared("Spark: refusals", report.judged)
    return report


def _same_type(spark: str, here: str) -> bool:
    """Whether the types are one; a bare NULL is a condition here, and intervals have no fields here."""
    return spark == here or spark == "void" or (spark.startswith("interval") and here.startswith("interval"))


def judge_try(
    spark: SparkSession,
    statements: Sequence[Statement],
    batch: pa.RecordBatch,
    zone: str = "UTC",
    *,
    codegen: bool = False,
) -> Report:
    """Spark on the failing-as-NULL forms against the reference; statements that are not accepted are skipped."""
    report = Report()
    rows = list(reference.rows(batch, EVERYTHING))
    pairs = [(s, b) for s in statements if isinstance(b := _bound(s, zone), BoundQuery)]
    expressions = [(s, e) for s, b in pairs for e in _expressions(b)]
    report.judged = len(pairs)
    texts = [render(e, try_forms=True) for _, e in expressions]
    verdicts = judge(spark, batch, texts, time_zone=zone, codegen=codegen)
    for (statement, expression), verdict in zip(expressions, verdicts, strict=True):
        finding = _difference("try", statement, expression, verdict, rows, zone)
        if finding is not None:
            _file(report, finding)
    compared("Spark: try", report.judged)
    return report


def judge_matches(
    spark: SparkSession,
    statements: Sequence[Statement],
    batch: pa.RecordBatch,
    zone: str = "UTC",
    *,
    settings: IndexSettings = DEFAULT_INDEX,
    text: bool = False,
    find: Find | None = None,
) -> Report:
    """Spark against one query set of all statements; `text`: as written, else in the failing-as-NULL forms.

    `find` gives the rows of each query, if it is not the query set itself that is judged.
    """
    report = Report()
    pairs = [(s, b) for s in statements if isinstance(b := _bound(s, zone), BoundQuery)]
    queries = {str(i): statement_text(statement) for i, (statement, _) in enumerate(pairs)}
    queryset = QuerySet.build(queries, streams=[EVERYTHING], time_zone=zone, settings=settings)
    matches = queryset.match(batch)
    found = {id: matches.rows(id).tolist() for id in queries} if find is None else find(queryset, batch)
    if text:
        verdicts = dict(_spark_on_text(spark, [statement for statement, _ in pairs], batch, zone))
        judged = [verdicts[statement][-1] for statement, _ in pairs]
    else:
        texts = [render(bound.predicate, try_forms=True) for _, bound in pairs]
        judged = judge(spark, batch, texts, time_zone=zone)
    report.judged = len(pairs)
    for id, (statement, _), verdict in zip(queries, pairs, judged, strict=True):
        if isinstance(verdict, Values):
            expected = [row for row, value in enumerate(canonical(verdict.array)) if value is True]
            if found.get(id, []) != expected:
                _file(report, Finding("matches", statement, expected, found.get(id, [])))
        elif text:
            report.failed += 1
        else:
            _file(report, Finding("try", statement, verdict, "a value"))
    compared("Spark: matches", report.judged)
    return report


def _file(report: Report, finding: Finding) -> None:
    if excused(finding):
        report.excused += 1
    else:
        report.findings.append(finding)


def _spark_on_text(
    spark: SparkSession,
    statements: Sequence[Statement],
    batch: pa.RecordBatch,
    zone: str,
    *,
    only_types: bool = False,
) -> Iterator[tuple[Statement, list[Verdict]]]:
    """Spark's verdicts on each statement's outputs and condition, in the order of `_expressions`."""
    for alias in sorted({s.alias for s in statements}):
        group = [s for s in statements if s.alias == alias]
        texts = [[*(expression_text(s, node) for node, _ in s.outputs), where_text(s)] for s in group]
        flat = [text for several in texts for text in several]
        verdicts = iter(judge(spark, batch, flat, alias=alias, time_zone=zone, only_types=only_types))
        for statement, several in zip(group, texts, strict=True):
            yield statement, [next(verdicts) for _ in several]


def _bound(statement: Statement, zone: str) -> BoundQuery | QueryError:
    try:
        return bind(Query("q", statement_text(statement)), [EVERYTHING], time_zone=zone)
    except QueryError as error:
        return error


def _expressions(bound: BoundQuery) -> list[Expression]:
    star = bound.outputs and bound.outputs[0].name == EVERYTHING.schema.names[0]
    return [*([] if star else [output.expression for output in bound.outputs]), bound.predicate]


def _refusals(verdicts: list[Verdict]) -> list[str]:
    """Why Spark does not accept the statement; its last verdict is on WHERE, which must be boolean."""
    where = verdicts[-1]
    wrong = (
        [] if isinstance(where, Refused) or where.type in ("boolean", "void") else [f"WHERE is {where.type}"]
    )
    return [v.reason for v in verdicts if isinstance(v, Refused)] + wrong


def _refusal(statement: Statement, refusals: list[str], bound: BoundQuery | QueryError) -> Finding | None:
    if refusals and not isinstance(bound, QueryError):
        return Finding("refusal", statement, "refused", "accepted", detail=refusals[0])
    if not refusals and isinstance(bound, QueryError):
        return Finding("refusal", statement, "accepted", "refused", detail=str(bound))
    return None


def _difference(
    judgement: str,
    statement: Statement,
    expression: Expression,
    verdict: Verdict,
    rows: Sequence[object],
    zone: str,
) -> Finding | None:
    if not isinstance(verdict, Values):
        return Finding(judgement, statement, verdict, "a value", detail=render(expression, try_forms=True))
    if not _same_type(verdict.type, str(expression.type)):
        return Finding(judgement, statement, verdict.type, str(expression.type), detail="types differ")
    for i, (row, expected) in enumerate(zip(rows, canonical(verdict.array), strict=True)):
        failed: list[Expression] = []
        actual = value_of(
            partial(reference.evaluate, expression, row, time_zone=zone, on_failure=failed.append)
        )
        if actual is not UNJUDGED and not same(actual, expected):
            names = ", ".join(sorted({call.function for call in failed if isinstance(call, Call)}))
            detail = f"failed: {names}" if names else ""
            return Finding(judgement, statement, expected, actual, i, detail, tuple(failed))
    return None


def canonical(array: pa.ChunkedArray | pa.Array) -> list[object]:
    """Values as `model.types` holds them: times as integers."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        return list(array.cast(pa.int64()).to_pylist())
    if pa.types.is_date32(kind):
        return list(array.cast(pa.int32()).to_pylist())
    if pa.types.is_string(kind):
        return [
            None if b is None else b.decode(errors="surrogateescape")
            for b in array.cast(pa.binary()).to_pylist()
        ]
    return list(array.to_pylist())
