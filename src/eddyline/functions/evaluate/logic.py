"""Three-valued logic, and the choice between alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.functions.evaluate.arrays import Outcome, arrow_type, length_of, stretch
from eddyline.functions.zones import Zone
from eddyline.model.expression import Call


def operands(arrays: Sequence[pa.Array]) -> list[pa.Array | pa.Scalar]:
    """Arrays for Arrow's functions: those that stand for all rows as scalars, unless all do."""
    if length_of(arrays) == 1:
        return list(arrays)
    return [array[0] if len(array) == 1 else array for array in arrays]


def _all(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return Outcome(_combine("and_kleene", arguments, empty=True))


def _any(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return Outcome(_combine("or_kleene", arguments, empty=False))


def _combine(function: str, arguments: Sequence[pa.Array], *, empty: bool) -> pa.Array:
    if not arguments:
        return pa.array([empty])
    arrays = sorted(arguments, key=len)
    return reduce(lambda left, right: pc.call_function(function, operands([left, right])), arrays)


def _not(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return Outcome(pc.invert(arguments[0]))


def _is_null(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return Outcome(arguments[0].is_null())


def choose(condition: pa.Array, chosen: pa.Array, otherwise: pa.Array) -> pa.Array:
    """`chosen` where the condition is true, `otherwise` where it is false or NULL."""
    if len(condition) == 1:
        branch = chosen if condition[0].as_py() else otherwise
        return stretch(branch, length_of([chosen, otherwise]))
    length = len(condition)
    both = pa.concat_arrays([chosen, otherwise])
    true = np.asarray(condition.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)
    rows = np.arange(length)
    first = rows if len(chosen) == length else np.zeros(length, np.int64)
    second = rows if len(otherwise) == length else np.zeros(length, np.int64)
    return both.take(pa.array(np.where(true, first, second + len(chosen))))


def _if(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    return Outcome(choose(*arguments))


def _case(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    pairs = list(zip(arguments[0::2], arguments[1::2], strict=False))
    last = arguments[-1] if len(arguments) % 2 else pa.nulls(1, arrow_type(call.type))
    for condition, value in reversed(pairs):
        last = choose(condition, value, last)
    return Outcome(last)


def _coalesce(call: Call, arguments: Sequence[pa.Array], zone: Zone) -> Outcome:
    result = arguments[-1]
    for array in reversed(arguments[:-1]):
        result = choose(array.is_valid(), array, result)
    return Outcome(result)


KERNELS = {
    "and": _all,
    "or": _any,
    "not": _not,
    "is_null": _is_null,
    "if": _if,
    "case": _case,
    "coalesce": _coalesce,
}
