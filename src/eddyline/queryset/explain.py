"""How a set is compiled, and how one of its queries is served, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eddyline.execute.placed import Placed
from eddyline.index.choose import MAX_POINTS
from eddyline.index.keyed import KeyedIndex, KeyedTable
from eddyline.index.rowwise import RowwiseIndex
from eddyline.index.segment import Segment
from eddyline.index.sliced import SlicedIndex
from eddyline.model.query import NormalQuery
from eddyline.normalize.explain import explain as explain_normal
from eddyline.sql.render import render

MOST_SUBJECTS: Final = 8  # of a sequence are named
SLICED: Final = "its conditions are shared masks, joined by AND and OR for 512 tuples at once"


def explain_set(queries: int, version: int, segments: Sequence[Segment], *, adapts: bool) -> str:
    """The size of a compiled set: subjects, conditions, regions, steps, bytes; adapts: whether orders follow the data."""
    lines = [f"version {version}: {queries} queries in {len(segments)} segments"]
    for place, segment in enumerate(segments):
        sliced, keyed = segment.sliced, segment.keyed
        lines.append(f"segment {place}, stream {segment.stream}")
        if sliced.program.results:
            lines.append(f"  sliced: {_describe_sliced(sliced)}")
        if segment.rowwise is not None:
            lines += [f"  {line}" for line in _describe_rowwise(segment.rowwise, adapts)]
        if keyed.tables:
            lines.append(f"  keyed: {_describe_keyed(keyed)}")
            for table in keyed.tables:
                checks = ", ".join([render(keyed.checks[check].subject) for check in table.checks])
                then = f", then checks {checks}" if checks else ""
                lines.append(f"    by {_key(keyed, table)}{then}: {len(table.results)} entries")
    return "\n".join(lines)


def _describe_sliced(index: SlicedIndex) -> str:
    program = index.program
    regions = sum(cutting.regions for cutting in index.cuttings)
    hulls = [render(index.cuttings[hull.subject].subject) for hull in index.hulls]
    filtered = (
        f"; every query asks about {', '.join(hulls)}: rows outside may be left out first" if hulls else ""
    )
    return (
        f"{program.results} queries, {len(index.cuttings)} subjects, {index.conditions} distinct conditions, "
        f"{regions} regions, {len(program.steps.targets)} steps, {index.bytes} bytes{filtered}"
    )


def _describe_keyed(index: KeyedIndex) -> str:
    entries = sum(len(table.results) for table in index.tables)
    values = sum(len(cutting.constants) for cutting in index.keys)
    return f"{entries} entries, {len(index.keys)} key subjects of {values} values, {index.bytes} bytes"


def _key(index: KeyedIndex, table: KeyedTable) -> str:
    return " and ".join([render(index.keys[key].subject) for key in table.keys])


def _describe_rowwise(index: RowwiseIndex, adapts: bool) -> list[str]:
    ascs, rest = index.ascs, index.rest.program.results
    limit = "" if index.most_rows is None else f" in batches of up to {index.most_rows} rows"
    regions = sum(asc.regions for asc in ascs.ascs)
    head = (
        f"row by row{limit}: {len(ascs.numbers)} queries, {len(ascs.ascs)} subjects, {regions} regions, "
        f"{ascs.bytes} bytes"
    )
    lines = [head, f"  in the sequence {_sequence(index)}{_beginning(index, adapts)}"]
    if rest:
        lines.append(f"  and the others sliced: {_describe_sliced(index.rest)}")
    return lines


def _beginning(index: RowwiseIndex, adapts: bool) -> str:
    """What becomes of a sequence that follows the data."""
    if not adapts:
        return ""
    more = "" if index.most_rows is None else "; larger batches come this way where it is quicker"
    return f", to begin with: it follows the data{more} (see order_report)"


def _sequence(index: RowwiseIndex) -> str:
    subjects = [render(index.ascs.ascs[subject].subject) for subject in index.sequence.subjects]
    shown = [
        *subjects[:MOST_SUBJECTS],
        *([f"{len(subjects) - MOST_SUBJECTS} more"] * (len(subjects) > MOST_SUBJECTS)),
    ]
    return " -> ".join(shown)


def explain_query(query: NormalQuery, number: int, segments: Sequence[Placed], *, adapts: bool) -> str:
    """The normal form of a query, which executor serves it, and why."""
    lines = [query.sql, "normal form", explain_normal(query.predicate, render=render)]
    for placed in segments:
        segment, slot = placed.segment, placed.numbering.slot(number)
        tables = [table for table in segment.keyed.tables if slot in table.results]
        if tables:
            return "\n".join(
                [*lines, *(f"served by key: {_reason(segment.keyed, table)}" for table in tables)]
            )
        served = _explain_unkeyed(slot, segment, adapts)
        if served:
            return "\n".join([*lines, *served])
    lines.append("served by nothing: it is never true")
    return "\n".join(lines)


def _explain_unkeyed(slot: int, segment: Segment, adapts: bool) -> list[str]:
    """Who serves a query that has no key: of these, an executor for small batches and one for the others."""
    index = segment.rowwise
    lines = []
    if slot in segment.sliced.numbers:
        lines.append(f"served sliced: {SLICED}")
    if index is not None and slot in index.rest.numbers:
        if not lines:
            lines.append(f"served sliced, being no plain conjunction: {SLICED}")
    elif index is not None and slot in index.ascs.numbers:
        when = "" if index.most_rows is None else f" in batches of up to {index.most_rows} rows"
        lines.append(
            f"served row by row{when}: a tuple visits the subjects in the sequence {_sequence(index)}, those "
            f"first that leave the fewest queries possible{_beginning(index, adapts)}"
        )
        if index.most_rows is not None:
            lines.append("  because a mask of 512 tuples costs the same for a few of them")
    return lines


def _reason(index: KeyedIndex, table: KeyedTable) -> str:
    """Why a tuple meets few queries of a table."""
    sizes = " and ".join([str(len(index.keys[key].constants)) for key in table.keys])
    few, own = f"at most {MAX_POINTS} values", "its own value"
    if len(table.keys) > 1:
        few, own = f"at most {MAX_POINTS} combinations of values", "its own combination"
    is_, each = ("is", "") if len(table.keys) == 1 else ("are", ", each,")
    return (
        f"{_key(index, table)} {is_} compared with {few} in this query and with {sizes} values{each} in the set, so a "
        f"tuple meets only the queries of {own}"
    )
