"""Literals that every match of a regular expression has: `RLIKE 'error: \\d+'` needs a text like `%error: %`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from eddyline.functions.evaluate.odd_text import MALFORMED
from eddyline.functions.java_regex.parse import parse
from eddyline.functions.java_regex.reader import Unsupported
from eddyline.functions.java_regex.required import required_text
from eddyline.implication.facts.included_patterns import includes
from eddyline.implication.facts.subjects import Subjects, any_of, is_not_true, is_true
from eddyline.implication.facts.text_patterns import around, patterns_by_text
from eddyline.model.expression import Literal
from eddyline.model.predicate import Predicate


def regex_literals(subjects: Subjects) -> Iterator[Predicate]:
    """A text that matches a regular expression is like the patterns that ask for less than its literal; one way only."""
    patterns = patterns_by_text(subjects)
    for call in subjects.calls("rlike"):
        text, expression = call.arguments
        literal = _literal(str(expression.value)) if type(expression) is Literal else ""
        if not literal or MALFORMED in literal:
            continue
        needed = around(literal, before=True, after=True)
        for other, pattern in patterns.get(text, ()):
            if includes(pattern, needed):
                yield any_of(is_not_true(call), is_true(other))


@lru_cache(maxsize=1 << 12)
def _literal(expression: str) -> str:
    node = parse(expression)
    return "" if isinstance(node, Unsupported) else required_text(node)
