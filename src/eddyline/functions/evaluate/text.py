"""Functions of text and bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from eddyline.functions.java_regex import compiled
from eddyline.functions.like import LikePattern, compile_like
from eddyline.functions.zones import Zone
from eddyline.model import types as t
from eddyline.model.expression import Call


def _like(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    subject, pattern, escape = arguments
    if len(pattern) == 1 and len(escape) == 1:
        return _like_constant(subject, compile_like(pattern[0].as_py(), escape[0].as_py()))
    return each_value(_like_value, arguments, [t.STRING] * 3, t.BOOLEAN)


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
    subject, pattern = arguments
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
    return _find(arguments, call, "match_substring", lambda text, part: part in text)


def _starts_with(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _find(arguments, call, "starts_with", lambda text, part: text.startswith(part))


def _ends_with(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _find(arguments, call, "ends_with", lambda text, part: text.endswith(part))


def _find(
    arguments: Sequence[pa.Array], call: Call, arrow: str, python: Callable[[Any, Any], bool]
) -> Outcome:
    subject, part = arguments
    if len(part) == 1:
        return Outcome(pc.call_function(arrow, [subject], pc.MatchSubstringOptions(part[0].as_py())))
    return each_value(python, arguments, [argument.type for argument in call.arguments], t.BOOLEAN)


def _length(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    if call.arguments[0].type == t.BINARY:
        return Outcome(pc.cast(pc.binary_length(arguments[0]), pa.int32()))
    return Outcome(pc.cast(pc.utf8_length(arguments[0]), pa.int32()))


def _lower(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _change_case(arguments[0], "ascii_lower", str.lower)


def _upper(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return _change_case(arguments[0], "ascii_upper", str.upper)


def _change_case(array: pa.Array, ascii_function: str, full: Callable[[str], str]) -> Outcome:
    """ASCII texts by Arrow, the rest by Python, whose mappings are Unicode's full ones, as ICU's are."""
    other = pc.fill_null(pc.invert(pc.string_is_ascii(array)), False)
    changed = pc.call_function(ascii_function, [array])
    if not pc.any(other).as_py():
        return Outcome(changed)
    texts = each_value(full, [array.filter(other)], [t.STRING], t.STRING).values
    return Outcome(pc.replace_with_mask(changed, other, texts))


def _trim(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    arrow = {"trim": pc.utf8_trim, "ltrim": pc.utf8_ltrim, "rtrim": pc.utf8_rtrim}
    return Outcome(arrow[call.function](arguments[0], characters=" "))


_STRIP: Final[dict[str, Callable[[str, str], str]]] = {
    "trim_chars": str.strip,
    "ltrim_chars": str.lstrip,
    "rtrim_chars": str.rstrip,
}


def _trim_characters(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return each_value(_STRIP[call.function], arguments, [t.STRING] * 2, t.STRING)


def _substring(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    kind = call.arguments[0].type
    subject, start, length = arguments
    if kind == t.STRING and len(start) == len(length) == 1:
        return Outcome(_slice(subject, start[0].as_py(), length[0].as_py()))
    piece = _piece_of_bytes if kind == t.BINARY else _piece_of_text
    return each_value(piece, arguments, [kind, t.INT, t.INT], kind)


def _slice(subject: pa.Array, position: int, length: int) -> pa.Array:
    """A substring at a constant place; counted from the end as Python counts."""
    start = position - 1 if position > 0 else position
    stop: int | None = start + length
    if position < 0 and start + length >= 0:
        stop = None
    if length <= 0:
        start = stop = 0
    return pc.utf8_slice_codeunits(subject, start=start, stop=stop)


def _piece_of_text(text: str, position: int, length: int) -> str:
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
    if kind == t.STRING and len(count) == 1:
        return Outcome(_slice(subject, 1, count[0].as_py()))
    return each_value(lambda value, n: value[: max(n, 0)], arguments, [kind, t.INT], kind)


def _right(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    kind = call.type
    return each_value(
        lambda value, n: value[max(len(value) - max(n, 0), 0) :], arguments, [kind, t.INT], kind
    )


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
