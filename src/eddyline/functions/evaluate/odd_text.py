"""Text that is not valid UTF-8, as casts of binaries and foreign files bring it: kept as it is, read as Spark reads it.

bytes          compared, joined and searched for as they are
characters     counted by their first bytes, whatever follows: E2 82 61 is one that wants three bytes
patterns       see what Java decodes: U+FFFD for what is malformed
upper, lower   see the text that Spark has mended first: U+FFFD as well, but three of them for half a surrogate pair
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa

from eddyline.functions.evaluate.arrays import Outcome, text_buffers, values_of, with_parts
from eddyline.functions.evaluate.each_value import each_value
from eddyline.model import types as t
from eddyline.model.names import is_unicode

# Spark's table of how many bytes a character has, by its first one; 80 to C1 and F5 to FF, which begin none, count as one.
_CHARACTER: Final = re.compile(
    rb"[\xc2-\xdf].?|[\xe0-\xef].{0,2}|[\xf0-\xf4].{0,3}|.",
    re.DOTALL,
)
_STRINGS: Final = frozenset({pa.string(), pa.large_string()})
MALFORMED: Final = "\ufffd"  # what Java and Spark put in place of bytes that are not valid UTF-8
_HALF_A_PAIR: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def is_text(array: pa.Array) -> bool:
    """Whether all strings of an array are UTF-8.

    >>> is_text(pa.array(["ä"])), is_text(pa.array([b"\\xe4"]).view(pa.string()))
    (True, False)
    """
    if array.type in _STRINGS:
        data, offsets = text_buffers(array)
        # ASCII is UTF-8. Arrow looks at one text after the other, which takes forty times as long.
        if data[offsets[0] : offsets[-1]].max(initial=0) < 128:
            return True
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def bytes_of(array: pa.Array) -> pa.Array:
    """The bytes of strings, or of what are bytes already."""
    return array.view(pa.binary())


def decoded(array: pa.Array) -> pa.Array:
    """Strings as Java decodes them, which leaves UTF-8 as it is."""
    if is_text(array):
        return array
    return each_value(java_text, [bytes_of(array)], [t.BINARY], t.STRING).values


def readable(array: pa.Array, kind: t.DataType) -> pa.Array:
    """Values as anybody can read them, strings inside of nested ones included: odd bytes as Java decodes them."""
    nested = isinstance(kind, t.ArrayType | t.MapType | t.StructType)
    if not (nested or kind == t.STRING) or is_text(array):
        return array
    return with_parts(array, kind, readable) if nested else decoded(array)


def java_text(data: bytes) -> str:
    """The text that Java makes of bytes: one U+FFFD for each malformed piece, so also for half a surrogate pair.

    >>> java_text(b"a\\xffb\\xed\\xa0\\x80\\xe2\\x82")
    'a\\ufffdb\\ufffd\\ufffd'
    """
    return mended(_HALF_A_PAIR.sub(b"\xff", data))


def mended(data: bytes) -> str:
    """The text that Spark makes of bytes before it changes their case."""
    return data.decode("utf-8", "replace")


def characters(data: bytes) -> list[bytes]:
    """The characters that Spark counts; the last one may lack bytes.

    >>> characters(b"\\xe2\\x82a\\xffb\\xc3")
    [b'\\xe2\\x82a', b'\\xff', b'b', b'\\xc3']
    """
    return _CHARACTER.findall(data)


def each_text(
    function: Callable[..., Any],
    arrays: Sequence[pa.Array],
    kinds: Sequence[t.DataType],
) -> Outcome:
    """Apply a function that gives a slice of the text in the first array, by its characters."""
    first, *others = arrays
    if is_text(first):
        return each_value(function, arrays, kinds, t.STRING)
    pieces, _ = each_value(
        lambda data, *rest: b"".join(function(characters(data), *rest)),
        [bytes_of(first), *others],
        [t.BINARY, *kinds[1:]],
        t.BINARY,
    )
    return Outcome(pieces.view(pa.string()))


class OddText(str):
    """A text that is not valid UTF-8, its odd bytes as lone surrogates; it is compared by its bytes."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return _encoded(self) < _encoded(other)

    def __le__(self, other: str) -> bool:
        return _encoded(self) <= _encoded(other)

    def __gt__(self, other: str) -> bool:
        return _encoded(self) > _encoded(other)

    def __ge__(self, other: str) -> bool:
        return _encoded(self) >= _encoded(other)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def ordered_values(array: pa.Array, kind: t.DataType) -> list[Any]:
    """Python values as `values_of` gives them, which order as Spark orders them."""
    values = values_of(array, kind)
    if kind != t.STRING or is_text(array):
        return values
    return [value if value is None or is_unicode(value) else OddText(value) for value in values]
