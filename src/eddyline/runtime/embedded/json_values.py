"""Values of JSON as columns: each value either fits the type or is told why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from eddyline.delivery.kinds import is_bytes, is_text
from eddyline.functions.zones import Zone
from eddyline.runtime.embedded.from_text import from_text, words_for

_NO_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")  # as Spark writes them into JSON
_SHOWN: Final = 40  # characters of a value in a reason


class UnfitJsonValue(Exception):
    """A value that is none of the type."""


def column_of(values: list[Any], kind: pa.DataType, zone: Zone) -> tuple[pa.Array, dict[int, str]]:
    """A column of a type, NULL where a value does not fit, and why by its index.

    >>> from eddyline.functions.zones import find_zone
    >>> column_of([1, "x", None], pa.int64(), find_zone("UTC"))[1]
    {1: '"x" is not a bigint'}
    """
    unfit: dict[int, str] = {}
    plain: list[Any] = []
    check = _check(kind, zone)
    for index, value in enumerate(values):
        try:
            plain.append(None if value is None else check(value))
        except UnfitJsonValue as error:
            unfit[index] = str(error)
            plain.append(None)
    if not _is_read_from_text(kind):
        return pa.array(plain, kind), unfit
    column, failed = from_text(pa.array(plain, pa.string()), kind, zone)
    for index, bad in enumerate([] if failed is None else failed.tolist()):
        if bad:
            unfit[index] = _not_a(values[index], kind)
    return column, unfit


def _not_a(value: Any, kind: pa.DataType) -> str:
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str, ensure_ascii=False)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return f"{shown} is not {words_for(kind)}"


def _is_read_from_text(kind: pa.DataType) -> bool:
    return is_bytes(kind) or pa.types.is_decimal(kind) or (pa.types.is_temporal(kind))


def _check(kind: pa.DataType, zone: Zone) -> Callable[[Any], Any]:
    """The function that gives a value as Arrow takes it, or raises `UnfitJsonValue`."""

    def refused(value: Any) -> UnfitJsonValue:
        return UnfitJsonValue(_not_a(value, kind))

    def whole(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise refused(value)
        return value

    def number(value: Any) -> float:
        if type(value) is float:  # NaN and the infinities
            return value
        if type(value) is str and value in _NO_NUMBERS:
            return float(value)
        if type(value) not in (int, Decimal):
            raise refused(value)
        try:
            found = float(value)
        except OverflowError:
            raise refused(value) from None
        if found in (float("inf"), float("-inf")):
            raise refused(value)
        return found

    def truth(value: Any) -> bool:
        if type(value) is not bool:
            raise refused(value)
        return value

    def text(value: Any) -> str:
        if type(value) is not str:
            raise refused(value)
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise UnfitJsonValue("half a surrogate pair is no text")
        return value

    def exact(value: Any) -> str:
        if type(value) not in (str, int, Decimal):
            raise refused(value)
        return text(value) if type(value) is str else str(value)

    if pa.types.is_dictionary(kind):
        return _check(kind.value_type, zone)
    if pa.types.is_integer(kind):
        bits, signed = kind.bit_width, pa.types.is_signed_integer(kind)
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return whole
    if pa.types.is_floating(kind):
        return number
    if pa.types.is_boolean(kind):
        return truth
    if pa.types.is_decimal(kind):
        return exact
    if is_text(kind) or _is_read_from_text(kind):
        return text
    return _check_nested(kind, zone, refused)


def _check_nested(
    kind: pa.DataType, zone: Zone, refused: Callable[[Any], UnfitJsonValue]
) -> Callable[[Any], Any]:
    if pa.types.is_struct(kind):
        fields = [(field.name, _inside(field.type, zone)) for field in kind]

        def struct(value: Any) -> dict[str, Any]:
            if not isinstance(value, dict):
                raise refused(value)
            return {name: check(value.get(name)) for name, check in fields}

        return struct
    if pa.types.is_map(kind):
        keys, items = _inside(kind.key_type, zone), _inside(kind.item_type, zone)

        def mapping(value: Any) -> list[tuple[Any, Any]]:
            if not isinstance(value, dict):
                raise refused(value)
            return [(keys(_key(key, kind.key_type)), items(item)) for key, item in value.items()]

        return mapping
    if pa.types.is_null(kind):

        def nothing(value: Any) -> None:
            raise refused(value)

        return nothing
    element = _inside(kind.value_type, zone)

    def listed(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise refused(value)
        return [element(item) for item in value]

    return listed


def _key(key: str, kind: pa.DataType) -> Any:
    """A key of a JSON object is always text; for a map of numbers it is read as JSON itself."""
    if is_text(kind) or _is_read_from_text(kind):
        return key
    try:
        return json.loads(key, parse_float=Decimal)
    except ValueError:
        return key


def _inside(kind: pa.DataType, zone: Zone) -> Callable[[Any], Any]:
    """The check of a value inside a nested one, text already converted."""
    check = _check(kind, zone)
    if not _is_read_from_text(kind):
        return lambda value: None if value is None else check(value)

    def converted(value: Any) -> Any:
        if value is None:
            return None
        column, failed = from_text(pa.array([check(value)], pa.string()), kind, zone)
        if failed is not None and failed.any():
            raise UnfitJsonValue(_not_a(value, kind))
        return column[0]

    return converted
