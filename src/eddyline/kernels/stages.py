"""Stages: kernels that a compiled loop calls by address, one after the other, for each block of tuples.

    frame of the call    ids, masks, results: addresses and lengths      run_blocks: for each block
    frame of a stage     its own arrays of the compiled queries    --->     for each stage: stage(call, own, block)

One kernel for everything took ten of the thirteen seconds that the first match on a machine needed. A stage is compiled when
queries need it for the first time, is small, and is not compiled again for arrays that can only be read.

A *frame* has two numbers for each field: the address and the length of an array, or a number and zero. Invariant: a frame
lives no longer than its arrays, and they have the types that the stage states; `Stage.frame` sees to the types, who calls it
to the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

FRAME = types.CPointer(types.int64)
_SIGNATURE = types.void(FRAME, FRAME, types.int64)
_I64 = ir.IntType(64)


class Stage:
    """A kernel `function(call, own, block)`; `kinds` are the types of its own arrays, int for a number."""

    def __init__(self, function: Callable[..., None], kinds: tuple[type, ...]) -> None:
        self.function = function
        self.kinds = kinds
        self._compiled: Any = None
        self._compiling = Lock()

    @property
    def address(self) -> int:
        """Where its machine code is; compiled, or read from the disk, when somebody asks."""
        # Once: numba promises machine code only as long as its function is there, and of two only one would be kept.
        with self._compiling:
            if self._compiled is None:
                self._compiled = cfunc(_SIGNATURE, nopython=True, cache=True)(self.function)
            found: int = self._compiled.address
        return found

    def frame(self, *values: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Its own arrays as the kernel reads them."""
        return frame(self.kinds, values)


def stage(*kinds: type) -> Callable[[Callable[..., None]], Stage]:
    """Make a stage of a function."""
    return lambda function: Stage(function, kinds)


def frame(kinds: tuple[type, ...], values: tuple[Any, ...]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Addresses and lengths of arrays, and numbers, in one array."""
    assert len(kinds) == len(values), "a stage gets as many arrays as it states"
    fields = []
    for kind, value in zip(kinds, values, strict=True):
        if kind is int:
            fields += [int(value), 0]
            continue
        assert value.dtype == kind and value.flags.c_contiguous, "a stage gets arrays of the types it states"
        fields += [value.__array_interface__["data"][0], value.size]
    return np.array(fields, np.int64)


def _field(builder, fields, place):
    return builder.load(builder.gep(fields, [place]))


def _reader(kind):
    """Code that gives the array of a field."""
    array_type = types.Array(kind, 1, "C")

    def generate(context, builder, signature, arguments):
        fields, place = arguments
        first = builder.mul(place, ir.Constant(_I64, 2))
        address = _field(builder, fields, first)
        length = _field(builder, fields, builder.add(first, ir.Constant(_I64, 1)))
        made = context.make_array(array_type)(context, builder)
        item = context.get_constant(types.intp, kind.bitwidth // 8)
        populate_array(
            made,
            data=builder.inttoptr(address, context.get_data_type(kind).as_pointer()),
            shape=(length,),
            strides=(item,),
            itemsize=item,
            meminfo=None,
        )
        return made._getvalue()

    return array_type(FRAME, types.int64), generate


@intrinsic
def int64s(typing, fields, place):
    """The field of that number as an array of int64."""
    return _reader(types.int64)


@intrinsic
def int32s(typing, fields, place):
    """The field of that number as an array of int32."""
    return _reader(types.int32)


@intrinsic
def uint8s(typing, fields, place):
    """The field of that number as an array of uint8."""
    return _reader(types.uint8)


@intrinsic
def uint16s(typing, fields, place):
    """The field of that number as an array of uint16."""
    return _reader(types.uint16)


@intrinsic
def uint32s(typing, fields, place):
    """The field of that number as an array of uint32."""
    return _reader(types.uint32)


@intrinsic
def uint64s(typing, fields, place):
    """The field of that number as an array of uint64."""
    return _reader(types.uint64)


@intrinsic
def number(typing, fields, place):
    """The field of that number, which is no array."""

    def generate(context, builder, signature, arguments):
        fields, place = arguments
        return _field(builder, fields, builder.mul(place, ir.Constant(_I64, 2)))

    return types.int64(FRAME, types.int64), generate


@intrinsic
def run_stage(typing, address, call, own, block):
    """Call the stage at an address, with the addresses of two frames."""
    signature = types.void(types.int64, types.int64, types.int64, types.int64)

    def generate(context, builder, signature, arguments):
        address, call, own, block = arguments
        pointer = _I64.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, _I64])
        function = builder.inttoptr(address, kind.as_pointer())
        builder.call(function, [builder.inttoptr(call, pointer), builder.inttoptr(own, pointer), block])
        return context.get_dummy_value()

    return signature, generate
