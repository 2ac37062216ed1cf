"""The accepted regular expressions; answers were asked of Java 25 (and 17, which differs only in \\b beside non-ASCII)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline.functions.evaluate.arrays import text_buffers
from eddyline.functions.java_regex import Unsupported, check, needs_backtracking
from eddyline.functions.java_regex.linear import LinearSearch
from eddyline.functions.java_regex.parse import parse
from eddyline.functions.java_regex.program import program
from eddyline.functions.java_regex.required import required
from eddyline.functions.java_regex.search import BacktrackingSearch

TEXTS = [
    *("", "a", "b", "A", "abc", "aab", "a\n", "a\r\n", "a\r", "\n", "a\nb", "a\r\nb", "a\x85", "a\u2028b"),
    *(
        "1",
        "_",
        " ",
        "é",
        "É",
        "ß",
        "\u212a",
        "ſ",
        "😀",
        "a😀b",
        "[a]",
        "a&b",
        "^",
        "-",
        "\\",
        "\x0b",
        "\xa0",
        "٣",
    ),
]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("a", "a abc aab a\n a\r\n a\r a\nb a\r\nb a\x85 a\u2028b a😀b [a] a&b"),
        ("a$", "a a\n a\r\n a\r a\x85"),
        ("a\\Z", "a a\n a\r\n a\r a\x85"),
        ("a\\z", "a"),
        ("\\r$", "a\r"),
        ("a.", "abc aab a😀b [a] a&b"),
        ("(?s)^a.$", "a\n a\r a\x85"),
        ("(?m)^b", "b a\nb a\r\nb a\u2028b"),
        ("(?m)a$", "a a\n a\r\n a\r a\nb a\r\nb a\x85 a\u2028b"),
        ("(?i)A", "a A abc aab a\n a\r\n a\r a\nb a\r\nb a\x85 a\u2028b a😀b [a] a&b"),
        ("(?i)K|É|S", "É"),
        ("(?i)[j-l]", ""),
        ("^[^a]$", "b A \n 1 _ | é É ß \u212a ſ 😀 ^ - \\ \x0b \xa0 ٣"),
        ("\\d", "1"),
        ("^\\W$", "\n | é É ß \u212a ſ 😀 ^ - \\ \x0b \xa0 ٣"),
        ("^\\s$", "\n | \x0b"),
        ("\\h", "| \xa0"),
        ("\\v", "a\n a\r\n a\r \n a\nb a\r\nb a\x85 a\u2028b \x0b"),
        ("\\R{2}", ""),
        ("\\r\\R", "a\r\n a\r\nb"),
        ("(\\R){2}", ""),
        ("(?:\\R|x){2}", "a\r\n a\r\nb"),
        ("[a-c&&[^b]]", "a abc aab a\n a\r\n a\r a\nb a\r\nb a\x85 a\u2028b a😀b [a] a&b"),
        ("(?i)(?:K|\xc9)|[s]", "É"),
        ("[]]", "[a]"),
        ("[a-]$", "a a\n a\r\n a\r a\x85 -"),
        ("(a)\\1", "aab"),
        ("(?<x>a)\\k<x>b", "aab"),
        ("a(?!b)(?=.)", "aab a😀b a&b [a]"),
        ("(?<=a|\\[)b", "abc aab"),
        ("(?<!a)b", "b a\nb a\r\nb a\u2028b a😀b a&b"),
        ("(?>a*)a", ""),
        ("a++b", "abc aab"),
        ("a{2}", "aab"),
        ("\\Qa&b\\E", "a&b"),
        ("\\x61\\x{1F600}\\u0062|\\0137", "a😀b _"),
        ("\\cJ", "a\n a\r\n \n a\nb a\r\nb"),
        ("^\\p{L}\\z", "a b A é É ß \u212a ſ"),
        ("\\p{Upper}|\\p{Punct}", "A _ [a] a&b ^ - \\"),
        ("\\b$", "a b A abc aab a\n a\r\n a\r a\nb a\r\nb a\x85 a\u2028b 1 _ a😀b a&b"),
        ("", "*"),
    ],
)
def test_found(pattern: str, found: str) -> None:
    assert check(pattern) is None
    wanted = (
        set(TEXTS) if found == "*" else {" " if text == "|" else text for text in found.split(" ")} - {""}
    )
    node = parse(pattern)
    assert not isinstance(node, Unsupported)
    searches: list[LinearSearch | BacktrackingSearch] = [BacktrackingSearch(program(node))]
    if not needs_backtracking(pattern):
        searches += [
            LinearSearch(node),
            LinearSearch(node, most_moves=1),
        ]  # with hardly any states made beforehand
    for search in searches:
        hits = search.search(*text_buffers(pa.array(TEXTS)), np.arange(len(TEXTS))).hits
        assert {text for text, hit in zip(TEXTS, hits, strict=True) if hit} == wanted


@pytest.mark.parametrize(
    ("pattern", "name", "offset"),
    [
        ("ab)", "a closing parenthesis without an opening one", 2),
        ("(a", "a group that is not closed", 0),
        ("a[b", "a class that is not closed", 1),
        ("*a", "a quantifier without anything before it", 0),
        ("a**", "a quantifier after a quantifier", 2),
        ("a{", "a brace that is neither escaped nor a quantifier", 1),
        ("a{2,1}", "a quantifier out of range", 1),
        ("a\\", "a backslash at the end", 1),
        ("\\y", "the escape \\y", 0),
        ("a\\G", "the escape \\G", 1),
        ("\\B", "the escape \\B", 0),
        ("\\X", "the escape \\X", 0),
        ("(?x)a b", "the flag x", 2),
        ("(?u)a", "the flag u", 2),
        ("(?U)a", "the flag U", 2),
        ("(?z)a", "an unknown kind of group", 0),
        ("(?P<n>a)", "an unknown kind of group", 0),
        ("\\p{IsGreek}", "the property IsGreek", 0),
        ("(?i)\\p{Lu}", "the property Lu with the flag i", 4),
        ("(?<=a*)b", "a look-behind of varying length", 0),
        ("\\1(a)", "a back reference to a group that is not there or still open", 0),
        ("(?i)(a)\\1", "a back reference with the flag i", 7),
        ("(?=(a))\\1", "a back reference into a look, an atomic group or a possessive repetition", 7),
        ("(?:(a)b)*+\\1", "a back reference into a look, an atomic group or a possessive repetition", 10),
        ("\\x6", "the escape \\x without digits", 0),
        ("\\ud83d", "an escape that is no character", 0),
        ("[b-a]", "a range of characters that is empty", 4),
        ("[a&&]", "an intersection with nothing", 4),
        ("^*", "a quantifier after a place", 1),
    ],
)
def test_refused(pattern: str, name: str, offset: int) -> None:
    refused = check(pattern)
    assert refused is not None
    assert (refused.name, refused.offset) == (name, offset)


LINEAR = [
    *(
        "(a+)+$",
        "\\s+$",
        "[^x]$",
        "a{1001}",
        ".{1000,}",
        "(?i)k|s",
        "\\bfoo\\b",
        "(?m)^a$",
        "a*+b",
        "a?+a",
        "(?>a)",
    ),
    *("(?=a)", "(?<!\\w)x", "(?!^|a)b", "\\R+x", "(?:(?>ab|cd)x)++", "(a|b)*?c{2,30}", "\\Ax|y\\z", "x\\Z"),
]
BACKTRACKING = [
    *("a(?=bc)", "(a)\\1", "(?:ab)*+a", "(?>a|ab)c", "(?<!ab)c", "$a", "(?:^|a){2}b", "(?:[a-z]?){1000}x"),
    "(?!$)b",
]


@pytest.mark.parametrize("pattern", LINEAR)
def test_read_once(pattern: str) -> None:
    assert not needs_backtracking(pattern)


@pytest.mark.parametrize("pattern", BACKTRACKING)
def test_tried_out(pattern: str) -> None:
    assert needs_backtracking(pattern)


def hits(pattern: str, texts: list[str]) -> list[bool]:
    """What is found in some texts, with more behind them, so that all may be looked at in blocks."""
    node = parse(pattern)
    assert not isinstance(node, Unsupported)
    array = pa.array([*texts, " " * 64])
    found: list[bool] = LinearSearch(node).search(*text_buffers(array), np.arange(len(texts))).hits.tolist()
    return found


@pytest.mark.parametrize(
    "pattern", ["user=5", "^.*user=5", "(?i)USER=\\d", "\\buser=5", "user=\\d|user=[a-f]"]
)
def test_what_every_match_has_is_found_wherever_it_is(pattern: str) -> None:
    texts = ["x" * before + "user=5" + "x" * after for before in range(140) for after in (0, 1, 70)]
    expected = [text.startswith("user") or "\\b" not in pattern for text in texts]
    assert hits(pattern, texts) == expected
    # the next text has the end of what this one begins with
    pieces = [piece for text in texts for piece in (text[: text.index("=")], text[text.index("=") :])]
    assert not any(hits(pattern, pieces))


def test_sifting_stops_and_goes_on_as_texts_are() -> None:
    texts = ["user=5", "user=x"] * 4_000 + ["nothing", "user=5", "other"] * 4_000 + ["user=55"] * 3_000
    assert hits("user=5", texts) == ["user=5" in text for text in texts]


def test_a_search_does_not_begin_within_a_character() -> None:
    assert hits("é|aQ", ["\u28e9", "é", "aQ"]) == [False, True, True]  # é is C3 A9, the first one E2 A3 A9


@pytest.mark.parametrize(
    ("pattern", "length", "is_head"),
    [
        ("status=5\\d\\d", 10, True),
        ("(?s)^.*timeout.*$", 7, False),
        ("a?(?:bc){2}d*", 4, False),
        ("(?:foo|bar)+1", 4, False),
        ("x*|y", None, False),
        ("(?:a|)b?", None, False),
        ("é", 2, True),
        ("[a-é]", None, False),
        ("a{100}", 32, True),
        ("(?=abc)", None, False),
    ],
)
def test_required(pattern: str, length: int | None, is_head: bool) -> None:
    node = parse(pattern)
    assert not isinstance(node, Unsupported)
    found = required(node)
    assert (found and (found.length, found.is_head)) == (length and (length, is_head))
