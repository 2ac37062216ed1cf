"""A query's way: what was written, what it was bound to, what each rewrite made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from eddyline.compile import Compiler
from eddyline.errors import FileError, QueryError, UsageError
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Predicate, conditions_of
from eddyline.model.query import BoundQuery, NormalQuery, Query
from eddyline.normalize import normalize, trace
from eddyline.normalize.explain import show_regions
from eddyline.service.data_sources import check_zone
from eddyline.service.files.queries import FileEntry, QueryFile, is_query_file, read_queries
from eddyline.service.files.schemas import read_source, streams_of
from eddyline.service.findings import ERROR, Finding
from eddyline.sql.render import render

AD_HOC: Final = ""  # id of a query that is given as text


@dataclass(frozen=True, slots=True)
class Explanation:
    """All stages of one query."""

    bound: BoundQuery
    rewrites: list[tuple[str, str, str]]
    normal: NormalQuery

    @property
    def verdict(self) -> str | None:
        """What can be said without looking at any tuple."""
        if self.normal.predicate == NEVER:
            return "never true: no tuple can ever match"
        return "always true: every tuple matches" if self.normal.predicate == ALWAYS else None

    @property
    def subjects(self) -> list[tuple[str, str, str]]:
        """Subject, type and regions of every distinct condition, in the order of the normal form."""
        return [
            (render(c.subject), str(c.subject.type), show_regions(c.regions, c.subject.type))
            for c in dict.fromkeys(conditions_of(self.normal.predicate))
        ]

    def as_json(self) -> dict[str, object]:
        """For machines."""
        return {
            "query": self.bound.id,
            "sql": self.bound.sql,
            "stream": self.bound.stream,
            "time_zone": self.bound.time_zone,
            "bound": render(self.bound.predicate),
            "rewrites": [
                {"rule": rule, "before": before, "after": after} for rule, before, after in self.rewrites
            ],
            "normal_form": _json_tree(self.normal.predicate),
            "never_true": self.normal.predicate == NEVER,
            "always_true": self.normal.predicate == ALWAYS,
            "subjects": [
                {"subject": s, "type": kind, "regions": regions} for s, kind, regions in self.subjects
            ],
            "outputs": [
                {"name": o.name, "expression": render(o.expression), "type": str(o.expression.type)}
                for o in self.bound.outputs
            ],
        }


def _json_tree(predicate: Predicate) -> dict[str, object]:
    if isinstance(predicate, Condition):
        kind = predicate.subject.type
        return {"subject": render(predicate.subject), "regions": show_regions(predicate.regions, kind)}
    return {"and" if isinstance(predicate, And) else "or": [_json_tree(part) for part in predicate.parts]}


def explain(
    query: str,
    schemas: Sequence[str],
    *,
    id: str | None = None,
    stream: str | None = None,
    time_zone: str = "UTC",
) -> Explanation | Finding:
    """Take a query, a text or one of a file, all the way, keeping every stage; a finding where it is refused."""
    check_zone(time_zone)
    is_file = is_query_file(query)
    entry = _choose(read_queries(query), id) if is_file else FileEntry(Query(AD_HOC, query), "SQL", 1, query)
    streams = streams_of([read_source(option) for option in schemas], [entry.query], name=stream)
    try:
        bound = Compiler(streams, time_zone=time_zone).bind(entry.query)
        return Explanation(bound, trace(bound, render), normalize(bound))
    except QueryError as error:
        finding = entry.finding(ERROR, error)
        return finding if is_file else replace(finding, query=None)


def _choose(file: QueryFile, id: str | None) -> FileEntry:
    ids = [entry.query.id for entry in file.entries]
    listed = ", ".join(ids[:10]) + (f" and {len(ids) - 10} more" if len(ids) > 10 else "")
    if not ids:
        problem = file.problems[0]
        where = "" if problem.line is None else f", line {problem.line}"
        raise FileError(f'"{file.name}"{where}: {problem.message}', hint=problem.hint)
    if id is None and len(ids) > 1:
        raise UsageError(f"the file has {len(ids)} queries; choose one with --id: {listed}")
    if id is not None and id not in ids:
        raise UsageError(f'the file has no query "{id}"; it has {listed}')
    return file.entries[0 if id is None else ids.index(id)]
