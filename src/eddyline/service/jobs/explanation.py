"""A query's way: what was written, what it was bound to, what each rewrite made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eddyline.compile import Compiler
from eddyline.errors import FileError, QueryError, UsageError
from eddyline.execute.pricing.cost_text import side_title
from eddyline.model.catalog import Stream
from eddyline.model.expression import Expression
from eddyline.model.join import BoundJoin, NormalJoin
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Predicate, conditions_of
from eddyline.model.query import BoundQuery, NormalQuery, Query
from eddyline.normalize import TracedBranch, explain_join, normalize, trace, trace_join
from eddyline.normalize.explain import show_regions
from eddyline.normalize.joins.explain import virtual_keys, window_text
from eddyline.service.data_sources import check_zone
from eddyline.service.files.event_times import NO_OPTIONS, TimeOptions, stated_window
from eddyline.service.files.queries import FileEntry, QueryFile, is_query_file, read_queries
from eddyline.service.files.schemas import read_source, streams_of
from eddyline.service.findings import ERROR, Finding
from eddyline.sql.render import render, render_joined

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
            "rewrites": _rewrites_json(self.rewrites),
            "normal_form": _json_tree(self.normal.predicate),
            "never_true": self.normal.predicate == NEVER,
            "always_true": self.normal.predicate == ALWAYS,
            "subjects": [
                {"subject": s, "type": kind, "regions": regions} for s, kind, regions in self.subjects
            ],
            "outputs": _outputs_json(self.bound, render),
        }


@dataclass(frozen=True, slots=True)
class JoinExplanation:
    """All stages of one join; `streams` are by their names."""

    bound: BoundJoin
    branches: list[TracedBranch]
    normal: NormalJoin
    streams: Mapping[str, Stream]

    @property
    def verdict(self) -> str | None:
        """What can be said without looking at any tuple."""
        return None if self.branches else "never true: no pair can ever match"

    @property
    def normal_form(self) -> str:
        """The branches as text."""
        return self.verdict or explain_join(self.normal, self.streams, render, render_joined)

    @property
    def rewrites(self) -> Iterator[tuple[str, str, str]]:
        """Every rewrite of a side: which side it is, the rule, and the text after it."""
        for number, branch in enumerate(self.branches):
            for side, traced in enumerate(branch.sides):
                title = side_title(self.normal, number, side)
                yield from ((title, rule, after) for rule, _, after in traced.rewrites)

    def as_json(self) -> dict[str, object]:
        """For machines."""
        return {
            "query": self.bound.id,
            "sql": self.bound.sql,
            "stream": self.bound.stream,
            "sources": [{"alias": source.alias, "stream": source.stream} for source in self.bound.sources],
            "time_zone": self.bound.time_zone,
            "bound": render_joined(self.bound.predicate),
            "branches": [self._branch_json(branch) for branch in self.branches],
            "never_true": not self.branches,
            "outputs": _outputs_json(self.bound, render_joined),
        }

    def _branch_json(self, traced: TracedBranch) -> dict[str, object]:
        branch = traced.branch
        keys = [
            {
                "expressions": [render_joined(each) for each in virtual_keys(self.normal, key)],
                "null_safe": key.null_safe,
            }
            for key in branch.keys
        ]
        return {
            "sides": [
                {
                    "alias": source.alias,
                    "bound": render(side.bound.predicate),
                    "rewrites": _rewrites_json(side.rewrites),
                    "normal_form": _json_tree(predicate),
                    "free": predicate == ALWAYS,
                }
                for source, side, predicate in zip(
                    self.normal.sources, traced.sides, branch.sides, strict=True
                )
            ],
            "keys": keys,
            "window": {
                "low": branch.window.low,
                "high": branch.window.high,
                "text": window_text(self.normal, branch, self.streams),
                "is_join_window": self.normal.takes_join_window,
            },
            "residual": None if branch.residual is None else render_joined(branch.residual),
        }


def _rewrites_json(rewrites: Iterable[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [{"rule": rule, "before": before, "after": after} for rule, before, after in rewrites]


def _outputs_json(bound: BoundQuery | BoundJoin, text: Callable[[Expression], str]) -> list[dict[str, str]]:
    return [
        {"name": o.name, "expression": text(o.expression), "type": str(o.expression.type)}
        for o in bound.outputs
    ]


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
    times: TimeOptions = NO_OPTIONS,
    join_window: str | None = None,
    time_zone: str = "UTC",
) -> Explanation | JoinExplanation | Finding:
    """Take a query, a text or one of a file, all the way, keeping every stage; a finding where it is refused."""
    check_zone(time_zone)
    window = stated_window(join_window)
    is_file = is_query_file(query)
    entry = _choose(read_queries(query), id) if is_file else FileEntry(Query(AD_HOC, query), "SQL", 1, query)
    sources = [read_source(option) for option in schemas]
    streams = streams_of(sources, [entry.query], name=stream, times=times)
    try:
        compiler = Compiler(streams, time_zone=time_zone, join_window=window)
        bound = compiler.bind(entry.query)
        if isinstance(bound, BoundQuery):
            return Explanation(bound, trace(bound, render), normalize(bound))
        by_name = {each.name: each for each in compiler.streams}
        plan = compiler.plan_join(entry.query, bound)
        return JoinExplanation(bound, trace_join(plan, render), plan.instantiate(), by_name)
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
