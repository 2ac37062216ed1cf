"""Normal forms as text: a tree of subjects and their regions, and what each rule has changed about it.

or
├─ price in (-inf, 10.0)
└─ and
   ├─ symbol in {'A'} or {'B'}
   └─ lt(low, high) in {true}
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from eddyline.model import types as t
from eddyline.model.event_time import length_text
from eddyline.model.expression import Call, Column, Expression, Literal, Parameter, walk
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.query import BoundQuery, NormalQuery
from eddyline.model.regions import Cut, Regions
from eddyline.normalize.pipeline import RULES, Rule, normalize

Render = Callable[[Expression], str]


def describe(expression: Expression) -> str:
    """An expression as calls; `sql.render` gives SQL instead.

    >>> describe(Call("gt", (Column("a", t.INT), Literal(3, t.INT)), t.BOOLEAN))
    'gt(a, 3)'
    """
    texts: dict[int, str] = {}
    for node in reversed(list(walk(expression))):
        if isinstance(node, Call):
            inner = ", ".join([texts[id(argument)] for argument in node.arguments])
            as_type = f" as {node.type}" if node.function in ("cast", "try_cast") else ""
            texts[id(node)] = f"{node.function}({inner}{as_type})"
        elif isinstance(node, Column):
            texts[id(node)] = node.name
        elif isinstance(node, Parameter):
            texts[id(node)] = f"?{node.index}"
        else:
            assert isinstance(node, Literal), "there are only calls, columns and constants"
            texts[id(node)] = show(node.value, node.type)
    return texts[id(expression)]


def show(value: Any, kind: t.DataType) -> str:
    """A constant as it would be written, without its type.

    >>> show(True, t.BOOLEAN), show(0, t.DATE), show(90_000_000, t.TIMESTAMP), show("it", t.STRING)
    ('true', '1970-01-01', '1970-01-01 00:01:30', "'it'")
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        if kind == t.DATE:
            return str(date(1970, 1, 1) + timedelta(days=value))
        if kind in (t.TIMESTAMP, t.TIMESTAMP_NTZ):
            return str(datetime(1970, 1, 1) + timedelta(microseconds=value))
    except OverflowError:
        pass
    if isinstance(kind, t.DecimalType):
        return f"{value:f}"
    return repr(value).replace("inf", "Infinity") if isinstance(value, float) else repr(value)


def show_regions(regions: Regions, kind: t.DataType) -> str:
    """A set of values of a type.

    >>> (
    ...     show_regions(Regions(True, (), null=False), t.INT),
    ...     show_regions(Regions.points([1], null=True), t.INT),
    ... )
    ('not NULL', '{1} or NULL')
    """
    nan = kind in t.FRACTIONAL
    if regions.inside and not regions.cuts:
        left_out = ["NULL"] * (not regions.null) + ["NaN"] * (nan and not regions.nan)
        return f"not {' or '.join(left_out)}" if left_out else "anything"
    parts = [_interval(lower, upper, kind) for lower, upper in regions.intervals()]
    parts += ["NULL"] * regions.null + ["NaN"] * regions.nan
    return " or ".join(parts) if parts else "nothing"


def _interval(lower: Cut | None, upper: Cut | None, kind: t.DataType) -> str:
    shown = _length if kind == t.DAY_TIME else show
    if lower is not None and upper is not None and lower[0] == upper[0]:
        return f"{{{shown(lower[0], kind)}}}"
    if kind == t.DAY_TIME:  # nobody reads "less than 5 seconds 1 microsecond"
        lower = None if lower is None else (lower[0] + lower[1], 0)
        upper = None if upper is None else (upper[0] + upper[1] - 1, 1)
    left = "(-inf" if lower is None else f"{'(' if lower[1] else '['}{shown(lower[0], kind)}"
    right = "+inf)" if upper is None else f"{shown(upper[0], kind)}{']' if upper[1] else ')'}"
    return f"{left}, {right}"


def _length(value: Any, _: t.DataType) -> str:
    return length_text(value, t.TIMESTAMP)


def explain(normal: NormalQuery | Predicate, render: Render = describe) -> str:
    """The normal form as a tree, a condition a line.

    >>> from eddyline.model.predicate import ALWAYS
    >>> explain(ALWAYS), explain(Condition(Column("a", t.INT), Regions.points([3])))
    ('always true', 'a in {3}')
    """
    predicate = normal.predicate if isinstance(normal, NormalQuery) else normal
    lines: list[str] = []
    pending: list[tuple[Predicate, str, str]] = [(predicate, "", "")]
    while pending:
        current, head, indent = pending.pop()
        lines.append(head + _line(current, render))
        if isinstance(current, Condition):
            continue
        last = len(current.parts) - 1
        for i in range(last, -1, -1):
            tick, under = ("└─ ", "   ") if i == last else ("├─ ", "│  ")
            pending.append((current.parts[i], indent + tick, indent + under))
    return "\n".join(lines)


def _line(predicate: Predicate, render: Render) -> str:
    if isinstance(predicate, Condition):
        verb = "in" if predicate.regions.cuts else "is"
        return f"{render(predicate.subject)} {verb} {show_regions(predicate.regions, predicate.subject.type)}"
    if isinstance(predicate, And):
        return "and" if predicate.parts else "always true"
    return "or" if predicate.parts else "never true"


def trace(
    bound: BoundQuery, render: Render = describe, rules: tuple[Rule, ...] = RULES
) -> list[tuple[str, str, str]]:
    """Name, text before and text after of every rule that changed something, in their order.

    The texts are normal forms under the rules up to there: each of them matches the same tuples.
    """
    changes: list[tuple[str, str, str]] = []
    before = explain(normalize(bound, rules=()), render)
    for count, rule in enumerate(rules, start=1):
        after = explain(normalize(bound, rules=rules[:count]), render)
        if after != before:
            changes.append((rule.__name__, before, after))
        before = after
    return changes
