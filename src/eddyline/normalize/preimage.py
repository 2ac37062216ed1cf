"""Regions of f(x) as regions of x, exactly, for functions that rise or fall: casts and arithmetic with a constant.

Rounding does not disturb: a rounded sum, product or conversion still never falls where the exact one rises. So the
place at which f(x) passes a constant is found by a search over the ordinals of x, started at a guess; what f really
gives on both sides of the place is what decides. Where f fails (overflow) it is NULL, and that range is found alike:

    int a, a + 1 > 5        ...  NULL-free up to 2147483646, f(2147483647) = 2147483648 is no int
    a + 1 in [6, +inf)      ->   a in [5, 2147483647)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from eddyline.model.regions import NOTHING, Cut, Regions
from eddyline.normalize.domain import Numbered


class NoOrdinal(Enum):
    """A result that has no ordinal."""

    NULL = 0
    NAN = 1


Result = int | NoOrdinal


@dataclass(frozen=True, slots=True)
class MonotonePiece:
    """A stretch of ordinals, both ends included, on which a function only rises or only falls."""

    low: int
    high: int
    rising: bool = True


@dataclass(frozen=True, slots=True)
class Monotone:
    """A function between two numbered domains, piece by piece monotone; NULL goes to NULL.

    `forward` takes an ordinal of `source` to one of `target`; an integer outside of the target's range means that the
    operation fails there. It may give a `NoOrdinal` only for a whole piece. `guess` leads from a target's ordinal to
    somewhere near where it comes from; a bad guess costs time, never the result. Invariant: pieces cover the source in
    order.
    """

    source: Numbered
    target: Numbered
    forward: Callable[[int], Result]
    guess: Callable[[int], int]
    pieces: tuple[MonotonePiece, ...]
    of_nan: Result = NoOrdinal.NAN


# A place on the target's axis at which membership changes: just below an ordinal; and the constant that named it.
_Flip = tuple[int, int]


def preimage(function: Monotone, regions: Regions) -> Regions:
    """The values of x for which f(x) lies in the regions."""
    target = function.target
    flips = _flips(target, regions)
    start = current = None
    cuts: list[Cut] = []
    for piece in function.pieces:
        state, inside = _through(function, piece, flips, regions)
        if current is None:
            start = state
        elif state != current:
            cuts.append(_rounder(piece.low))
        cuts += inside
        current = state ^ bool(len(inside) % 2)
    assert start is not None, "a function has at least one piece"
    value = function.source.value
    named = tuple([(value(ordinal), side) for ordinal, side in cuts])
    nan = function.source.nan and _holds(target, regions, function.of_nan)
    return function.source.canonical(Regions(start, named, regions.null, nan))


def null_everywhere(source: Numbered, regions: Regions) -> Regions:
    """The preimage under a function that is NULL for every value."""
    return source.everything if regions.null else NOTHING


def _holds(target: Numbered, regions: Regions, result: Result) -> bool:
    if isinstance(result, NoOrdinal):
        return regions.null if result is NoOrdinal.NULL else regions.nan
    return target.value(result) in regions if target.low <= result <= target.high else regions.null


def _flips(target: Numbered, regions: Regions) -> list[_Flip]:
    """Where membership changes on the integers, of which those beyond the target's range stand for NULL."""
    flips: list[_Flip] = []
    if regions.inside != regions.null:
        flips.append((target.low, target.low))
    for constant, side in regions.cuts:
        ordinal = target.ordinal(constant)
        _toggle(flips, (ordinal + side, ordinal))
    if regions.null ^ bool(len(flips) % 2) != regions.null:
        _toggle(flips, (target.high + 1, target.high))
    return flips


def _toggle(flips: list[_Flip], flip: _Flip) -> None:
    if flips and flips[-1][0] == flip[0]:
        flips.pop()
    else:
        flips.append(flip)


def _through(
    function: Monotone, piece: MonotonePiece, flips: list[_Flip], regions: Regions
) -> tuple[bool, list[Cut]]:
    """Membership at the lower end of the piece, and the cuts in it."""
    forward = function.forward
    lowest = forward(piece.low)
    if isinstance(lowest, NoOrdinal):
        return (regions.null if lowest is NoOrdinal.NULL else regions.nan), []
    state = regions.null if piece.rising else regions.null ^ bool(len(flips) % 2)
    cuts: list[Cut] = []
    low = piece.low
    for place, constant in flips if piece.rising else reversed(flips):
        passed = _passed(forward, place, piece.rising)
        found = first(passed, low, piece.high, function.guess(place))
        if found > piece.high:
            break
        low = found
        if found == piece.low:
            state = not state
        elif cuts and cuts[-1][0] + cuts[-1][1] == found:
            cuts.pop()
        else:
            cuts.append(_cut(function, piece, found, constant))
    return state, cuts


def _cut(function: Monotone, piece: MonotonePiece, place: int, constant: int) -> Cut:
    """The cut at a place, named by the value that alone leads to the constant if there is one."""
    if not function.source.keeps_names:
        return place, 0
    forward = function.forward
    if forward(place - 1) == constant and (place - 1 == piece.low or forward(place - 2) != constant):
        return place - 1, 1
    if forward(place) == constant and (place == piece.high or forward(place + 1) != constant):
        return place, 0
    return _rounder(place)


def _rounder(place: int) -> Cut:
    """The cut at a place, named by the neighbour with more zeros at its end: 6.0 rather than 5.999999999999999."""
    return (place, 0) if _zeros(place) > _zeros(place - 1) else (place - 1, 1)


def _zeros(ordinal: int) -> int:
    return (ordinal & -ordinal).bit_length() or 64


def _passed(forward: Callable[[int], Result], place: int, rising: bool) -> Callable[[int], bool]:
    def test(ordinal: int) -> bool:
        result = forward(ordinal)
        assert not isinstance(result, NoOrdinal), "within a piece either all results have an ordinal or none"
        return (result >= place) is rising

    return test


def first(test: Callable[[int], bool], low: int, high: int, guess: int) -> int:
    """The smallest n from low to high that passes a test which all larger ones pass too; high + 1 if none does.

    Steps from the guess double until they have passed the place, then halve.

    >>> first(lambda n: n * n >= 2000, 0, 10**9, guess=40), first(lambda n: n > 5, 0, 3, guess=9)
    (45, 4)
    """
    good, bad = high + 1, low - 1
    probe, step = min(max(guess, low), high), 1
    if test(probe):
        good = probe
        while good - step > bad:
            if not test(good - step):
                bad = good - step
                break
            good -= step
            step *= 2
    else:
        bad = probe
        while bad + step < good:
            if test(bad + step):
                good = bad + step
                break
            bad += step
            step *= 2
    while good - bad > 1:
        middle = (good + bad) // 2
        if test(middle):
            good = middle
        else:
            bad = middle
    return good
