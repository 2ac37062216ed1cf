"""A Python function applied to each distinct value of arrays: the plain way, where neither Arrow nor numpy is exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.functions.evaluate.arrays import Mask, Outcome, array_of, length_of, nulls, values_of
from eddyline.model import types as t


class Failed(Exception):
    """Raised by a function of one value to say that the operation fails for it."""


def each_value(
    function: Callable[..., Any], arrays: Sequence[pa.Array], kinds: Sequence[t.DataType], result: t.DataType
) -> Outcome:
    """Apply a strict function of Python values (as the model holds them), once for each distinct combination.

    >>> each_value(str.title, [pa.array(["ab", None, "ab"])], [t.STRING], t.STRING).values.to_pylist()
    ['Ab', None, 'Ab']
    """
    if any(len(array) == 1 and array.null_count for array in arrays):
        return Outcome(nulls(length_of(arrays), result))
    varying = [i for i, array in enumerate(arrays) if len(array) != 1]
    if len(varying) == 1 and not pa.types.is_nested(arrays[varying[0]].type):
        return _by_dictionary(function, arrays, kinds, result, varying[0])
    return _row_by_row(function, arrays, kinds, result)


def _by_dictionary(
    function: Callable[..., Any],
    arrays: Sequence[pa.Array],
    kinds: Sequence[t.DataType],
    result: t.DataType,
    place: int,
) -> Outcome:
    """All arguments but one are the same for every row: work on the dictionary of that one."""
    encoded = arrays[place].dictionary_encode()
    distinct = [*arrays[:place], encoded.dictionary, *arrays[place + 1 :]]
    if len(encoded.dictionary) == 0:
        return Outcome(nulls(len(encoded), result))
    values, failed = _row_by_row(function, distinct, kinds, result)
    taken = values.take(encoded.indices)
    if failed is None:
        return Outcome(taken)
    hit = pa.array(failed).take(encoded.indices).fill_null(False)
    return Outcome(taken, np.asarray(hit.to_numpy(zero_copy_only=False), np.bool_))


def _row_by_row(
    function: Callable[..., Any], arrays: Sequence[pa.Array], kinds: Sequence[t.DataType], result: t.DataType
) -> Outcome:
    length = length_of(arrays)
    lists = [values_of(array, kind) for array, kind in zip(arrays, kinds, strict=True)]
    columns = [repeat(values[0], length) if len(values) != length else values for values in lists]
    results: list[Any] = []
    failures: list[int] = []
    for row, values in enumerate(zip(*columns, strict=True)):
        if None in values and any(value is None for value in values):
            results.append(None)
            continue
        try:
            results.append(function(*values))
        except Failed:
            results.append(None)
            failures.append(row)
    return Outcome(array_of(results, result), _mask(failures, length))


def _mask(rows: list[int], length: int) -> Mask | None:
    if not rows:
        return None
    mask = np.zeros(length, np.bool_)
    mask[rows] = True
    return mask
