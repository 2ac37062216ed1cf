"""Vectors of 512 bits for kernels: numba has none of its own, so each operation is written in LLVM's terms.

LLVM makes one instruction of it where the machine has such vectors, and several narrower ones everywhere else. Offsets
called `at` count words of 64 bits; the mask at `at` is the eight words from there on.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK = 512
WORDS = BLOCK // 64

I32, I64 = ir.IntType(32), ir.IntType(64)
MASK = ir.VectorType(I64, WORDS)


def pointer(context, builder, kind, value, index, to):
    """Address of value[index] as a pointer to another type."""
    array = context.make_array(kind)(context, builder, value)
    return builder.bitcast(builder.gep(array.data, [index]), to.as_pointer())


def splat(builder, scalar, kind):
    """A vector with the scalar in every lane."""
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, ir.Constant(I32, 0))
    lanes = ir.Constant(ir.VectorType(I32, kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), lanes)


@intrinsic
def up_to_mask(typing, ids, start, top, masks, at):
    """Set masks[at:at + 8] to the bits of ids[start:start + 512] that are at most top."""
    signature = types.void(ids, start, ids.dtype, masks, at)
    vector = ir.VectorType(ir.IntType(ids.dtype.bitwidth), 64)
    bytes_each = ids.dtype.bitwidth // 8

    def generate(context, builder, signature, arguments):
        ids, start, top, masks, at = arguments
        source = pointer(context, builder, signature.args[0], ids, start, vector)
        words = pointer(context, builder, signature.args[3], masks, at, I64)
        tops = splat(builder, top, vector)
        for word in range(WORDS):
            place = ir.Constant(I64, word)
            values = builder.load(builder.gep(source, [place]), align=bytes_each)
            bits = builder.bitcast(builder.icmp_unsigned("<=", values, tops), I64)
            builder.store(bits, builder.gep(words, [place]), align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def difference(typing, masks, at, a, b):
    """masks[at] = masks[a] AND NOT masks[b]."""
    signature = types.void(masks, at, a, b)

    def generate(context, builder, signature, arguments):
        masks, *offsets = arguments
        target, left, right = (
            pointer(context, builder, signature.args[0], masks, offset, MASK) for offset in offsets
        )
        result = builder.and_(builder.load(left, align=8), builder.not_(builder.load(right, align=8)))
        builder.store(result, target, align=8)
        return context.get_dummy_value()

    return signature, generate


def _range_code(ids, start, masks, at, add):
    """Code for masks[at:at + 8] = bits of (ids[start:start + 512] - low) <= span, unsigned; ORed to what is there if add."""
    signature = types.void(ids, start, ids.dtype, ids.dtype, masks, at)
    vector = ir.VectorType(ir.IntType(ids.dtype.bitwidth), 64)
    bytes_each = ids.dtype.bitwidth // 8

    def generate(context, builder, signature, arguments):
        ids, start, low, span, masks, at = arguments
        source = pointer(context, builder, signature.args[0], ids, start, vector)
        words = pointer(context, builder, signature.args[4], masks, at, I64)
        lows, spans = splat(builder, low, vector), splat(builder, span, vector)
        for word in range(WORDS):
            place = ir.Constant(I64, word)
            values = builder.load(builder.gep(source, [place]), align=bytes_each)
            inside = builder.icmp_unsigned("<=", builder.sub(values, lows), spans)
            bits, word_at = builder.bitcast(inside, I64), builder.gep(words, [place])
            if add:
                bits = builder.or_(bits, builder.load(word_at, align=8))
            builder.store(bits, word_at, align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def range_mask(typing, ids, start, low, span, masks, at):
    """Set masks[at:at + 8] to the bits of ids[start:start + 512] that lie from low to low + span."""
    return _range_code(ids, start, masks, at, add=False)


@intrinsic
def add_range_mask(typing, ids, start, low, span, masks, at):
    """Add the bits of ids[start:start + 512] that lie from low to low + span to masks[at:at + 8]."""
    return _range_code(ids, start, masks, at, add=True)


def _conjunction(count):
    """Code for target[at:at + 8] = AND of `count` masks; past the caches if `streaming`, `at` being a cache line then."""

    def make(typing, *kinds):
        signature = types.void(*kinds)

        def generate(context, builder, signature, arguments):
            target, at, streaming, masks = arguments[:4]
            value = None
            for offset in arguments[4 : 4 + count]:
                place = pointer(context, builder, signature.args[3], masks, offset, MASK)
                mask = builder.load(place, align=8)
                value = mask if value is None else builder.and_(value, mask)
            place = pointer(context, builder, signature.args[0], target, at, MASK)
            with builder.if_else(streaming) as (past, through):
                with past:
                    store = builder.store(value, place, align=64)
                    store.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(I32, 1)]))
                with through:
                    builder.store(value, place, align=8)
            return context.get_dummy_value()

        return signature, generate

    return make


_make1, _make2, _make3, _make4 = (_conjunction(count) for count in (1, 2, 3, 4))


@intrinsic
def and1(typing, target, at, streaming, masks, a):
    return _make1(typing, target, at, streaming, masks, a)


@intrinsic
def and2(typing, target, at, streaming, masks, a, b):
    return _make2(typing, target, at, streaming, masks, a, b)


@intrinsic
def and3(typing, target, at, streaming, masks, a, b, c):
    return _make3(typing, target, at, streaming, masks, a, b, c)


@intrinsic
def and4(typing, target, at, streaming, masks, a, b, c, d):
    return _make4(typing, target, at, streaming, masks, a, b, c, d)


def _comparison(count):
    """A function for target[at:at + 8] = AND of `count` ranges of ids, from places o on of rows, lows and spans."""
    byte, vector = ir.IntType(8), ir.VectorType(ir.IntType(8), 64)

    def generate(context, builder, signature, arguments):
        ids, stride, base, rows, lows, spans, o, target, at = arguments
        kinds = signature.args
        sides = []
        for number in range(count):
            place = builder.add(o, ir.Constant(I64, number))
            row = builder.load(pointer(context, builder, kinds[3], rows, place, I64))
            start = builder.add(builder.mul(row, stride), base)
            ends = [
                splat(builder, builder.load(pointer(context, builder, kind, array, place, byte)), vector)
                for kind, array in ((kinds[4], lows), (kinds[5], spans))
            ]
            sides.append((pointer(context, builder, kinds[0], ids, start, vector), *ends))
        words = pointer(context, builder, kinds[7], target, at, I64)
        for word in range(WORDS):
            place, bits = ir.Constant(I64, word), None
            for source, low, span in sides:
                values = builder.load(builder.gep(source, [place]), align=1)
                inside = builder.icmp_unsigned("<=", builder.sub(values, low), span)
                bits = inside if bits is None else builder.and_(bits, inside)
            builder.store(builder.bitcast(bits, I64), builder.gep(words, [place]), align=8)
        return context.get_dummy_value()

    @intrinsic
    def compare(typing, ids, stride, base, rows, lows, spans, o, target, at):
        return types.void(ids, stride, base, rows, lows, spans, o, target, at), generate

    return compare


compare1, compare2, compare3, compare4, compare5, compare6 = (_comparison(count) for count in range(1, 7))


@intrinsic
def step(typing, masks, at, a, b, flip):
    """masks[at] = ((masks[a] ^ flip) & (masks[b] ^ flip)) ^ flip: AND for flip 0, OR for flip -1, without a branch."""
    signature = types.void(masks, at, a, b, types.int64)

    def generate(context, builder, signature, arguments):
        masks, at, a, b, flip = arguments
        flips = splat(builder, flip, MASK)
        sides = [
            builder.xor(
                builder.load(pointer(context, builder, signature.args[0], masks, o, MASK), align=8), flips
            )
            for o in (a, b)
        ]
        result = builder.xor(builder.and_(*sides), flips)
        builder.store(result, pointer(context, builder, signature.args[0], masks, at, MASK), align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def mask_population(typing, masks, at):
    """Number of ones in masks[at:at + 8]."""
    signature = types.int64(masks, at)

    def generate(context, builder, signature, arguments):
        masks, at = arguments
        place = pointer(context, builder, signature.args[0], masks, at, MASK)
        each = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(MASK, [MASK]), "llvm.ctpop.v8i64"
        )
        total = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(I64, [MASK]), "llvm.vector.reduce.add.v8i64"
        )
        return builder.call(total, [builder.call(each, [builder.load(place, align=8)])])

    return signature, generate


@intrinsic
def population(typing, word):
    """Number of ones in a word."""
    signature = types.int64(types.uint64)

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(I64, [I64])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.ctpop.i64")
        return builder.call(function, [arguments[0]])

    return signature, generate


@intrinsic
def lowest(typing, word):
    """Position of the lowest one of a word that is not zero."""
    signature = types.int64(types.uint64)

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(I64, [I64, ir.IntType(1)])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.cttz.i64")
        return builder.call(function, [arguments[0], ir.Constant(ir.IntType(1), 1)])

    return signature, generate


@intrinsic
def keep_valid(typing, ids, at, bitmap, bit, null):
    """Write null over those of ids[at:at + 64] whose bits of a bitmap of bytes, from `bit` on, are zero; reads nine bytes."""
    signature = types.void(ids, at, bitmap, types.int64, ids.dtype)
    byte, vector = ir.IntType(8), ir.VectorType(ir.IntType(ids.dtype.bitwidth), 64)
    bytes_each = ids.dtype.bitwidth // 8

    def generate(context, builder, signature, arguments):
        ids, at, bitmap, bit, null = arguments
        first = pointer(
            context, builder, signature.args[2], bitmap, builder.lshr(bit, ir.Constant(I64, 3)), byte
        )
        shift = builder.and_(bit, ir.Constant(I64, 7))
        low = builder.lshr(builder.load(builder.bitcast(first, I64.as_pointer()), align=1), shift)
        ninth = builder.zext(builder.load(builder.gep(first, [ir.Constant(I64, 8)])), I64)
        # in two steps: by 64 at once would mean nothing
        high = builder.shl(builder.shl(ninth, ir.Constant(I64, 1)), builder.sub(ir.Constant(I64, 63), shift))
        valid = builder.bitcast(builder.or_(low, high), ir.VectorType(ir.IntType(1), 64))
        place = pointer(context, builder, signature.args[0], ids, at, vector)
        kept = builder.load(place, align=bytes_each)
        builder.store(builder.select(valid, kept, splat(builder, null, vector)), place, align=bytes_each)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def prefetch(typing, values, at):
    """Ask for the cache line of values[at], which will be read soon."""
    signature = types.void(values, at)

    def generate(context, builder, signature, arguments):
        byte = ir.IntType(8)
        place = pointer(context, builder, signature.args[0], arguments[0], arguments[1], byte)
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), I32, I32, I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, ir.Constant(I32, 0), ir.Constant(I32, 3), ir.Constant(I32, 1)])
        return context.get_dummy_value()

    return signature, generate
