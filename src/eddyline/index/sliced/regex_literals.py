"""Literals of a regular expression, one of which is in every text where it finds something.

    net\\s+(use|view)     net
    (foo|bars?)[0-9]     foo, bar
    (?i)cmd\\.exe         cmd., cMd., CMD. ...

A character of two choices is spelled out in both, as far as the longest part of the literal with 16 spellings goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod
from typing import Final, NamedTuple

from eddyline.functions.java_regex.nodes import (
    Anchor,
    Atomic,
    Character,
    Either,
    Group,
    Node,
    Repeat,
    Sequence,
)
from eddyline.functions.java_regex.parse import Unsupported, parse

MOST_SPELLINGS: Final = 16
MOST_LITERALS: Final = 64

Run = tuple[str, ...]  # the choices for each of some neighbouring characters


class _RequiredText(NamedTuple):
    """What every match of a part has: `run` if it consists of just that, else one of the literals, or unknown."""

    run: Run | None
    literals: tuple[str, ...] = ()


def required_literals(pattern: str) -> tuple[str, ...]:
    r"""Texts one of which is in every text where an accepted regular expression finds something; none if unknown.

    >>> required_literals(r"net\s+(use|view)x*"), required_literals("(?i)a1"), required_literals("a*(b|c?)")
    (('net',), ('A1', 'a1'), ())
    """
    return _literals(_required_text(accepted(pattern)))


def accepted(pattern: str) -> Node:
    """The parts of a pattern that was not refused."""
    parsed = parse(pattern)
    assert not isinstance(parsed, Unsupported), f"a refused pattern is not indexed: {parsed}"
    return parsed


def _required_text(node: Node) -> _RequiredText:
    match node:
        case Character(choices) if sum(high - low + 1 for low, high in choices.ranges) in (1, 2):
            return _RequiredText(
                ("".join(chr(c) for low, high in choices.ranges for c in range(low, high + 1)),)
            )
        case Anchor():
            return _RequiredText(())
        case Sequence(items):
            return _sequence(map(_required_text, items))
        case Either(items):
            options = [_literals(_required_text(item)) for item in items]
            literals = tuple(dict.fromkeys(literal for option in options for literal in option))
            return _RequiredText(None, literals if all(options) and len(literals) <= MOST_LITERALS else ())
        case Group(item, _) | Atomic(item):
            return _required_text(item)
        case Repeat(item, low, _, _) if low > 0:
            return _RequiredText(None, _literals(_required_text(item)))
    return _RequiredText(None)


def _sequence(items: Iterable[_RequiredText]) -> _RequiredText:
    """Neighbours that are runs make a longer run; of all that is needed the longest is kept."""
    found: list[tuple[str, ...]] = []
    run: Run = ()
    whole = True
    for item in items:
        if item.run is not None:
            run += item.run
            continue
        found += [_spellings(run), item.literals]
        run, whole = (), False
    if whole:
        return _RequiredText(run)
    found.append(_spellings(run))
    return _RequiredText(None, max(filter(None, found), key=_strength, default=()))


def _strength(literals: tuple[str, ...]) -> tuple[int, int]:
    return min(map(len, literals)), -len(literals)


def _literals(needs: _RequiredText) -> tuple[str, ...]:
    return needs.literals if needs.run is None else _spellings(needs.run)


def _spellings(run: Run) -> tuple[str, ...]:
    """All texts of the longest part of a run that has not too many."""
    best: Run = ()
    start = 0
    for end in range(1, len(run) + 1):
        while prod(map(len, run[start:end])) > MOST_SPELLINGS:
            start += 1
        best = max(best, run[start:end], key=len)
    return tuple(map("".join, product(*best))) if best else ()
