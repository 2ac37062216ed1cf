"""Patterns on one text, found together: LIKE, contains, startswith, endswith and RLIKE with constant patterns.

    LIKE '%cmd.exe%/c_foo'     code      ANY c m d . e x e ANY / c ONE f o o
                               literal   cmd.exe      the longest one
                               gram      d.ex         its rarest four bytes, by which the pattern is found

Patterns without any literal only ask for a number of characters. A regular expression is found by literals one of which
every match must contain, and then searched for; without such literals it is searched for in every text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from eddyline.functions.evaluate.odd_text import MALFORMED
from eddyline.functions.java_regex import check, needs_backtracking
from eddyline.functions.like import Wild, compile_like
from eddyline.index.sliced.regex_literals import required_literals
from eddyline.kernels import patterns as kernels
from eddyline.model.expression import Call, Expression, Literal
from eddyline.model.types import STRING

UNLIMITED: Final = 2**31 - 1
_LARGEST_KEY: Final = {
    2: 16,
    4: 19,
}  # bits by width; 19 make a filter of 64 KB, which the second level cache holds
_ARITY: Final = {"like": 3, "contains": 2, "startswith": 2, "endswith": 2, "rlike": 2}
_OF_BYTES: Final = ("contains", "startswith", "endswith")
_KINDS: Final = {
    "equals": kernels.EQUALS,
    "starts": kernels.STARTS,
    "ends": kernels.ENDS,
    "contains": kernels.CONTAINS,
    "general": kernels.GENERAL,
}
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


class GramTable(NamedTuple):
    """Patterns found by a gram of `width` bytes; one entry per pattern, or several.

    key of a gram: (gram * MULTIPLIER) >> shift in 64 bits. Bit `key` of `bits` is set if an entry has that key; the
    entries of bucket b = key >> bucket_shift are those from starts[b] to starts[b + 1]. Of entry e the gram stands
    befores[e] bytes after the beginning of its literal codes[literals[e]:][:lengths[e]].
    """

    width: int
    shift: int
    bucket_shift: int
    bits: npt.NDArray[np.uint64]
    starts: Int64
    grams: npt.NDArray[np.uint64]
    befores: Int32
    literals: Int64
    lengths: Int32
    kinds: npt.NDArray[np.uint8]
    patterns: Int32


@dataclass(frozen=True, slots=True)
class PatternIndex:
    """All patterns on one text; pattern i is that of the i-th call.

    codes[code_starts[i]:code_starts[i + 1]] is the code of pattern i. counted: patterns that are true if the number of
    characters is from least to most. filtered, searched: patterns that are regular expressions, with and without literals
    in the tables; `regexes` has their texts in that order. failing: patterns that Spark refuses, NULL for every text.
    """

    text: Expression
    size: int
    codes: npt.NDArray[np.uint8]
    code_starts: Int64
    tables: tuple[GramTable, ...]
    counted: Int32
    least: Int32
    most: Int32
    filtered: Int32
    searched: Int32
    regexes: tuple[str, ...]
    failing: Int32

    def explain(self) -> str:
        """How many patterns are found in which way."""
        tables = [(len(np.unique(each.patterns)), f"by {each.width} bytes") for each in self.tables]
        others = [(self.counted, "by length"), (self.searched, "by search"), (self.failing, "never")]
        ways = [*tables, *((len(numbers), way) for numbers, way in others)]
        return f"{self.size} patterns: " + ", ".join(f"{count} {way}" for count, way in ways if count)


def eligible(expression: Expression) -> bool:
    """Whether an expression is a pattern on a text that is known beforehand.

    >>> from eddyline.model.expression import Column
    >>> from eddyline.model.types import BOOLEAN
    >>> name = Column("name", STRING)
    >>> eligible(Call("contains", (name, Literal("x", STRING)), BOOLEAN))
    True
    >>> eligible(Call("contains", (name, name), BOOLEAN))
    False
    """
    if not isinstance(expression, Call) or _ARITY.get(expression.function) != len(expression.arguments):
        return False
    text, *constants = expression.arguments
    if text.type != STRING or not all(
        type(each) is Literal and each.type == STRING and isinstance(each.value, str) for each in constants
    ):
        return False
    pattern = _constant(constants[0])
    if expression.function in _OF_BYTES and MALFORMED in pattern:
        return False  # LIKE and RLIKE take malformed bytes for that character, and all patterns see one text
    if expression.function != "rlike":
        return True
    return check(pattern) is None and not needs_backtracking(pattern)  # whose search can fail for some rows


def _constant(expression: Expression) -> str:
    assert isinstance(expression, Literal) and isinstance(expression.value, str), "a pattern is a constant"
    return expression.value


class _SearchLiteral(NamedTuple):
    """A literal by which a pattern is found; `at` is where it stands in the code of the pattern."""

    pattern: int
    kind: int
    literal: bytes
    at: int


def build_patterns(calls: Sequence[Call]) -> PatternIndex:
    """Compile eligible calls on one and the same text."""
    assert len({call.arguments[0] for call in calls}) == 1, "patterns are built for one text"
    builder = _PatternIndexBuilder()
    for number, call in enumerate(calls):
        builder.add(number, call)
    return builder.index(calls[0].arguments[0])


class _PatternIndexBuilder:
    """Collects the patterns one by one."""

    def __init__(self) -> None:
        self.codes: list[bytes] = []
        self.entries: list[_SearchLiteral] = []
        self.counted: list[tuple[int, int, int]] = []
        self.filtered: dict[int, str] = {}
        self.searched: dict[int, str] = {}
        self.failing: list[int] = []

    def add(self, number: int, call: Call) -> None:
        pattern = _constant(call.arguments[1])
        match call.function:
            case "like":
                compiled = compile_like(pattern, _constant(call.arguments[2]))
                if compiled is None:
                    self.codes.append(b"")
                    self.failing.append(number)
                else:
                    self.add_like(number, compiled.kind, compiled.parts)
            case "contains":
                self.add_like(number, "contains", (Wild.ANY, pattern, Wild.ANY))
            case "startswith":
                self.add_like(number, "starts", (pattern, Wild.ANY))
            case "endswith":
                self.add_like(number, "ends", (Wild.ANY, pattern))
            case "rlike":
                self.add_regex(number, pattern)

    def add_like(self, number: int, kind: str, parts: Iterable[str | Wild]) -> None:
        pieces = [_code(part) for part in parts if part]
        self.codes.append(b"".join(pieces))
        literals = [i for i, piece in enumerate(pieces) if piece[0] < kernels.ANY]
        if not literals:
            count = pieces.count(_ONE)
            self.counted.append((number, count, UNLIMITED if _ANY in pieces else count))
            return
        longest = max(literals, key=lambda i: len(pieces[i]))
        at = sum(map(len, pieces[:longest]))
        self.entries.append(_SearchLiteral(number, _KINDS[kind], pieces[longest], at))

    def add_regex(self, number: int, pattern: str) -> None:
        literals = [literal.encode("utf-8", "surrogatepass") for literal in required_literals(pattern)]
        self.codes.append(b"".join(literals))
        if not literals or not all(map(_is_selective, literals)):
            self.searched[number] = pattern
            return
        self.filtered[number] = pattern
        at = 0
        for literal in literals:
            self.entries.append(_SearchLiteral(number, kernels.CONTAINS, literal, at))
            at += len(literal)

    def index(self, text: Expression) -> PatternIndex:
        starts = np.cumsum([0, *map(len, self.codes)], dtype=np.int64)
        tables = []
        for width, lengths in ((2, range(1, 4)), (4, range(4, UNLIMITED))):
            entries = [entry for entry in self.entries if len(entry.literal) in lengths]
            if entries:
                tables.append(_table(width, entries, starts))
        counted = np.array(self.counted, np.int32).reshape(-1, 3)
        return PatternIndex(
            text=text,
            size=len(self.codes),
            codes=np.frombuffer(bytearray(b"".join(self.codes)), np.uint8),
            code_starts=starts,
            tables=tuple(tables),
            counted=counted[:, 0].copy(),
            least=counted[:, 1].copy(),
            most=counted[:, 2].copy(),
            filtered=np.array(list(self.filtered), np.int32),
            searched=np.array(list(self.searched), np.int32),
            regexes=(*self.filtered.values(), *self.searched.values()),
            failing=np.array(self.failing, np.int32),
        )


_ANY: Final = bytes([kernels.ANY])
_ONE: Final = bytes([kernels.ONE])


def _code(part: str | Wild) -> bytes:
    if isinstance(part, Wild):
        return _ANY if part is Wild.ANY else _ONE
    return part.encode("utf-8", "surrogatepass")  # half a pair is in no text, and neither are its bytes


def _is_selective(literal: bytes) -> bool:
    """Whether a literal is worth looking for: a single common character is in nearly every text."""
    return len(literal) > 1 or not (literal.isalnum() or literal.isspace())


def _table(width: int, entries: list[_SearchLiteral], code_starts: Int64) -> GramTable:
    owners, befores, grams = _rarest(width, [entry.literal for entry in entries])
    size = max(3, (len(grams) - 1).bit_length())
    bits = min(size + 6, _LARGEST_KEY[width])
    bucket_bits = min(size + 2, bits)
    keys = (grams * np.uint64(kernels.MULTIPLIER)) >> np.uint64(64 - bits)
    order = np.argsort(keys, kind="stable")
    owners = owners[order]
    words, starts = _filter(keys[order], bits, bucket_bits)
    patterns = np.array([entry.pattern for entry in entries], np.int32)[owners]
    return GramTable(
        width=width,
        shift=64 - bits,
        bucket_shift=bits - bucket_bits,
        bits=words,
        starts=starts,
        grams=grams[order],
        befores=befores[order],
        literals=code_starts[patterns] + np.array([entry.at for entry in entries], np.int64)[owners],
        lengths=np.array([len(entry.literal) for entry in entries], np.int32)[owners],
        kinds=np.array([entry.kind for entry in entries], np.uint8)[owners],
        patterns=patterns,
    )


def _filter(
    keys: npt.NDArray[np.uint64], bits: int, bucket_bits: int
) -> tuple[npt.NDArray[np.uint64], Int64]:
    """The bits and the starts of buckets for ascending keys."""
    buckets = (keys >> np.uint64(bits - bucket_bits)).astype(np.int64)
    words = np.zeros(1 << (bits - 6), np.uint64)
    np.bitwise_or.at(words, (keys >> np.uint64(6)).astype(np.int64), np.uint64(1) << (keys & np.uint64(63)))
    return words, np.searchsorted(buckets, np.arange((1 << bucket_bits) + 1)).astype(np.int64)


def without(table: GramTable, patterns: list[int]) -> GramTable:
    """The table without the entries of some patterns."""
    kept = ~np.isin(table.patterns, patterns)
    bits = 64 - table.shift
    keys = (table.grams[kept] * np.uint64(kernels.MULTIPLIER)) >> np.uint64(table.shift)
    words, starts = _filter(keys, bits, bits - table.bucket_shift)
    entries = {
        name: getattr(table, name)[kept]
        for name in ("grams", "befores", "literals", "lengths", "kinds", "patterns")
    }
    return table._replace(bits=words, starts=starts, **entries)


def _rarest(width: int, literals: list[bytes]) -> tuple[Int64, Int32, npt.NDArray[np.uint64]]:
    """For each literal (by number) the offset and the value of its gram that texts are least likely to have.

    A gram is likely if its bytes are common, and if many of the literals have it. A literal of one byte is found by all
    grams of two that begin with it.
    """
    singles = [i for i, literal in enumerate(literals) if len(literal) < width]
    lengths = np.array([len(literal) for literal in literals])
    counts = np.maximum(lengths - (width - 1), 0)
    owners = np.repeat(np.arange(len(literals)), counts)
    inner = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(np.cumsum(lengths) - lengths, counts) + inner
    grams, commonness = _grams(width, b"".join(literals), places)
    _, inverse, shared = np.unique(grams, return_inverse=True, return_counts=True)
    order = np.lexsort((commonness + 2 * np.log2(shared)[inverse], owners))
    best = order[(np.cumsum(counts) - counts)[counts > 0]]
    firsts = np.array([literals[i][0] for i in singles], np.uint64)
    followed = (firsts[:, None] | (np.arange(256, dtype=np.uint64) << np.uint64(8))).ravel()
    return (
        np.concatenate([owners[best], np.repeat(np.array(singles, np.int64), 256)]),
        np.concatenate([inner[best], np.zeros(len(followed), np.int64)]).astype(np.int32),
        np.concatenate([grams[best], followed]),
    )


def _grams(width: int, data: bytes, places: Int64) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]:
    """The grams at some places, the first byte lowest, and how common their bytes are."""
    values = np.frombuffer(data, np.uint8)
    grams, commonness = np.zeros(len(places), np.uint64), np.zeros(len(places))
    for i in range(width):
        grams |= values[places + i].astype(np.uint64) << np.uint64(8 * i)
        commonness += _COMMONNESS[values[places + i]]
    return grams, commonness


def _byte_commonness() -> npt.NDArray[np.float64]:
    """Binary logarithms of how common bytes are in texts, roughly."""
    weights = np.full(256, 1.0)
    weights[list(b"0123456789")] = 4.0
    weights[list(b"\\/.-_:=,\"'()")] = 4.0
    weights[ord(" ")] = 6.5
    for place, letter in enumerate("etaoinsrlhdcumpfgwybvkxjqz"):
        weights[ord(letter)] = 6.5 - place / 6
        weights[ord(letter.upper())] = 4.5 - place / 6
    return weights


_COMMONNESS: Final = _byte_commonness()
