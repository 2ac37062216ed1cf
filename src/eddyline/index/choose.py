"""Which executor serves which query.

A query is found by key where one of its conditions names few points of a subject with many constants: a tuple then
meets only the queries of its own value, at about 2.5 ns each, while the sliced executor spends about 0.007 ns on every
query and tuple (measured on one AVX-512 core). With m equally frequent constants the keyed way wins from m = 2.5 / 0.007,
about 360, on; queries that are no plain AND of ranges are always sliced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.config import DEFAULT_INDEX, IndexSettings
from eddyline.model.expression import Expression
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.regions import Regions

MAX_POINTS: Final = 16


@dataclass(frozen=True, slots=True)
class Access:
    """How a keyed query is found: its access condition and the ranges that remain to be checked."""

    number: int
    access: Condition
    checks: tuple[Condition, ...]


def choose(
    predicates: Sequence[Predicate], settings: IndexSettings = DEFAULT_INDEX
) -> tuple[list[Access], list[int]]:
    """Accesses of the keyed queries, and the places of the sliced ones."""
    if settings.executor == "sliced":
        return [], list(range(len(predicates)))
    min_keys = 1 if settings.executor == "keyed" else settings.min_keys
    conjunctions = [_conjunction(predicate) for predicate in predicates]
    values: dict[Expression, set[object]] = {}
    for parts in conjunctions:
        for part in parts or ():
            if is_key(part.regions):
                values.setdefault(part.subject, set()).update(part.regions.constants)
    many = {subject: len(found) for subject, found in values.items() if len(found) >= min_keys}
    keyed: list[Access] = []
    sliced: list[int] = []
    for number, parts in enumerate(conjunctions):
        access = _access(number, parts, many) if parts and many else None
        if access is None:
            sliced.append(number)
        else:
            keyed.append(access)
    return keyed, sliced


def _conjunction(predicate: Predicate) -> tuple[Condition, ...] | None:
    """The conditions of a plain AND; None for anything else."""
    if isinstance(predicate, Condition):
        return (predicate,)
    if isinstance(predicate, And) and all(isinstance(part, Condition) for part in predicate.parts):
        return tuple([part for part in predicate.parts if isinstance(part, Condition)])
    return None


def _access(number: int, parts: tuple[Condition, ...], many: dict[Expression, int]) -> Access | None:
    """The condition on the subject with the most constants that is a key, if all others are ranges."""
    keys = [part for part in parts if part.subject in many and is_key(part.regions)]
    if not keys:
        return None
    access = max(keys, key=lambda part: many[part.subject])
    checks = tuple([part for part in parts if part is not access])
    return Access(number, access, checks) if all(is_range(check.regions) for check in checks) else None


def is_key(regions: Regions) -> bool:
    """Whether a set consists of a few single values."""
    cuts = regions.cuts
    return (
        0 < len(cuts) <= 2 * MAX_POINTS
        and not (regions.inside or regions.null or regions.nan)
        and len(cuts) % 2 == 0
        and all(cuts[i][0] == cuts[i + 1][0] for i in range(0, len(cuts), 2))
    )


def is_range(regions: Regions) -> bool:
    """Whether a set is one range of region ids, whatever else cuts its subject."""
    if regions.null or len(regions.cuts) > 2:
        return False
    open_above = bool(regions.cuts) and (len(regions.cuts) % 2 == 0) == regions.inside
    if regions.nan:
        return open_above and (len(regions.cuts) < 2)
    return len(regions.cuts) == 1 or (len(regions.cuts) == 2 and not regions.inside)
