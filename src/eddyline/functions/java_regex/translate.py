"""Regular expressions for Python's `re` and for RE2 that find something in just those texts in which Java's do."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from eddyline.functions.java_regex.nodes import (
    Anchor,
    Atomic,
    BackReference,
    Character,
    Either,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
)
from eddyline.functions.java_regex.parse import parse
from eddyline.functions.java_regex.reader import Unsupported
from eddyline.functions.java_regex.sets import LAST, CharacterSet

_LINE_ENDS: Final = r"\r\x85\u2028\u2029"
_PYTHON_PLACES: Final = {
    "start": r"\A",
    "end": r"\Z",
    "last line end": rf"(?=(?:\r\n|(?<!\r)\n|[{_LINE_ENDS}])?\Z)",
    "line start": r"(?!\Z)(?:(?<![\s\S])|(?<=[\n\x85\u2028\u2029])|(?<=\r)(?!\n))",
    "line end": rf"(?:(?=[{_LINE_ENDS}])|(?<!\r)(?=\n)|\Z)",
    "word boundary": r"(?a:\b)",
}
_RE2_PLACES: Final = {"start": r"\A", "end": r"\z", "word boundary": r"\b"}
_RE2_LAST_LINE_END: Final = r"(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z"
_RE2_LARGEST_COUNT: Final = 1000
# Among alternatives RE2 takes [Kk] and [Ss] for letters without case, to which it counts the Kelvin sign and the long s.
_RE2_LETTERS: Final = {CharacterSet.of("Kk"): "(?:K|k)", CharacterSet.of("Ss"): "(?:S|s)"}


def to_python(pattern: str) -> str:
    """A pattern for `re.search` that finds something in the same texts; the pattern must be an accepted one.

    >>> to_python("(?i)a[^b][0-9]++")
    '[Aa][^Bb][0-9]++'
    """
    return _python(_accepted(pattern))


@lru_cache(maxsize=1 << 12)
def to_re2(pattern: str) -> str | None:
    """A pattern for RE2 that finds something in the same texts, or None if RE2 has no such; must be an accepted one.

    >>> to_re2("a|b+?$"), to_re2("a(?=b)")
    ('(?:a|b+?(?:\\\\r\\\\n|[\\\\n\\\\r\\\\x{85}\\\\x{2028}\\\\x{2029}])?\\\\z)', None)
    """
    try:
        return _re2(_accepted(pattern), last=True)
    except _NotInRe2:
        return None


def _accepted(pattern: str) -> Node:
    parsed = parse(pattern)
    assert not isinstance(parsed, Unsupported), f"a refused pattern is not translated: {parsed}"
    return parsed


def _python(node: Node) -> str:
    match node:
        case Character(choices):
            return _set(choices, _python_code, "(?!)")
        case Sequence(items):
            return "".join(map(_python, items))
        case Either(items):
            return "(?:" + "|".join(map(_python, items)) + ")"
        case Group(item, _):
            return f"({_python(item)})"
        case Atomic(item):
            return f"(?>{_python(item)})"
        case Look(item, behind, negative):
            return _python_look(item, behind, negative)
        case Repeat(item, low, high, mode):
            return _unit(item, _python(item)) + _count(low, high) + mode
        case Anchor(place):
            return _PYTHON_PLACES[place]
        case BackReference(number):
            return f"(?:\\{number})"


def _python_look(item: Node, behind: bool, negative: bool) -> str:
    """Python wants one fixed length behind: alternatives of different lengths become several look-behinds."""
    sign = ("<" if behind else "") + ("!" if negative else "=")
    if not behind or not isinstance(item, Either):
        return f"(?{sign}{_python(item)})"
    looks = [f"(?{sign}{_python(option)})" for option in item.items]
    return "".join(looks) if negative else "(?:" + "|".join(looks) + ")"


class _NotInRe2(Exception):
    """The pattern has a part that RE2 cannot express."""


def _re2(node: Node, *, last: bool) -> str:
    """`last`: nothing of the pattern comes after this part, so that it may match more than Java would."""
    match node:
        case Character(choices):
            return _RE2_LETTERS.get(choices) or _set(choices, _re2_code, r"[^\x00-\x{10FFFF}]")
        case Sequence(items):
            return _re2_sequence(items, last=last)
        case Either(items):
            return "(?:" + "|".join(_re2(item, last=last) for item in items) + ")"
        case Group(item, _):
            return f"(?:{_re2(item, last=last)})"
        case Repeat(item, low, high, mode) if mode != "+" and max(low, high or 0) <= _RE2_LARGEST_COUNT:
            return _unit(item, _re2(item, last=False)) + _count(low, high) + mode
        case Anchor("last line end") if last:
            return _RE2_LAST_LINE_END
        case Anchor(place) if place in _RE2_PLACES:
            return _RE2_PLACES[place]
    raise _NotInRe2


def _re2_sequence(items: tuple[Node, ...], *, last: bool) -> str:
    """`$` looks back: between \\r and \\n it does not hold. So what comes before it must not be able to end in \\r."""
    texts = []
    for i, item in enumerate(items):
        ends = last and i == len(items) - 1
        if ends and _holds_last_line_end(item) and any(_may_end_in_return(before) for before in items[:i]):
            raise _NotInRe2
        texts.append(_re2(item, last=ends))
    return "".join(texts)


def _holds_last_line_end(node: Node) -> bool:
    match node:
        case Anchor("last line end"):
            return True
        case Sequence(items) | Either(items):
            return any(map(_holds_last_line_end, items))
        case Group(item, _) | Repeat(item, _, _, _):
            return _holds_last_line_end(item)
    return False


def _may_end_in_return(node: Node) -> bool:
    """Whether a match may end in \\r, or (to be on the safe side) contains one anywhere."""
    match node:
        case Character(choices):
            return "\r" in choices
        case Sequence(items) | Either(items):
            return any(map(_may_end_in_return, items))
        case Group(item, _) | Atomic(item) | Repeat(item, _, _, _):
            return _may_end_in_return(item)
        case BackReference():
            return True
    return False


def _unit(item: Node, text: str) -> str:
    """The text of an item such that a quantifier after it applies to all of it."""
    return text if isinstance(item, Character | Group | Atomic | BackReference | Either) else f"(?:{text})"


def _count(low: int, high: int | None) -> str:
    if high is None:
        return {0: "*", 1: "+"}.get(low, f"{{{low},}}")
    if (low, high) == (0, 1):
        return "?"
    return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def _set(choices: CharacterSet, code: Callable[[int], str], nothing: str) -> str:
    """A class in brackets; one that reaches to the end of Unicode as the opposite of its complement."""
    if not choices.ranges:
        return nothing
    if len(choices.ranges) == 1 and choices.ranges[0][0] == choices.ranges[0][1]:
        return code(choices.ranges[0][0])
    opposite = choices.ranges[-1][1] == LAST and len(choices.ranges) > 1
    ranges = (~choices if opposite else choices).ranges
    parts = [code(low) if low == high else f"{code(low)}-{code(high)}" for low, high in ranges]
    return f"[{'^' if opposite else ''}{''.join(parts)}]"


def _python_code(point: int) -> str:
    character = chr(point)
    if character.isascii() and character.isalnum():
        return character
    named = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
    return named.get(character) or (
        f"\\x{point:02x}" if point < 256 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
    )


def _re2_code(point: int) -> str:
    character = chr(point)
    return character if character.isascii() and character.isalnum() else f"\\x{{{point:x}}}"
