"""Keys of tuples as 64-bit numbers, equal for equal values of both streams.

    whole numbers, dates, times, booleans, decimals of up to 18 digits     the number itself
    doubles, floats                                                        their bits, with one NaN and one zero
    texts and bytes, up to seven of them                                   themselves, their length in the highest byte
    longer ones                                                            a hash, below 0
    larger decimals, several parts, parts where NULL equals NULL           a hash

Equal hashes may stand for different values, so these are compared once pairs are found. Hashes and buckets depend on random
numbers of the process: nobody can choose keys that all fall together.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import Mask, meet, numbers, text_buffers, validity
from eddyline.functions.evaluate.decimals import LONG_DIGITS, unscaled
from eddyline.kernels.join import mix, pack_texts
from eddyline.model import types as t
from eddyline.model.arrays import Flags, Integers
from eddyline.model.expression import Call, Column, Expression
from eddyline.model.roles import StemKey

Codes = npt.NDArray[np.int64]

FACTOR: Final = np.uint64(secrets.randbits(64) | 1)  # by which keys are spread over buckets
_SEED: Final = np.uint64(secrets.randbits(64))


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of a batch's rows; None in `valid`: every row has one."""

    codes: Codes
    valid: Mask | None


def keys_of(key: StemKey, evaluation: Evaluation, rows: int) -> Keys:
    """The keys of all rows. Those that have NULL where NULL equals nothing are not valid."""
    parts = [_part(expression, evaluation) for expression in key.expressions]
    kinds = [expression.type for expression in key.expressions]
    strict = [array for array, is_safe in zip(parts, key.null_safe, strict=True) if not is_safe]
    valid = meet(*(validity(array) for array in strict))
    if _is_single(key) and not _is_long_decimal(kinds[0]):
        return Keys(_codes(parts[0], kinds[0]), valid)
    hashes = np.zeros(rows, np.int64)
    for array, kind in zip(parts, kinds, strict=True):
        has_value = validity(array)
        given = np.ones(rows, np.bool_) if has_value is None else has_value
        for codes in _words(array) if _is_long_decimal(kind) else [_codes(array, kind)]:
            mix(codes, given, _SEED, FACTOR, hashes)
    return Keys(hashes, valid)


def keys_of_some(key: StemKey, evaluation: Evaluation, rows: int, wanted: Integers) -> Keys:
    """As `keys_of`, where only some of the rows have to have theirs; the others are not valid.

    What is computed, and may fail, is computed for all rows, so that failures are counted alike.
    """
    if not all(isinstance(expression, Column) for expression in key.expressions):
        return keys_of(key, evaluation, rows)
    names = {expression.name for expression in key.expressions if isinstance(expression, Column)}
    some = keys_of(key, evaluation.some(pa.array(wanted), sorted(names)), len(wanted))
    codes, valid = np.zeros(rows, np.int64), np.zeros(rows, np.bool_)
    codes[wanted] = some.codes
    valid[wanted] = True if some.valid is None else some.valid
    return Keys(codes, valid)


def hashed(key: StemKey, codes: Codes) -> Flags:
    """Which codes do not say everything about the values they stand for."""
    if _is_single(key) and not _is_long_decimal(key.expressions[0].type):
        is_text = key.expressions[0].type in (t.STRING, t.BINARY)
        return codes < 0 if is_text else np.zeros(len(codes), np.bool_)
    return np.ones(len(codes), np.bool_)


def may_be_hashed(key: StemKey) -> bool:
    """Whether there are codes of such a key that do not say everything."""
    return bool(hashed(key, np.array([-1])).any())


def same_values(key: StemKey, left: list[pa.Array], right: list[pa.Array]) -> Flags:
    """Where two keys are equal by value; one array for each of their parts."""
    same = np.ones(len(left[0]), np.bool_)
    for expression, is_safe, *arrays in zip(key.expressions, key.null_safe, left, right, strict=True):
        sides: tuple[Expression, ...] = (Column("left", expression.type), Column("right", expression.type))
        equal = Call("null_safe_eq" if is_safe else "eq", sides, t.BOOLEAN)
        values = Evaluation(dict(zip(("left", "right"), arrays, strict=True))).values(equal)
        same &= numbers(values.fill_null(False))
    return same


def _part(expression: Expression, evaluation: Evaluation) -> pa.Array:
    """The values of a part; a dictionary stays one, unless NULL is among its values."""
    array = evaluation.encoded(expression)
    has_null = pa.types.is_dictionary(array.type) and array.dictionary.null_count
    return evaluation.values(expression) if has_null else array


def _is_single(key: StemKey) -> bool:
    return len(key.expressions) == 1 and not key.null_safe[0]


def _is_long_decimal(kind: t.DataType) -> bool:
    return isinstance(kind, t.DecimalType) and kind.precision > LONG_DIGITS


def _codes(array: pa.Array, kind: t.DataType) -> Codes:
    if pa.types.is_dictionary(array.type):
        codes = _codes(array.dictionary, kind)
        places = numbers(array.indices.fill_null(0))
        return codes[places] if len(codes) else np.zeros(len(array), np.int64)
    if kind in (t.STRING, t.BINARY):
        codes = np.empty(len(array), np.int64)
        if len(array):
            pack_texts(*text_buffers(array), _SEED, codes)
        return codes
    if isinstance(kind, t.DecimalType):
        return unscaled(array).astype(np.int64)
    if kind == t.VOID:
        return np.zeros(len(array), np.int64)
    plain = numbers(array)
    if kind in t.FRACTIONAL:
        wide = plain.astype(np.float64) + 0.0  # which makes one zero of two
        return np.where(np.isnan(wide), np.nan, wide).view(np.int64)
    return plain.astype(np.int64)


def _words(array: pa.Array) -> list[Codes]:
    """Both halves of decimals of 128 bits."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    words = np.frombuffer(array.buffers()[1], np.int64, 2 * len(array), array.offset * 16)
    return [np.ascontiguousarray(words[half::2]) for half in (0, 1)]
