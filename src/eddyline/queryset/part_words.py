"""Items of an account in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eddyline.index.keyed import KeyedIndex, strides
from eddyline.index.segment import Segment
from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.normalize.explain import explain, show
from eddyline.queryset.sheet import Label
from eddyline.sql.render import render

_ESCAPE: Final = r" ESCAPE '\\'"  # what LIKE has by itself
LONGEST: Final = 80  # characters of a part
_FIXED: Final = {
    "result": "its own result",
    "repeat": "the same condition said once more",
    "rest": "what the segment keeps for all",
    "small": "the row-by-row form for small batches",
    "bitmaps": "bitmaps of all queries",
    "entries": "its own entries under its keys",
}


def words(label: Label, segments: Sequence[Segment]) -> str:
    """What an item is."""
    text = _FIXED.get(label.kind) or _words(label, segments)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _words(label: Label, segments: Sequence[Segment]) -> str:
    what = label.what
    match label.kind:
        case "subject" | "visit":
            return f"{render(what)} located"
        case "constant":
            return f"the constant {_constant(*what)} of {render(what[0])}"
        case "condition" | "derived":
            return line(what)
        case "comparison":
            return f"{line(what[1])}, compared for it alone"
        case "step":
            return line(what)
        case "pass":
            return f"one pass over {render(what)} for all patterns"
        case "pattern":
            return render(what).removeprefix("(").removesuffix(")").removesuffix(_ESCAPE)
        case _:
            return _keyed(label, segments[label.segment].keyed)


def _keyed(label: Label, index: KeyedIndex) -> str:
    match label.kind:
        case "key subject":
            return f"{render(index.keys[label.what].subject)} looked up"
        case "check subject":
            return f"{render(index.checks[label.what].subject)} read"
        case "table":
            keys = [render(index.keys[key].subject) for key in index.tables[label.what].keys]
            return f"the table by {' and '.join(keys)}"
        case _:
            assert label.kind == "key", f"an item of unknown kind {label.kind}"
            return _key(index, *label.what)


def _key(index: KeyedIndex, number: int, key: object) -> str:
    """The values of a key: by place, or by themselves where nobody has them yet."""
    table = index.tables[number]
    cuttings = [index.keys[subject] for subject in table.keys]
    if isinstance(key, tuple):
        texts = [_constant(c.subject, cut[0]) for c, cut in zip(cuttings, key, strict=True)]
    else:
        assert isinstance(key, int), "a key is a place or values"
        sizes = [len(cutting.constants) for cutting in cuttings]
        packed = key if len(sizes) == 1 else int(table.packed[key])
        places = [packed // stride % (size + 1) for stride, size in zip(strides(sizes), sizes, strict=True)]
        texts = [_coded(c.subject, c.constants[place]) for c, place in zip(cuttings, places, strict=True)]
    parts = [f"{render(c.subject)} = {text}" for c, text in zip(cuttings, texts, strict=True)]
    return f"the key {' and '.join(parts)}"


def _constant(subject: Expression, value: object) -> str:
    return show(value, subject.type)


def _coded(subject: Expression, code: object) -> str:
    """A constant as a cutting holds it."""
    value = code.item() if hasattr(code, "item") else code
    if isinstance(subject.type, t.DecimalType) and isinstance(value, int):
        return f"{value / 10**subject.type.scale:.{subject.type.scale}f}"
    return show(value, subject.type)


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
