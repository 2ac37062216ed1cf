"""Reduces a failing statement and its rows to a small pair that still fails, by cutting sub-trees and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import pyarrow as pa

from eddyline.testing.text import FORMS
from eddyline.testing.tree import ExpressionTree, Statement, walk

Fails = Callable[[Statement, pa.RecordBatch], bool]

# The simplest expressions of each family, tried in this order.
_SIMPLE: Final = {
    "boolean": ("TRUE",),
    "small": ("1",),
    "long": ("1L",),
    "fraction": ("1D",),
    "decimal": ("1.0",),
    "text": ("'a'",),
    "number text": ("'1'",),
    "date text": ("'2020-01-01'",),
    "time text": ("'2020-01-01 00:00:00'",),
    "binary": ("X'61'",),
    "date": ("DATE'2020-01-01'",),
    "timestamp": ("TIMESTAMP'2020-01-01 00:00:00'",),
    "wall clock": ("TIMESTAMP_NTZ'2020-01-01 00:00:00'",),
    "day-time": ("INTERVAL '1' DAY",),
    "year-month": ("INTERVAL '1' MONTH",),
}


def shrink(
    statement: Statement, rows: pa.RecordBatch, fails: Fails, *, tries: int = 500
) -> tuple[Statement, pa.RecordBatch]:
    """The smallest failing pair that `tries` attempts find; the given one must fail."""
    budget = iter(range(tries))

    def attempt(candidate: Statement, batch: pa.RecordBatch) -> bool:
        return next(budget, None) is not None and fails(candidate, batch)

    rows = _fewer_rows(statement, rows, attempt)
    progress = True
    while progress:
        progress = False
        for candidate in smaller(statement):
            if attempt(candidate, rows):
                statement, progress = candidate, True
                break
    return statement, rows


def _fewer_rows(statement: Statement, rows: pa.RecordBatch, fails: Fails) -> pa.RecordBatch:
    """Halve the rows for as long as one half fails."""
    while rows.num_rows > 1:
        middle = rows.num_rows // 2
        halves = (rows.slice(0, middle), rows.slice(middle))
        for half in halves:
            if fails(statement, half):
                rows = half
                break
        else:
            return rows
    return rows


def smaller(statement: Statement) -> Iterator[Statement]:
    """Statements a step smaller, the boldest steps first."""
    if statement.style is not None:
        yield replace(statement, style=None)
    if statement.alias:
        yield replace(statement, alias="")
    if statement.outputs and statement.where is not None:
        yield replace(statement, where=None)
    if statement.outputs:
        yield replace(statement, outputs=())
        for i, (node, name) in enumerate(statement.outputs):
            if len(statement.outputs) > 1:
                yield replace(statement, outputs=((node, name),))
            for cut in _cuts(node):
                outputs = list(statement.outputs)
                outputs[i] = (cut, name)
                yield replace(statement, outputs=tuple(outputs))
    if statement.where is not None:
        for cut in _cuts(statement.where):
            yield replace(statement, where=cut)


def _cuts(node: ExpressionTree) -> Iterator[ExpressionTree]:
    """The node with one sub-tree, anywhere in it, made smaller."""
    if node.children:
        for word in _SIMPLE.get(node.family, ()):
            yield ExpressionTree("literal", node.family, (), word)
    for below in walk(node) if node.family else ():
        if below is not node and below.family == node.family and below.form != "literal":
            yield below
    yield from _fewer_children(node)
    for i, child in enumerate(node.children):
        for cut in _cuts(child):
            yield replace(node, children=(*node.children[:i], cut, *node.children[i + 1 :]))


def _fewer_children(node: ExpressionTree) -> Iterator[ExpressionTree]:
    fewest = FORMS[node.form].fewest
    if not fewest or len(node.children) <= fewest:
        return
    if node.form.startswith("case"):
        first = 1 if node.form == "case value" else 0
        if len(node.children) - first > 2 and (len(node.children) - first) % 2:
            yield replace(node, children=node.children[:-1])
        if len(node.children) - first > 3:
            yield replace(node, children=(*node.children[:first], *node.children[first + 2 :]))
        return
    if node.form == "call":  # only lists lose arguments: a function's other arguments have their places
        return
    for i in range(len(node.children) - 1, 0, -1):
        yield replace(node, children=(*node.children[:i], *node.children[i + 1 :]))
