"""Texts that are likely to satisfy conditions: patterns, and what the constants of expressions suggest."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Several
from decimal import Decimal
from itertools import permutations
from typing import Final

from eddyline.functions.java_regex.nodes import Atomic, Character, Either, Group, Node, Repeat, Sequence
from eddyline.functions.java_regex.parse import parse
from eddyline.functions.java_regex.reader import Unsupported
from eddyline.functions.like import ANY, ONE, LikePattern, compile_like
from eddyline.model.expression import Call, Literal

LONGEST: Final = 10_000  # characters of a text that only has to be long
FEW: Final = 8  # texts, each of which is taken off all others


def texts_for(calls: Several[Call]) -> Iterator[str]:
    """Texts for which such calls as `startswith(name, 'a')` and `name LIKE '%b%'` are true: all together, then each.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.types import BOOLEAN, STRING
    >>> name = Column("name", STRING)
    >>> calls = [
    ...     Call(f, (name, Literal(f[0], STRING)), BOOLEAN) for f in ("contains", "endswith", "startswith")
    ... ]
    >>> list(texts_for(calls))[:2]
    ['sce', 'SCE']
    """
    heads: list[str] = []
    middles: list[str] = []
    tails: list[str] = []
    for call in calls:
        constants = [constant.value for constant in call.arguments[1:] if isinstance(constant, Literal)]
        if not constants or not all(isinstance(constant, str) for constant in constants):
            continue
        text = str(constants[0])
        match call.function:
            case "startswith":
                heads.append(text)
            case "endswith":
                tails.append(text)
            case "contains":
                middles.append(text)
            case "rlike":
                node = parse(text)
                middles.append("" if isinstance(node, Unsupported) else sample_regex(node))
            case "like":
                pattern = compile_like(*map(str, constants))
                if pattern is not None:
                    before, after = pattern.parts[:1] == (ANY,), pattern.parts[-1:] == (ANY,)
                    (middles if before and after else tails if before else heads).append(
                        _sample_like(pattern)
                    )
    longest = [max(heads, key=len)] if heads else []
    together = [*longest, *middles, *([max(tails, key=len)] if tails else [])]
    for separator in ("", " "):
        text = separator.join(together)
        yield text
        yield text.upper()
    yield from heads + middles + tails


def suggested_texts(constants: Several[object]) -> Iterator[str]:
    """Texts for expressions with these constants: the texts among them and what is left of one less another, numbers as
    text, and texts of that length.

    >>> list(suggested_texts(["ax", "x", 3]))[:9]
    ['ax', 'x', 'a', '3', 'xxx', '4', 'xxxx', '2', 'xx']
    """
    texts = [constant for constant in constants if isinstance(constant, str)]
    yield from texts
    if len(texts) <= FEW:
        for text, other in permutations(texts, 2):
            if other:
                parts = text.removesuffix(other), text.removeprefix(other)
                yield from [rest for rest in parts if rest != text]
    for constant in constants:
        if isinstance(constant, int | float | Decimal) and not isinstance(constant, bool):
            for number in (constant, constant + 1, constant - 1):
                yield str(number)
                if 0 < number <= LONGEST and number == int(number):
                    yield "x" * int(number)
    yield from ("", "x", "X", "~", "1")


def _sample_like(pattern: LikePattern) -> str:
    return "".join("x" if part is ONE else "" if part is ANY else str(part) for part in pattern.parts)


def sample_regex(node: Node) -> str:
    """A text for a parsed pattern: first alternatives, fewest repetitions; what looks around is left out.

    >>> sample_regex(parse("(ab|c)+x?[0-9]{2}"))
    'ab00'
    """
    match node:
        case Character(choices):
            return chr(choices.ranges[0][0]) if choices.ranges else ""
        case Sequence(items):
            return "".join(map(sample_regex, items))
        case Either(items):
            return sample_regex(items[0])
        case Group(item, _) | Atomic(item):
            return sample_regex(item)
        case Repeat(item, low, _, _):
            return sample_regex(item) * min(low, 100)
    return ""
