"""Which Java patterns are in the subset, which fail, which are refused."""

from __future__ import annotations

import pytest

from eddyline.reference.failure import Failure
from eddyline.reference.regex.character_class import UnsupportedPattern
from eddyline.reference.regex.parse import rlike

INVALID = [
    "(",
    ")",
    "[",
    "[a",
    "*a",
    "a**",
    "a{",
    "a{,2}",
    "a{2,1}",
    "[z-a]",
    "\\q",
    "\\u12",
    "\\k<z>",
    "(?a)",
    "a\\",
]
OUTSIDE = [
    "\\p{IsGreek}",
    "(?x)a",
    "(?u)a",
    "\\G",
    "\\X",
    "(?<=a*)b",
    "a{2}{3}",
    "[a&&]",
    "(a\\1)",
    "(?i)(a)\\1",
]


@pytest.mark.parametrize("pattern", INVALID)
def test_what_java_refuses_fails(pattern: str) -> None:
    with pytest.raises(Failure):
        rlike("a", pattern)


@pytest.mark.parametrize("pattern", OUTSIDE)
def test_what_is_outside_the_subset_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(UnsupportedPattern, match="support"):
        rlike("a", pattern)


@pytest.mark.parametrize(
    ("text", "pattern", "matches"),
    [
        ("x\u212a", "(?i)k", False),  # the Kelvin sign is no ASCII letter
        ("a\u2028", "a.", False),
        ("a\u2028", "(?s)a.", True),
        ("a\r\n", "a$", True),
        ("a\r\nb", "(?m)a$", True),
        ("\r\n", "\\r$\\n", False),
        ("", "(?m)^", False),
        ("𝒳", "^.$", True),
        ("b", "[a-c&&[^b]]", False),
        ("B", "(?i)[^b]", False),
        ("aB", "a(?i)b", True),
        ("AB", "a(?i)b", False),
        ("ac", "a(?:b|(?i)C)", True),
        ("a.c", "\\Qa.c\\E", True),
        ("abc", "\\Qa.c", False),
        ("\u0085", "\\R", True),
        ("\u00a0", "\\s", False),
        ("\u00a0", "\\h", True),
    ],
)
def test_as_in_java(text: str, pattern: str, matches: bool) -> None:
    assert rlike(text, pattern) is matches
