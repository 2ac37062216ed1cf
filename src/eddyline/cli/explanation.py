"""A query's way as text or JSON: what was written, what it was bound to, what each rewrite made of it."""

from __future__ import annotations

from dataclasses import dataclass

from eddyline.cli.output import Output
from eddyline.compile import Compiler
from eddyline.model.predicate import ALWAYS, NEVER, And, Condition, Predicate, conditions_of
from eddyline.model.query import BoundQuery, NormalQuery, Query
from eddyline.normalize import explain as tree_of
from eddyline.normalize import normalize, trace
from eddyline.normalize.explain import show_regions
from eddyline.sql.render import render


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

    def show(self, output: Output) -> None:
        """For people: one part per stage."""
        output.line(f'query "{self.bound.id}"' if self.bound.id else "query", "bold")
        _indented(output, self.bound.sql)
        output.heading(f"bound to the stream {self.bound.stream}, time zone {self.bound.time_zone}")
        _indented(output, render(self.bound.predicate))
        for rule, _, after in self.rewrites:
            output.heading(f"rewritten by {rule}")
            _indented(output, after)
        output.heading("normal form")
        _indented(output, self.verdict or tree_of(self.normal, render))
        if self.verdict is None:
            output.heading("subjects")
            output.table(("subject", "type", "is in"), self.subjects)
        output.heading("delivers")
        rows = [(o.name, str(o.expression.type), render(o.expression)) for o in self.bound.outputs]
        output.table(("name", "type", "from"), rows)


def _indented(output: Output, text: str) -> None:
    for line in text.split("\n"):
        output.line(f"  {line}")


def _json_tree(predicate: Predicate) -> dict[str, object]:
    if isinstance(predicate, Condition):
        kind = predicate.subject.type
        return {"subject": render(predicate.subject), "regions": show_regions(predicate.regions, kind)}
    return {"and" if isinstance(predicate, And) else "or": [_json_tree(part) for part in predicate.parts]}


def explain(compiler: Compiler, query: Query) -> Explanation:
    """Take a query all the way, keeping every stage; `QueryError` where it is refused."""
    bound = compiler.bind(query)
    return Explanation(bound, trace(bound, render), normalize(bound))
