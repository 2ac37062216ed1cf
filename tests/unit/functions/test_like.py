from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline.functions.like import compile_like

TEXTS = [
    "",
    "a",
    "ab",
    "abc",
    "a%c",
    "a_c",
    "a\\c",
    "a\nc",
    "x😀y",
    "日本語",
    "a.c",
    "A",
    "aXbXc",
    "%",
    "_",
    "\\",
]


def regex_of(pattern: str) -> re.Pattern[str]:
    """LIKE as a plain translation, character by character."""
    parts, escaped = [], False
    for character in pattern:
        if escaped or character not in "%_\\":
            parts.append(re.escape(character))
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            parts.append(".*" if character == "%" else ".")
    return re.compile("".join(parts), re.DOTALL)


@pytest.mark.parametrize(
    "pattern",
    ["", "a", "a%", "%a", "%a%", "%", "%%", "_", "__", "a_c", "a\\%c", "a\\_c", "a\\\\c", "%b%", "_😀_", "%語", "a%b%c", "a.c", "_%_", "%\n%"],
)  # fmt: skip
def test_patterns(pattern: str) -> None:
    compiled = compile_like(pattern)
    assert compiled is not None
    expected = [regex_of(pattern).fullmatch(text) is not None for text in TEXTS]
    assert [compiled.to_python().fullmatch(text) is not None for text in TEXTS] == expected
    assert pc.match_substring_regex(pa.array(TEXTS), pattern=compiled.to_re2()).to_pylist() == expected


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [("", "equals"), ("ab", "equals"), ("a\\%", "equals"), ("a%", "starts"), ("%a", "ends"), ("%a%", "contains"), ("%", "any"), ("a_", "general"), ("a%b", "general")],
)  # fmt: skip
def test_kinds(pattern: str, kind: str) -> None:
    compiled = compile_like(pattern)
    assert compiled is not None
    assert compiled.kind == kind


@pytest.mark.parametrize(("pattern", "escape"), [("a\\", "\\"), ("\\a", "\\"), ("a!b", "!"), ("!", "!")])
def test_refused_patterns(pattern: str, escape: str) -> None:
    assert compile_like(pattern, escape) is None


def test_other_escapes() -> None:
    compiled = compile_like("a%%b\\", "%")
    assert compiled is not None
    assert compiled.parts == ("a%b\\",)
