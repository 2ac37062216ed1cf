"""The stream `everything`: two columns of each common type, with seeded nasty rows and benign ones.

*Nasty* rows are made of NULL, NaN, infinities, -0.0, subnormals, the ends of every range, empty and non-ASCII text.
*Benign* rows are such that hardly any operation of a random query fails on them: small numbers, text that looks like a
number where the column is meant for it, dates of this century.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from eddyline.model.catalog import Stream
from eddyline.testing.pools import BENIGN, NASTY

Draw = Callable[[random.Random], Any]

_INNER: Final = pa.struct([("z", pa.float64()), ("d", pa.date32())])
_STRUCT: Final = pa.struct([("x", pa.int32()), ("y", pa.string()), ("inner", _INNER)])

# column, Arrow type, pool of values (see `pools`)
_COLUMNS: Final[tuple[tuple[str, pa.DataType, str], ...]] = (
    ("b1", pa.bool_(), "boolean"),
    ("b2", pa.bool_(), "boolean"),
    ("i8", pa.int8(), "tinyint"),
    ("j8", pa.int8(), "tinyint"),
    ("i16", pa.int16(), "smallint"),
    ("j16", pa.int16(), "smallint"),
    ("i32", pa.int32(), "int"),
    ("j32", pa.int32(), "int"),
    ("i64", pa.int64(), "bigint"),
    ("j64", pa.int64(), "bigint"),
    ("f32", pa.float32(), "float"),
    ("g32", pa.float32(), "float"),
    ("f64", pa.float64(), "double"),
    ("g64", pa.float64(), "double"),
    ("d5", pa.decimal128(5, 2), "decimal(5,2)"),
    ("e5", pa.decimal128(5, 2), "decimal(5,2)"),
    ("d18", pa.decimal128(18, 6), "decimal(18,6)"),
    ("d20", pa.decimal128(20, 0), "decimal(20,0)"),
    ("d38", pa.decimal128(38, 10), "decimal(38,10)"),
    ("e38", pa.decimal128(38, 10), "decimal(38,10)"),
    ("s1", pa.string(), "text"),
    ("s2", pa.string(), "text"),
    ("n1", pa.string(), "number text"),
    ("n2", pa.string(), "number text"),
    ("t1", pa.string(), "date text"),
    ("t2", pa.string(), "time text"),
    ("x1", pa.binary(), "binary"),
    ("x2", pa.binary(), "binary"),
    ("day1", pa.date32(), "date"),
    ("day2", pa.date32(), "date"),
    ("ts1", pa.timestamp("us", tz="UTC"), "timestamp"),
    ("ts2", pa.timestamp("us", tz="UTC"), "timestamp"),
    ("ntz1", pa.timestamp("us"), "timestamp"),
    ("ntz2", pa.timestamp("us"), "timestamp"),
    ("st", _STRUCT, "struct"),
    ("st2", _STRUCT, "struct"),
    ("ai", pa.list_(pa.int32()), "array<int>"),
    ("aj", pa.list_(pa.int32()), "array<int>"),
    ("as1", pa.list_(pa.string()), "array<string>"),
    ("as2", pa.list_(pa.string()), "array<string>"),
    ("m1", pa.map_(pa.string(), pa.int32()), "map<string,int>"),
    ("m2", pa.map_(pa.string(), pa.int32()), "map<string,int>"),
    ("Odd Name", pa.int32(), "int"),
    ("dot.ted", pa.string(), "text"),
)

SCHEMA: Final = pa.schema([(name, kind) for name, kind, _ in _COLUMNS])
EVERYTHING: Final = Stream("everything", SCHEMA)


def nasty_rows(seed: int, count: int) -> pa.RecordBatch:
    """Rows of extreme and odd values, about one in eight of them NULL.

    >>> nasty_rows(1, 5).num_rows, str(nasty_rows(1, 5)) == str(nasty_rows(1, 5))
    (5, True)
    """
    return _batch(random.Random(seed), count, NASTY)


def benign_rows(seed: int, count: int) -> pa.RecordBatch:
    """Rows on which hardly any operation fails, about one value in eight NULL."""
    return _batch(random.Random(seed), count, BENIGN)


def rows_of(*rows: dict[str, Any]) -> pa.RecordBatch:
    """Rows with these values, in the form of `model.types`; columns that a row does not name are NULL.

    >>> rows_of({"i32": 5}, {"day1": 0}).column("day1").to_pylist()
    [None, datetime.date(1970, 1, 1)]
    """
    unknown = {name for row in rows for name in row} - set(SCHEMA.names)
    assert not unknown, f"no such columns: {sorted(unknown)}"
    arrays = [_array([row.get(field.name) for row in rows], field.type) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _batch(random_: random.Random, count: int, pools: dict[str, Draw]) -> pa.RecordBatch:
    arrays: list[pa.Array] = []
    before: dict[str, list[Any]] = {}
    for _, kind, pool in _COLUMNS:
        values = [_value(random_, pools, pool, row, before) for row in range(count)]
        before[pool] = values
        arrays.append(_array(values, kind))
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _value(
    random_: random.Random, pools: dict[str, Draw], pool: str, row: int, before: dict[str, list[Any]]
) -> Any:
    """A value of the pool, NULL, or what the column's twin has, so that `a = b` is often true."""
    draw = random_.random()
    if draw < 0.12:
        return None
    if draw < 0.32 and pool in before:
        return before[pool][row]
    if pool == "struct":
        return _struct(random_, pools)
    return pools[pool](random_)


def _struct(random_: random.Random, pools: dict[str, Draw]) -> dict[str, Any]:
    def maybe(pool: str) -> Any:
        return None if random_.random() < 0.12 else pools[pool](random_)

    inner = None if random_.random() < 0.12 else {"z": maybe("double"), "d": maybe("date")}
    return {"x": maybe("int"), "y": maybe("text"), "inner": inner}


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """An Arrow array; times are held as integers, as `model.types` has them."""
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    if pa.types.is_date32(kind):
        return pa.array(values, pa.int32()).cast(kind)
    if pa.types.is_struct(kind):
        columns = [_array([_field(v, i, f.name) for v in values], f.type) for i, f in enumerate(kind)]
        return pa.StructArray.from_arrays(
            columns, fields=list(kind), mask=pa.array([v is None for v in values])
        )
    if pa.types.is_decimal(kind):
        return pa.array([None if v is None else Decimal(v) for v in values], kind)
    return pa.array(values, kind)


def _field(value: Any, position: int, name: str) -> Any:
    """A field of a struct given as a dict or as a tuple."""
    if value is None:
        return None
    return value[name] if isinstance(value, dict) else value[position]
