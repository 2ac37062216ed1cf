"""Functions of text and bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.functions.evaluate.arrays import (
    Outcome,
    build,
    entries,
    length_of,
    list_array,
    meet,
    nulls,
    stretch,
    text_buffers,
    validity,
)
from eddyline.functions.evaluate.each_value import Failed, each_value
from eddyline.functions.evaluate.logic import operands
from eddyline.functions.evaluate.odd_text import bytes_of, characters, decoded, each_text, is_text, mended
from eddyline.functions.java_regex import compiled
from eddyline.functions.like import LikePattern, compile_like
from eddyline.functions.zones import Zone
from eddyline.model import types as t
from eddyline.model.expression import Call


def _like(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    subject, pattern, escape = map(decoded, arguments)
    if len(pattern) == 1 and len(escape) == 1:
        return _like_constant(subject, compile_like(pattern[0].as_py(), escape[0].as_py()))
    return each_value(_like_value, [subject, pattern, escape], [t.STRING] * 3, t.BOOLEAN)


def _like_constant(subject: pa.Array, pattern: LikePattern | None) -> Outcome:
    if pattern is None:
        failed = np.asarray(subject.is_valid().to_numpy(zero_copy_only=False), np.bool_)
        return Outcome(nulls(len(subject), t.BOOLEAN), failed)
    match pattern.kind:
        case "equals":
            return Outcome(pc.equal(subject, pa.scalar(pattern.text, pa.string())))
        case "starts":
            return Outcome(pc.starts_with(subject, pattern=pattern.text))
        case "ends":
            return Outcome(pc.ends_with(subject, pattern=pattern.text))
        case "contains":
            return Outcome(pc.match_substring(subject, pattern=pattern.text))
        case "any":
            return Outcome(build(np.ones(len(subject), np.bool_), validity(subject), t.BOOLEAN))
    return Outcome(_search(subject, pattern.to_re2(), pattern.to_python().fullmatch))


def _like_value(subject: str, pattern: str, escape: str) -> bool:
    compiled = compile_like(pattern, escape)
    if compiled is None:
        raise Failed
    return compiled.to_python().fullmatch(subject) is not None


def _rlike(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    subject, pattern = map(decoded, arguments)
    assert len(pattern) == 1, "a regular expression is a constant"
    found = compiled(pattern[0].as_py()).search(*text_buffers(subject), np.arange(len(subject)))
    valid = validity(subject)
    if found.failed is None:
        return Outcome(build(found.hits, valid, t.BOOLEAN))
    return Outcome(build(found.hits, meet(valid, ~found.failed), t.BOOLEAN), meet(valid, found.failed))


def _search(subject: pa.Array, re2: str, python: Callable[[str], object]) -> pa.Array:
    """Whether each text has a match: by RE2 where it can hold the pattern in memory."""
    try:
        return pc.match_substring_regex(subject, pattern=re2)
    except pa.ArrowInvalid:
        pass
    return each_value(lambda text: python(text) is not None, [subject], [t.STRING], t.BOOLEAN).values


def _contains(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _find(arguments, "match_substring", lambda text, part: part in text)


def _starts_with(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _find(arguments, "starts_with", lambda text, part: text.startswith(part))


def _ends_with(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _find(arguments, "ends_with", lambda text, part: text.endswith(part))


def _find(arguments: Sequence[pa.Array], arrow: str, python: Callable[[bytes, bytes], bool]) -> Outcome:
    """Text and bytes alike are searched by their bytes."""
    subject, part = map(bytes_of, arguments)
    if len(part) == 1:
        return Outcome(pc.call_function(arrow, [subject], pc.MatchSubstringOptions(part[0].as_py())))
    return each_value(python, [subject, part], [t.BINARY] * 2, t.BOOLEAN)


def _length(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    if call.arguments[0].type == t.BINARY:
        return Outcome(pc.cast(pc.binary_length(arguments[0]), pa.int32()))
    if not is_text(arguments[0]):
        return each_value(lambda data: len(characters(data)), [bytes_of(arguments[0])], [t.BINARY], t.INT)
    return Outcome(pc.cast(pc.utf8_length(arguments[0]), pa.int32()))


def _lower(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _change_case(arguments[0], "ascii_lower", str.lower)


def _upper(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _change_case(arguments[0], "ascii_upper", str.upper)


def _change_case(array: pa.Array, ascii_function: str, full: Callable[[str], str]) -> Outcome:
    """ASCII texts by Arrow, the rest by Python, whose mappings are Unicode's full ones, as ICU's are."""
    other = pc.fill_null(pc.invert(pc.string_is_ascii(array)), False)
    changed = pc.call_function(ascii_function, [_from_the_start(array)])
    if not pc.any(other).as_py():
        return Outcome(changed)
    odd = bytes_of(array.filter(other))
    texts = each_value(lambda data: full(mended(data)), [odd], [t.BINARY], t.STRING).values
    return Outcome(pc.replace_with_mask(changed, other, texts))


def _from_the_start(array: pa.Array) -> pa.Array:
    """The same texts, the first one at the start of their bytes: Arrow gives wrong texts where it is not, as in casts of slices."""
    is_elsewhere = len(array) and array.offset == 0 and text_buffers(array)[1][0] != 0
    return pa.concat_arrays([array, array.slice(0, 0)]) if is_elsewhere else array  # which copies


def _trim(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    arrow = {"trim": pc.ascii_trim, "ltrim": pc.ascii_ltrim, "rtrim": pc.ascii_rtrim}
    return Outcome(arrow[call.function](arguments[0], characters=" "))


_STRIP: Final[dict[str, Callable[[str, str], str]]] = {
    "trim_chars": str.strip,
    "ltrim_chars": str.lstrip,
    "rtrim_chars": str.rstrip,
}


def _trim_characters(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    if all(map(is_text, arguments)):
        return each_value(_STRIP[call.function], arguments, [t.STRING] * 2, t.STRING)
    strip = _STRIP_ODD[call.function]
    stripped = each_value(strip, [*map(bytes_of, arguments)], [t.BINARY] * 2, t.BINARY).values
    return Outcome(stripped.view(pa.string()))


def _strip_odd(data: bytes, taken_off: bytes, *, left: bool = True, right: bool = True) -> bytes:
    """Without characters at the ends whose bytes are found among those to take off, as Spark looks for them."""
    kept = characters(data)
    start, end = 0, len(kept)
    while left and start < end and kept[start] in taken_off:
        start += 1
    while right and start < end and kept[end - 1] in taken_off:
        end -= 1
    return b"".join(kept[start:end])


_STRIP_ODD: Final[dict[str, Callable[[bytes, bytes], bytes]]] = {
    "trim_chars": _strip_odd,
    "ltrim_chars": partial(_strip_odd, right=False),
    "rtrim_chars": partial(_strip_odd, left=False),
}


def _substring(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    kind = call.arguments[0].type
    subject, start, length = arguments
    kinds = [kind, t.INT, t.INT]
    if kind == t.BINARY:
        return each_value(_piece_of_bytes, arguments, kinds, kind)
    if len(start) == len(length) == 1 and is_text(subject):
        return Outcome(_slice(subject, start[0].as_py(), length[0].as_py()))
    return each_text(_piece_of_text, arguments, kinds)


def _slice(subject: pa.Array, position: int, length: int) -> pa.Array:
    """A substring at a constant place; counted from the end as Python counts."""
    start = position - 1 if position > 0 else position
    stop: int | None = start + length
    if position < 0 and start + length >= 0:
        stop = None
    if length <= 0:
        start = stop = 0
    return pc.utf8_slice_codeunits(subject, start=start, stop=stop)


def _piece_of_text(text: Any, position: int, length: int) -> Any:
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    return text[max(start, 0) : max(start + length, 0)]


def _piece_of_bytes(data: bytes, position: int, length: int) -> bytes:
    if position == -(2**31):  # Java's arithmetic wraps around here and takes everything
        return data if length > -(2**31) else b""
    start = position - 1 if position > 0 else len(data) + position if position < 0 else 0
    end = len(data) if len(data) - start < length else start + length
    return data[max(start, 0) : max(end, 0)]


def _left(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    kind = call.type
    subject, count = arguments
    if kind == t.BINARY:
        return each_value(_first, arguments, [kind, t.INT], kind)
    if len(count) == 1 and is_text(subject):
        return Outcome(_slice(subject, 1, count[0].as_py()))
    return each_text(_first, arguments, [kind, t.INT])


def _first(value: Any, count: int) -> Any:
    return value[: max(count, 0)]


def _right(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return each_text(lambda value, n: value[max(len(value) - max(n, 0), 0) :], arguments, [t.STRING, t.INT])


def _concat(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    if isinstance(call.type, t.ArrayType):
        return _concat_lists(arguments, call.type)
    empty = pa.scalar(
        "" if call.type == t.STRING else b"", pa.string() if call.type == t.STRING else pa.binary()
    )
    if not arguments:
        return Outcome(pa.array([empty.as_py()], empty.type))
    return Outcome(pc.binary_join_element_wise(*operands(arguments), empty, null_handling="emit_null"))


def _concat_lists(arguments: Sequence[pa.Array], kind: t.ArrayType) -> Outcome:
    length = length_of(arguments)
    lists = [entries(stretch(array, length)) for array in arguments]
    valid = meet(*(each.valid for each in lists))
    lengths = np.sum([each.lengths for each in lists], axis=0)
    elements = pa.concat_arrays([each.parts[0] for each in lists])
    owners = np.concatenate([each.owners for each in lists])
    order = np.argsort(owners, kind="stable")
    if valid is not None:
        order = order[valid[owners[order]]]
        lengths = np.where(valid, lengths, 0)
    return Outcome(list_array(elements.take(pa.array(order)), lengths, valid, kind))


KERNELS = {
    "like": _like,
    "rlike": _rlike,
    "contains": _contains,
    "startswith": _starts_with,
    "endswith": _ends_with,
    "length": _length,
    "lower": _lower,
    "upper": _upper,
    "trim": _trim,
    "ltrim": _trim,
    "rtrim": _trim,
    "trim_chars": _trim_characters,
    "ltrim_chars": _trim_characters,
    "rtrim_chars": _trim_characters,
    "substring": _substring,
    "left": _left,
    "right": _right,
    "concat": _concat,
}
