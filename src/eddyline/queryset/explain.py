"""How a set is compiled, and how one of its queries is served, in words."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.execute.placed import Placed
from eddyline.model.query import NormalQuery
from eddyline.normalize.explain import explain as explain_normal
from eddyline.sql.render import render


def explain_set(queries: int, version: int, segments: Sequence[Placed]) -> str:
    """The size of a compiled set: subjects, conditions, regions, steps, bytes."""
    lines = [f"version {version}: {queries} queries in {len(segments)} segments"]
    for place, placed in enumerate(segments):
        lines.append(f"segment {place}, stream {placed.segment.stream}")
        for executor in placed.executor.executors.values():
            lines += [f"  {line}" for line in executor.describe(None)]
    return "\n".join(lines)


def explain_query(query: NormalQuery, number: int, segments: Sequence[Placed]) -> str:
    """The normal form of a query, which executor serves it, and why."""
    lines = [query.sql, "normal form", explain_normal(query.predicate, render=render)]
    served: list[str] = []
    for placed in segments:
        slot = placed.numbering.slot(number)
        for executor in placed.executor.executors.values() if slot >= 0 else ():
            served += executor.describe(slot)
    return "\n".join([*lines, *(served or ["served by nothing: it is never true"])])
