"""Patterns found together: every way in which a pattern can be found, and buffers as Arrow may lay them out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline.execute.sliced import patterns as execute
from eddyline.execute.sliced.patterns import Patterns
from eddyline.index.sliced.patterns import build_patterns, eligible
from eddyline.index.sliced.regex_literals import required_literals
from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.types import BINARY, BOOLEAN, STRING

TEXT = Column("text", STRING)


def like(pattern: str, escape: str = "\\") -> Call:
    return Call("like", (TEXT, Literal(pattern, STRING), Literal(escape, STRING)), BOOLEAN)


def call(function: str, pattern: str) -> Call:
    return Call(function, (TEXT, Literal(pattern, STRING)), BOOLEAN)


def hits(values: pa.Array | list[str | None], *calls: Call) -> list[tuple[int, int]]:
    array = pa.array(values, pa.string()) if isinstance(values, list) else values
    rows, patterns = Patterns(build_patterns(calls)).find(array)
    assert rows.dtype == np.int64 and patterns.dtype == np.int32
    assert (np.diff(rows) >= 0).all()
    return sorted(zip(rows.tolist(), patterns.tolist(), strict=True))


def texts(values: list[str | None], one: Call) -> list[str | None]:
    return [values[row] for row, _ in hits(values, one)]


@pytest.mark.parametrize(
    ("pattern", "true", "false"),
    [
        ("%window%", ["window", "a window b"], ["windo", "Window", "win dow"]),
        ("window%", ["window", "windows"], ["a window"]),
        ("%window", ["window", "a window"], ["windows", "windowwindo"]),
        ("window", ["window"], ["windows", "a window"]),
        ("%abab%abab%", ["abababab", "abab abab"], ["ababab"]),
        ("abab%abab", ["abababab", "abab-abab"], ["ababab", "abab", "abab abab "]),
        ("%a%", ["a", "ba", "aaa"], ["", "b"]),
        ("a%", ["a", "ab"], ["ba"]),
        ("%a", ["a", "ba"], ["ab"]),
        ("a%b", ["ab", "acb", "abb"], ["a", "ba", "aba"]),
        ("%ab%", ["ab", "xabx"], ["a b", "ba"]),
        ("%€%", ["€", "1€"], ["", "\u20ad"]),
        ("%é%", ["é", "aé"], ["e", "\u0129"]),
        ("a_c", ["abc", "aéc", "a😀c"], ["ac", "abbc"]),
        ("%system_2%", ["system32", "xsystem😀2"], ["system2"]),
        ("_", ["a", "é", "😀"], ["", "ab"]),
        ("__%", ["ab", "é😀", "abc"], ["", "😀"]),
        ("%", ["", "a"], []),
        ("", [""], ["a"]),
        (r"50\%", ["50%"], ["50", "500"]),
        (r"%\_\\x%", [r"a_\x"], ["ab\\x"]),
        ("%_abcd", ["xabcd", "éabcd"], ["abcd"]),
        ("a%_d_", ["abdx", "aéd😀"], ["adx", "abd"]),
    ],
)
def test_like(pattern: str, true: list[str | None], false: list[str | None]) -> None:
    assert texts([*true, None, *false], like(pattern)) == true


def test_a_pattern_that_spark_refuses_is_never_true() -> None:
    calls = [like("a\\"), like("%a%"), like("a!b", "!")]
    assert hits(["a", "a\\", None], *calls) == [(0, 1), (1, 1)]
    assert build_patterns(calls).failing.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("function", "pattern", "found"),
    [
        ("contains", "%", ["a%b", "%", "b%"]),
        ("contains", "", ["a%b", "%", "b%", "", "b"]),
        ("startswith", "b", ["b%", "b"]),
        ("startswith", "", ["a%b", "%", "b%", "", "b"]),
        ("endswith", "%", ["%", "b%"]),
        ("endswith", "a%b", ["a%b"]),
    ],
)
def test_parts_are_taken_literally(function: str, pattern: str, found: list[str | None]) -> None:
    assert texts(["a%b", "%", None, "b%", "", "b"], call(function, pattern)) == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"net\s+use", ["net  use", "a net use"]),
        ("(?i)NET", ["net  use", "a net use", "Net", "network"]),
        ("^(net|a).*use$", ["net  use", "a net use"]),
        (".{9,}", ["a net use", "xxxxxxxxxx"]),
        ("x{4}(?=x)", ["xxxxxxxxxx"]),
        ("(x)(\\1){8}", ["xxxxxxxxxx"]),
        ("", ["net  use", "a net use", "Net", "network", "xxxxxxxxxx", ""]),
        ("use|work", ["net  use", "a net use", "network"]),
    ],
)
def test_rlike(pattern: str, found: list[str | None]) -> None:
    values = ["net  use", None, "a net use", "Net", "network", "xxxxxxxxxx", ""]
    assert texts(values, call("rlike", pattern)) == found


def test_a_regular_expression_with_several_literals_gives_each_pair_once() -> None:
    assert hits(["ab abcd ab", "abcd"], call("rlike", "(ab|bcd)+"), like("%ab%")) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"net\s+user?", {"net", "use"}),
        (r"\d+\.exe\b", {".exe"}),
        ("(foo|bar)x*", {"foo", "bar"}),
        ("(foo|b?)x*", set()),
        ("(?i)a-b", {"a-b", "A-b", "a-B", "A-B"}),
        ("a*(?!bcd)[x-z]", set()),
        ("(?:abc){2,}d", {"abc"}),
        ("ab$", {"ab"}),
    ],
)
def test_required_literals(pattern: str, literals: set[str]) -> None:
    found = set(required_literals(pattern))
    assert found == literals or (len(found) == 1 and found < literals)


def test_slices_do_not_see_their_neighbours() -> None:
    whole = pa.array(["xxwin", "dow", "window", None, "win", "dowindow", "ab", "cd"])
    calls = [like("%window%"), like("%b%"), like("%dow%"), like("abcd%"), like("%d")]
    everything = hits(whole, *calls)
    for start in range(len(whole) + 1):
        for length in range(len(whole) - start + 1):
            expected = [(row - start, p) for row, p in everything if start <= row < start + length]
            assert hits(whole.slice(start, length), *calls) == expected


def test_bytes_below_null_and_past_the_last_row_are_not_looked_at() -> None:
    data = b"window" * 3 + b"window"
    offsets = np.array([0, 6, 12, 17], np.int32)
    array = pa.Array.from_buffers(
        pa.string(), 3, [pa.py_buffer(b"\x05"), pa.py_buffer(offsets.tobytes()), pa.py_buffer(data)]
    )
    assert array.to_pylist() == ["window", None, "windo"]
    calls = [like("%window%"), like("%"), like("_____%"), like("%o%"), like("win%o"), call("rlike", "w.n")]
    assert hits(array, *calls) == [
        (0, 0),
        (0, 1),
        (0, 2),
        (0, 3),
        (0, 5),
        (2, 1),
        (2, 2),
        (2, 3),
        (2, 4),
        (2, 5),
    ]


@pytest.mark.parametrize("values", [[], [None], [None, None], [""], ["", None, ""]])
def test_nothing_to_look_at(values: list[str | None]) -> None:
    calls = [like("%window%"), like("a%"), like("%"), like(""), call("rlike", "a|^$"), call("rlike", "abc")]
    assert hits(values, *calls) == [
        (row, p) for row, text in enumerate(values) if text == "" for p in (2, 3, 4)
    ]


def test_wide_offsets() -> None:
    values = pa.array(["a window", None, "dow"], pa.large_string())
    assert hits(values, like("%win%"), like("d__")) == [(0, 0), (2, 1)]


def test_regular_expressions_whose_literals_are_common_are_found_as_before() -> None:
    values: list[str | None] = [None if row % 7 == 0 else f"row {row % 100} common" for row in range(2000)]
    calls = [call("rlike", f"{number} common$") for number in range(10)] + [
        call("rlike", "row 99 "),
        like("%77%"),
    ]
    patterns = Patterns(build_patterns([*calls, call("rlike", "o[w-z] 1")]))
    first, second = (patterns.find(pa.array(values)) for _ in range(2))
    assert [sorted(zip(*pair, strict=True)) for pair in (first, second)] == [
        sorted(
            (row, number)
            for number, one in enumerate([*calls, call("rlike", "o[w-z] 1")])
            for row, _ in hits(values, one)
        )
    ] * 2


def test_literals_of_regular_expressions_that_are_nowhere() -> None:
    calls = [call("rlike", f"{word}.x") for word in ("alpha", "beta", "gamma")]
    assert hits(["window", None, ""], *calls, like("%win%")) == [(0, 3)]


def test_output_that_does_not_fit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values: list[str | None] = [
        None if row % 7 == 0 else f"row {row % 100}" * (row % 5) for row in range(5000)
    ]
    calls = [like(f"%{number}r%") for number in range(100)] + [like("%row%"), like("row%"), like("%9")]
    expected = hits(values, *calls)
    monkeypatch.setattr(execute, "ROOM", 1)
    assert hits(values, *calls) == expected
    assert len(expected) > 6000


def test_long_texts_and_longer_literals() -> None:
    long = "ab" * 20_000
    calls = [like("%" + "ab" * 20_001 + "%"), like("%" + "ab" * 20_000), like("%ba%a_a_%b"), like("%aa%")]
    assert hits([long, long + "b", None], *calls) == [(0, 1), (0, 2), (1, 2)]


def test_what_is_eligible() -> None:
    data = Column("data", BINARY)
    constant = Literal("x", STRING)
    refused: list[Expression] = [
        TEXT,
        constant,
        Call("contains", (TEXT, TEXT), BOOLEAN),
        Call("contains", (data, Literal(b"x", BINARY)), BOOLEAN),
        Call("like", (TEXT, Literal(None, STRING), constant), BOOLEAN),
        Call("eq", (TEXT, constant), BOOLEAN),
        call("rlike", "\\G"),
    ]
    assert not any(map(eligible, refused))
    lowered = Call("lower", (TEXT,), STRING)
    accepted = [like("a%"), call("rlike", "a"), Call("startswith", (lowered, constant), BOOLEAN)]
    assert all(map(eligible, accepted))


def test_explain() -> None:
    calls = [like("%window%"), like("%a%"), like("%a"), like("__"), call("rlike", "[0-9]"), like("\\")]
    assert build_patterns(calls).explain() == (
        "6 patterns: 2 by 2 bytes, 1 by 4 bytes, 1 by length, 1 by search, 1 never"
    )
