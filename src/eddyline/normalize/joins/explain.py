"""Normal forms of joins as text.

branch
├─ q: price in (-inf, 10.0)
├─ t: always true
├─ key: q.symbol = t.symbol
├─ time: t.ts - q.ts from 0 seconds to 5 seconds
└─ residual: gt(t.price, mul(q.price, 1.01))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eddyline.model.catalog import Stream
from eddyline.model.event_time import EventTime, length_text
from eddyline.model.expression import Column, Expression, walk
from eddyline.model.join import Branch, KeyPart, NormalJoin, Source, virtual_column
from eddyline.normalize.explain import Render, describe, explain
from eddyline.normalize.rewrite import with_columns


def explain_join(
    join: NormalJoin,
    streams: Mapping[str, Stream],
    render: Render = describe,
    render_joined: Render = describe,
) -> str:
    """The branches of a join, one after the other; `streams` are by their names.

    `render` writes expressions over the columns of one stream, `render_joined` those over the virtual source.
    """
    trees = []
    for branch in join.branches:
        lines = [
            f"{source.alias}: {explain(side, render)}"
            for source, side in zip(join.sources, branch.sides, strict=True)
        ]
        trees.append("branch\n" + _tree([*lines, *_joined_lines(join, branch, streams, render_joined)]))
    return "\n".join(trees) or "never true"


def _joined_lines(
    join: NormalJoin, branch: Branch, streams: Mapping[str, Stream], render: Render
) -> Iterator[str]:
    yield f"key: {key_text(join, branch, render)}"
    by = ", by the join window" if join.takes_join_window else ""
    yield f"time: {window_text(join, branch, streams)}{by}"
    if branch.residual is not None:
        yield f"residual: {render(branch.residual)}"


def key_text(join: NormalJoin, branch: Branch, render: Render = describe) -> str:
    """What a branch asks of both keys."""
    return " and ".join(
        (" <=> " if key.null_safe else " = ").join(map(render, virtual_keys(join, key)))
        for key in branch.keys
    )


def virtual_keys(join: NormalJoin, key: KeyPart) -> tuple[Expression, Expression]:
    """Both sides of a part of a key, over the virtual source."""
    (first, second), (source, other) = key.expressions, join.sources
    return of_source(first, source), of_source(second, other)


def window_text(join: NormalJoin, branch: Branch, streams: Mapping[str, Stream]) -> str:
    """What a branch asks of both event times."""
    kind = event_times(join.sources, streams)[0].type
    low, high = (length_text(end, kind) for end in (branch.window.low, branch.window.high))
    return f"{difference_text(join, streams)} " + (f"from {low} to {high}" if low != high else f"is {low}")


def difference_text(join: NormalJoin, streams: Mapping[str, Stream]) -> str:
    """What lies in the window: how far the event time of source 1 is after that of source 0."""
    first, second = (
        virtual_column(source.alias, times.column)
        for source, times in zip(join.sources, event_times(join.sources, streams), strict=True)
    )
    return f"{second} - {first}"


def event_times(sources: tuple[Source, Source], streams: Mapping[str, Stream]) -> tuple[EventTime, EventTime]:
    """Those of both sources, which count in one unit."""
    first, second = (streams[source.stream].times for source in sources)
    assert first is not None and second is not None, "joined streams have event times"
    return first, second


def of_source(expression: Expression, source: Source) -> Expression:
    """An expression over a source's own columns as the join writes it, over the virtual source."""
    columns = [node for node in walk(expression) if isinstance(node, Column)]
    return with_columns(
        expression,
        {each.name: Column(virtual_column(source.alias, each.name), each.type) for each in columns},
    )


def _tree(items: list[str]) -> str:
    """Items below one another; the further lines of an item stand under it."""
    lines = []
    for number, item in enumerate(items, start=1):
        tick, under = ("└─ ", "   ") if number == len(items) else ("├─ ", "│  ")
        lines.append(tick + item.replace("\n", "\n" + under))
    return "\n".join(lines)
