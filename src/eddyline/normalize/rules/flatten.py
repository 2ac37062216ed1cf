"""The rule that takes AND out of AND and OR out of OR; what is always or never true goes with it."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.model.predicate import ALWAYS, NEVER, And, Or, Predicate


def flatten(all_: bool, parts: Sequence[Predicate]) -> Sequence[Predicate]:
    """Parts of an AND (`all_`) or OR, with the parts of parts of the same kind in their place.

    AND of nothing is ALWAYS and OR of nothing NEVER, so one of them vanishes by itself and the other one decides alone.

    >>> flatten(True, [ALWAYS, ALWAYS]), flatten(False, [NEVER, ALWAYS]) == [ALWAYS]
    ([], True)
    """
    same, decisive = (And, NEVER) if all_ else (Or, ALWAYS)
    if not any(type(part) is same or part == decisive for part in parts):
        return parts
    flat: list[Predicate] = []
    for part in parts:
        if type(part) is same:
            flat.extend(part.parts)
        elif part == decisive:
            return [decisive]
        else:
            flat.append(part)
    return flat
