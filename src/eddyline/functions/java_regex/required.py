r"""Neighbouring bytes that every match of a pattern has, so that most texts are ruled out without running an automaton.

    status=5\d\d          s t a t u s = 5 [0-9] [0-9]
    (?s)^.*timeout.*$     t i m e o u t
    (foo|bar)+\d          [fb] [oa] [or], or better [or] [0-9]

That is a necessary condition only: whoever has them is searched for the pattern itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce
from math import prod
from typing import Final, NamedTuple

from eddyline.functions.java_regex.nodes import (
    Anchor,
    Atomic,
    Character,
    Either,
    Group,
    Look,
    Node,
    Repeat,
    Sequence,
)
from eddyline.functions.java_regex.sets import CharacterSet

Bytes = frozenset[int]
Run = tuple[Bytes, ...]  # what each of some neighbouring bytes may be

TESTS: Final = 4
LONGEST: Final = 32
# A first run up to so many times as common as the best one is preferred: a search may begin there.
NEARLY: Final = 2.0
_ANY_CASE: Final = 0xDF  # without this bit a letter is its capital
# How common a byte is, roughly, in logs and other texts; only the order of runs depends on it.
_SHARES: Final = [
    0.03 if byte in b" etaoinsrlhd0123456789" else 0.012 if chr(byte) in "bcfgjkmpquvwxyz./:-_=" else 0.002
    for byte in range(256)
]


class Test(NamedTuple):
    """Accepts a byte at some offset of a run if it is from `low` to `low + span`, without the bits that `mask` lacks."""

    offset: int
    mask: int
    low: int
    span: int


class Required(NamedTuple):
    """Tests of a run of `length` bytes; `is_head` if every match begins with it."""

    length: int
    tests: tuple[Test, ...]
    is_head: bool


class _RequiredRuns(NamedTuple):
    """Runs that every match of a part begins with, ends with, and has; all the same if it `is_whole`, just one run."""

    head: Run
    tail: Run
    best: Run
    is_whole: bool = False


_NOTHING: Final = _RequiredRuns((), (), (), is_whole=True)
_UNKNOWN: Final = _RequiredRuns((), (), ())


def required(node: Node) -> Required | None:
    """What every match of a pattern has, or None if that is unknown.

    >>> required(Repeat(Character(CharacterSet.of("xX")), 1, None, ""))
    Required(length=1, tests=(Test(offset=0, mask=223, low=88, span=0),), is_head=True)
    """
    part = _part(node)
    is_head = _share(part.head) <= NEARLY * _share(part.best)
    run = part.head if is_head else part.best
    return Required(len(run), _tests(run), is_head) if run else None


def required_text(node: Node) -> str:
    """The longest text that every match of a pattern is known to have; empty if none is.

    >>> required_text(Sequence((Character(CharacterSet.of("a")), Character(CharacterSet.of("b")))))
    'ab'
    """
    part = _part(node)
    texts = [text for run in (part.head, part.tail, part.best) for text in _texts(run)]
    return max(texts, key=len, default="")


def _texts(run: Run) -> Iterator[str]:
    """The stretches of a run in which every byte is certain, as text."""
    certain = bytearray()
    for choices in (*run, frozenset[int]()):
        if len(choices) == 1:
            certain += bytes(choices)
        else:
            yield _whole_characters(bytes(certain))
            certain.clear()


def _whole_characters(data: bytes) -> str:
    """Bytes as text, without those of characters that are cut off at either end; nothing if others are malformed."""
    for start in range(min(4, len(data))):
        for end in range(len(data), max(start, len(data) - 4), -1):
            try:
                return data[start:end].decode()
            except UnicodeDecodeError:
                continue
    return ""


def _part(node: Node) -> _RequiredRuns:
    match node:
        case Character(choices):
            return _character(choices)
        case Sequence(items):
            return reduce(_after_each_other, map(_part, items), _NOTHING)
        case Either(items):
            return _either([_part(item) for item in items])
        case Group(item, _) | Atomic(item):
            return _part(item)
        case Anchor() | Look():
            return _NOTHING
        case Repeat(item, low, high, _) if low > 0:
            return _repeated(_part(item), low, low == high)
    return _UNKNOWN


def _character(choices: CharacterSet) -> _RequiredRuns:
    if not choices.ranges:
        return _UNKNOWN
    (first, _), (_, last) = choices.ranges[0], choices.ranges[-1]
    if first == last:
        return _whole(tuple(frozenset({byte}) for byte in chr(first).encode("utf-8", "surrogatepass")))
    if last > 127:  # of different lengths
        return _UNKNOWN
    return _whole((frozenset(byte for low, high in choices.ranges for byte in range(low, high + 1)),))


def _whole(run: Run) -> _RequiredRuns:
    if len(run) <= LONGEST:
        return _RequiredRuns(run, run, run, is_whole=True)
    head, tail = run[:LONGEST], run[-LONGEST:]
    return _RequiredRuns(head, tail, min(head, tail, key=_rank))


def _after_each_other(left: _RequiredRuns, right: _RequiredRuns) -> _RequiredRuns:
    if left.is_whole and right.is_whole:
        return _whole(left.head + right.head)
    return _RequiredRuns(
        (left.head + right.head)[:LONGEST] if left.is_whole else left.head,
        (left.tail + right.tail)[-LONGEST:] if right.is_whole else right.tail,
        min(left.best, right.best, left.tail + right.head, key=_rank),
    )


def _repeated(part: _RequiredRuns, low: int, is_exact: bool) -> _RequiredRuns:
    """At least so many turns; there may be more between the first ones and the last ones."""
    turns = reduce(_after_each_other, [part] * min(low, LONGEST + 1))
    return turns if is_exact else turns._replace(is_whole=False)


def _either(parts: list[_RequiredRuns]) -> _RequiredRuns:
    head, tail = _any_of([part.head for part in parts]), _any_of([part.tail for part in parts], -1)
    if all(part.is_whole for part in parts) and len({len(part.head) for part in parts}) == 1:
        return _whole(head)
    return _RequiredRuns(head, tail, min(_any_of([part.best for part in parts]), head, tail, key=_rank))


def _any_of(runs: list[Run], step: int = 1) -> Run:
    """What all runs are examples of, put together from their beginning (or, with step -1, their end) on."""
    places = zip(*(run[::step] for run in runs), strict=False)
    return tuple(frozenset[int]().union(*choices) for choices in places)[::step]


def _share(run: Run) -> float:
    """Of how many places a text has the run there, roughly."""
    return prod(sorted(_sharpest(choices)[0] for choices in run)[:TESTS])


def _rank(run: Run) -> tuple[float, int]:
    """The rarest run comes first, and of those alike the longest, which leaves a choice of tests."""
    return _share(run), -len(run)


def _tests(run: Run) -> tuple[Test, ...]:
    """The sharpest ones; of those alike the one that is farthest from the others, as the letters of a word go together."""
    found = [(share, Test(offset, *rest)) for offset, (share, *rest) in enumerate(map(_sharpest, run))]
    chosen: list[Test] = []

    def rank(option: tuple[float, Test]) -> tuple[float, int]:
        return option[0], -min((abs(option[1].offset - other.offset) for other in chosen), default=0)

    while found and len(chosen) < TESTS:
        best = min(found, key=rank)
        found.remove(best)
        chosen.append(best[1])
    return tuple(chosen)


@lru_cache(maxsize=1 << 10)
def _sharpest(choices: Bytes) -> tuple[float, int, int, int]:
    """The share of bytes, mask, low and span of the sharper test of two: with regard to case, or without."""

    def covering(mask: int) -> tuple[float, int, int, int]:
        low, high = min(byte & mask for byte in choices), max(byte & mask for byte in choices)
        share = sum(_SHARES[byte] for byte in range(256) if low <= byte & mask <= high)
        return share, mask, low, high - low

    return min(covering(0xFF), covering(_ANY_CASE))
