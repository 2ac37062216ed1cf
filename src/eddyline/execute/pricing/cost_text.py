"""Conditions, constants, sides of joins and SteMs in one line, as items name them."""

from __future__ import annotations

from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.model.join import NormalJoin
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.roles import StemKey
from eddyline.normalize.explain import explain, show
from eddyline.sql.render import render


def constant_text(subject: Expression, value: object) -> str:
    """A value that a subject is compared with."""
    return show(value, subject.type)


def side_title(join: NormalJoin, branch: int, side: int) -> str:
    """Which side of a join something is said of, and of which branch where there are several."""
    of_branch = f" in branch {branch + 1}" if len(join.branches) > 1 else ""
    return f"{join.sources[side].alias}{of_branch}"


def stem_text(key: StemKey) -> str:
    """A SteM: whose tuples, by what.

    >>> from eddyline.model.expression import Column
    >>> stem_text(StemKey("quotes", (Column("symbol", t.STRING), Column("n", t.INT)), (False, True)))
    'of quotes by symbol, n (NULL equals NULL)'
    """
    parts = [
        render(expression) + (" (NULL equals NULL)" if is_safe else "")
        for expression, is_safe in zip(key.expressions, key.null_safe, strict=True)
    ]
    return f"of {key.stream} by {', '.join(parts)}"


def line(predicate: Predicate) -> str:
    """A predicate in one line.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.regions import Regions
    >>> line(Condition(Column("a", t.INT), Regions.below(3, closed=False)))
    'a < 3'
    """
    if isinstance(predicate, Condition):
        return _comparison(predicate) or explain(predicate, render=render)
    word = " and " if isinstance(predicate, And) else " or "
    return word.join([f"({line(p)})" if not isinstance(p, Condition) else line(p) for p in predicate.parts])


def _comparison(condition: Condition) -> str | None:
    """A condition that is one comparison, as one would write it."""
    subject, regions = condition.subject, condition.regions
    cuts = regions.cuts
    if regions.null or not cuts or len(cuts) > 2:
        return None
    value, side = cuts[0]
    constant = show(value, subject.type)
    if len(cuts) == 1 and regions.inside and not regions.nan:
        return f"{render(subject)} {'<=' if side else '<'} {constant}"
    if len(cuts) == 1 and not regions.inside and regions.nan == t.is_fractional(subject.type):
        return f"{render(subject)} {'>' if side else '>='} {constant}"
    if len(cuts) == 2 and not regions.inside and not regions.nan and cuts[0][0] == cuts[1][0]:
        return f"{render(subject)} = {constant}"
    return None
