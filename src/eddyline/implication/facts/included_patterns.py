"""Inclusion between patterns on one text: what is like `abc%` is like `%b%`, and nothing is like `a%` and `b%`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, permutations
from typing import Final

from eddyline.functions.like import ANY, ONE, LikePattern, Wild
from eddyline.implication.facts.subjects import Subjects, any_of, is_not_true, is_true
from eddyline.implication.facts.text_patterns import patterns_by_text
from eddyline.model.predicate import Predicate

MOST: Final = 100  # patterns on one text; each two of them are compared
# Of the automaton of two patterns; some grow without bound that is worth waiting for.
MOST_STATES: Final = 2_000


def included_patterns(subjects: Subjects) -> Iterator[Predicate]:
    """For each two patterns on one text: whether one includes the other, and whether they exclude each other."""
    for patterns in patterns_by_text(subjects).values():
        if len(patterns) > MOST:
            continue
        for (one, narrow), (other, wide) in permutations(patterns, 2):
            if subjects.time_is_up:
                return
            if includes(wide, narrow):
                yield any_of(is_not_true(one), is_true(other))
        for (one, left), (other, right) in combinations(patterns, 2):
            if excludes(left, right):
                yield any_of(is_not_true(one), is_not_true(other))


@lru_cache(maxsize=1 << 14)
def includes(wide: LikePattern, narrow: LikePattern) -> bool:
    """Whether all texts like the one pattern are like the other, as far as that is quickly known.

    >>> from eddyline.functions.like import compile_like
    >>> includes(compile_like("%b%"), compile_like("abc_")), includes(compile_like("a_%"), compile_like("a%"))
    (True, False)
    """
    literals = [part for part in narrow.parts if isinstance(part, str)]
    match wide.kind:
        case "any":
            return True
        case "equals":
            return narrow.kind == "equals" and narrow.text == wide.text
        case "contains":
            return any(wide.text in literal for literal in literals)
        case "starts":
            return bool(literals) and narrow.parts[0] == literals[0] and literals[0].startswith(wide.text)
        case "ends":
            return bool(literals) and narrow.parts[-1] == literals[-1] and literals[-1].endswith(wide.text)
    # Literals first: a text in which wildcards are something that no pattern names decides most pairs.
    wanted = [part for part in wide.parts if isinstance(part, str)]
    if not all(any(part in literal for literal in literals) for part in wanted):
        return False
    return _includes_by_automata(_symbols(wide), _symbols(narrow))


def excludes(one: LikePattern, other: LikePattern) -> bool:
    """Whether no text is like both patterns, judged by how they begin and end.

    >>> from eddyline.functions.like import compile_like
    >>> excludes(compile_like("a%"), compile_like("b%")), excludes(compile_like("a%"), compile_like("%b"))
    (True, False)
    """
    for plain, pattern in ((one, other), (other, one)):
        if plain.kind == "equals":
            return pattern.to_python().fullmatch(plain.text) is None
    heads = [_literal(pattern.parts[:1]) for pattern in (one, other)]
    tails = [_literal(pattern.parts[-1:])[::-1] for pattern in (one, other)]
    return any(not long.startswith(short) for short, long in (sorted(heads, key=len), sorted(tails, key=len)))


def _literal(parts: tuple[str | Wild, ...]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


def _symbols(pattern: LikePattern) -> tuple[str | Wild, ...]:
    return tuple(symbol for part in pattern.parts for symbol in (part if isinstance(part, str) else [part]))


def _includes_by_automata(wide: tuple[str | Wild, ...], narrow: tuple[str | Wild, ...]) -> bool:
    """Walk through both patterns at once: wherever the narrow one may end, the wide one must be able to end too.

    A state is a place in the narrow pattern and the set of places in the wide one that the same text may lead to.
    """
    alphabet: list[str] = sorted({symbol for symbol in (*wide, *narrow) if isinstance(symbol, str)})
    letters: list[str | None] = [*alphabet, None]  # None stands for every other character
    start = (_closure(narrow, frozenset({0})), _closure(wide, frozenset({0})))
    seen = {start}
    pending = [start]
    while pending:
        places, targets = pending.pop()
        if len(narrow) in places and len(wide) not in targets:
            return False
        for letter in letters:
            after = _step(narrow, places, letter)
            state = (after, _step(wide, targets, letter))
            if after and state not in seen:
                if len(seen) >= MOST_STATES:
                    return False
                seen.add(state)
                pending.append(state)
    return True


def _step(pattern: tuple[str | Wild, ...], places: frozenset[int], letter: str | None) -> frozenset[int]:
    after: set[int] = set()
    for place in places:
        if place < len(pattern):
            symbol = pattern[place]
            if symbol is ANY:
                after.add(place)
            elif symbol is ONE or symbol == letter:
                after.add(place + 1)
    return _closure(pattern, frozenset(after))


def _closure(pattern: tuple[str | Wild, ...], places: frozenset[int]) -> frozenset[int]:
    """With the places behind a `%`, which may stand for nothing."""
    found = set(places)
    for place in places:
        while place < len(pattern) and pattern[place] is ANY:
            place += 1
            found.add(place)
    return frozenset(found)
