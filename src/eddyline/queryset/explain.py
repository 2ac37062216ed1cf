"""How a set is compiled, and how one of its queries is served, in words."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.index.choose import MAX_POINTS
from eddyline.index.keyed import KeyedIndex
from eddyline.index.segment import Segment
from eddyline.index.sliced import SlicedIndex
from eddyline.model.query import NormalQuery
from eddyline.normalize.explain import explain as explain_normal
from eddyline.sql.render import render


def explain_set(queries: int, version: int, segments: Sequence[Segment]) -> str:
    """The size of a compiled set: subjects, conditions, regions, steps, bytes."""
    lines = [f"version {version}: {queries} queries in {len(segments)} segments"]
    for place, segment in enumerate(segments):
        sliced, keyed = segment.sliced, segment.keyed
        lines.append(f"segment {place}, stream {segment.stream}")
        if sliced.program.results:
            lines.append(f"  sliced: {_describe_sliced(sliced)}")
        if keyed.tables:
            lines.append(f"  keyed: {_describe_keyed(keyed)}")
            for table in keyed.tables:
                names = [render(keyed.cuttings[subject].subject) for subject in (table.access, *table.checks)]
                checks = f", then checks {', '.join(names[1:])}" if len(names) > 1 else ""
                lines.append(f"    by {names[0]}{checks}: {len(table.results)} entries")
    return "\n".join(lines)


def _describe_sliced(index: SlicedIndex) -> str:
    program = index.program
    regions = sum(cutting.size for cutting in index.cuttings)
    return (
        f"{program.results} queries, {len(index.cuttings)} subjects, {index.conditions} distinct conditions, "
        f"{regions} regions, {len(program.steps.targets)} steps, {index.bytes} bytes"
    )


def _describe_keyed(index: KeyedIndex) -> str:
    regions = sum(cutting.size for cutting in index.cuttings)
    entries = sum(len(table.results) for table in index.tables)
    return f"{entries} entries, {len(index.cuttings)} subjects, {regions} regions, {index.bytes} bytes"


def explain_query(query: NormalQuery, number: int, segments: Sequence[Segment]) -> str:
    """The normal form of a query, which executor serves it, and why."""
    lines = [query.sql, "normal form", explain_normal(query.predicate, render=render)]
    for segment in segments:
        for table in segment.keyed.tables:
            if number in table.results:
                subject = render(segment.keyed.cuttings[table.access].subject)
                lines.append(
                    f"served by key: {subject} is compared with at most {MAX_POINTS} values in this query and with "
                    f"{len(segment.keyed.cuttings[table.access].constants)} in the set, so a tuple meets only the "
                    "queries of its own value"
                )
                return "\n".join(lines)
        if number in segment.sliced.numbers:
            lines.append(
                "served sliced: its conditions are shared masks, joined by AND and OR for 512 tuples at once"
            )
            return "\n".join(lines)
    lines.append("served by nothing: it is never true")
    return "\n".join(lines)
