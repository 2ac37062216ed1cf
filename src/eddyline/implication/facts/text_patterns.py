"""Patterns on one text as LIKE patterns: of LIKE itself, startswith, endswith, contains, and what a RLIKE needs."""

from __future__ import annotations

from eddyline.functions.evaluate.odd_text import MALFORMED
from eddyline.functions.like import ANY, LikePattern, compile_like
from eddyline.implication.facts.subjects import Subjects
from eddyline.model import types as t
from eddyline.model.expression import Call, Expression, Literal

_AROUND = {"startswith": (False, True), "endswith": (True, False), "contains": (True, True)}


def patterns_by_text(subjects: Subjects) -> dict[Expression, list[tuple[Call, LikePattern]]]:
    """The subjects that ask whether a text is like a pattern, by that text."""
    found: dict[Expression, list[tuple[Call, LikePattern]]] = {}
    for call in subjects.calls("like", *_AROUND):
        pattern = _pattern(call)
        if pattern is not None:
            found.setdefault(call.arguments[0], []).append((call, pattern))
    return found


def _pattern(call: Call) -> LikePattern | None:
    """The texts for which a call is true, as a pattern; None where that is not known.

    LIKE takes malformed bytes for a character of their own, which the others do not: patterns with it stay apart.
    """
    text, *constants = call.arguments
    if text.type != t.STRING:
        return None
    written = [constant.value for constant in constants if type(constant) is Literal]
    if len(written) != len(constants) or not all(isinstance(value, str) for value in written):
        return None
    if any(MALFORMED in str(value) for value in written):
        return None
    if call.function == "like":
        return compile_like(*map(str, written))
    before, after = _AROUND[call.function]
    return around(str(written[0]), before=before, after=after)


def around(text: str, *, before: bool, after: bool) -> LikePattern:
    """A text, with anything before it or after it.

    >>> around("a", before=True, after=False).parts
    (<Wild.ANY: '%'>, 'a')
    """
    if not text:
        return LikePattern((ANY,) if before or after else ())
    return LikePattern(((ANY,) if before else ()) + (text,) + ((ANY,) if after else ()))
