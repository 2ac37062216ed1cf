"""Prefixes: `LIKE 'a%'` and `x >= 'a' AND x < 'b'` are the same texts."""

from __future__ import annotations

from collections.abc import Iterator

from eddyline.functions.like import LikePattern
from eddyline.implication.facts.subjects import Subjects, any_of, inside, is_not_true, is_true, outside
from eddyline.implication.facts.text_patterns import patterns_by_text
from eddyline.model.predicate import Predicate
from eddyline.model.regions import Regions


def prefix_patterns(subjects: Subjects) -> Iterator[Predicate]:
    """What is like a pattern lies in the range of its prefix; a prefix alone is that range."""
    for text, patterns in patterns_by_text(subjects).items():
        if text not in subjects:
            continue
        for call, pattern in patterns:
            prefixed = _range(pattern)
            if prefixed is None:
                continue
            yield any_of(is_not_true(call), inside(text, prefixed))
            if pattern.kind == "starts":
                yield any_of(is_true(call), outside(text, prefixed))


def _range(pattern: LikePattern) -> Regions | None:
    """The texts that begin as a pattern does."""
    if pattern.kind == "equals" or not pattern.parts or not isinstance(pattern.parts[0], str):
        return None
    prefix = pattern.parts[0]
    last = prefix[-1].encode()
    # Only the last byte is counted up: between characters of different lengths lie malformed texts, which begin otherwise.
    if last[-1] in (0x7F, 0xBF):
        return None
    after = last[:-1] + bytes([last[-1] + 1])
    return Regions(False, ((prefix, 0), (prefix[:-1] + after.decode(), 0)))
