"""The same values in any layout that Arrow has for them: the same matches, and the same rows delivered."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eddyline as ed
from eddyline import reference

Layout = Callable[[pa.Array], pa.Array]

TYPES = {
    "flag": pa.bool_(),
    "number": pa.int64(),
    "small": pa.int16(),
    "price": pa.float64(),
    "amount": pa.decimal128(10, 2),
    "name": pa.string(),
    "raw": pa.binary(),
    "day": pa.date32(),
    "at": pa.timestamp("us", "UTC"),
    "clock": pa.timestamp("us"),
    "took": pa.duration("us"),
    "tags": pa.list_(pa.string()),
    "inner": pa.struct([("x", pa.int64()), ("y", pa.string())]),
    "attributes": pa.map_(pa.string(), pa.float64()),
}
VALUES: dict[str, list[Any]] = {
    "flag": [None, True, False],
    "number": [None, 0, 5, -3, 100],
    "small": [None, 0, 5, -3, 100],
    "price": [None, 0.0, -0.0, 1.5, float("nan"), float("inf"), 7.0],
    "amount": [None, Decimal("1.10"), Decimal("-5.55"), Decimal("7.00")],
    "name": [None, "", "a", "ab", "Ä", "a text of more than twelve bytes", "\udcff", "a\udce2\udc82"],
    "raw": [None, b"", b"\x1f", b"abc", b"\xff\xfe"],
    "day": [None, dt.date(2026, 1, 1), dt.date(1960, 2, 29)],
    "at": [None, dt.datetime(2026, 1, 1, 3, 4, 5), dt.datetime(1960, 2, 29, 23, 59, 59)],
    "clock": [None, dt.datetime(2026, 1, 1, 3, 4, 5), dt.datetime(1960, 2, 29, 23, 59, 59)],
    "took": [None, dt.timedelta(0), dt.timedelta(days=-2, seconds=5)],
    "tags": [None, [], ["a"], ["b", None, "a"]],
    "inner": [None, {"x": 1, "y": "a"}, {"x": None, "y": "b"}, {"x": 5, "y": None}],
    "attributes": [None, [], [("k", 1.0)], [("k", None), ("z", 2.0)]],
}
CONDITIONS = {
    "flag": ["flag", "NOT flag", "flag IS NULL"],
    "number": ["number = 5", "number > 0", "number NOT IN (5, 100)", "number + 1 < price", "number IS NULL"],
    "small": ["small = 5", "small * 2 > 9", "small IS NULL"],
    "price": ["price > 1", "price = 0", "isnan(price)", "price IS NULL"],
    "amount": ["amount > 1", "amount + 1 < 0", "amount = 7"],
    "name": [
        *(
            "name = 'a'",
            "name > 'a'",
            "name IN ('ab', 'Ä')",
            "name LIKE 'a%'",
            "name LIKE '_'",
            "name RLIKE 'b|Ä'",
        ),
        *("length(name) = 2", "upper(name) = 'AB'", "name || 'x' = 'ax'", "name IS NULL", "name <> 'a'"),
    ],
    "raw": ["raw = X'1F'", "length(raw) = 3", "raw > X'20'", "CAST(raw AS STRING) > 'a'"],
    "day": ["day = DATE'2026-01-01'", "year(day) < 2000"],
    "at": ["at > TIMESTAMP'2000-01-01 00:00:00'", "hour(at) = 3"],
    "clock": ["clock > TIMESTAMP_NTZ'2000-01-01 00:00:00'", "minute(clock) = 4"],
    "took": ["took < INTERVAL '0' SECOND", "took IS NULL"],
    "tags": ["array_contains(tags, 'a')", "size(tags) = 0", "tags[0] = 'b'", "tags IS NULL"],
    "inner": ["inner.x = 1", "inner.y = 'b'", "inner IS NULL", "inner.x IS NULL"],
    "attributes": ["attributes['k'] = 1.0", "attributes['k'] IS NULL", "attributes IS NULL"],
}
STREAM = ed.Stream("s", pa.schema(TYPES))
QUERIES = {
    condition: f"SELECT * FROM s WHERE {condition}"
    for several in CONDITIONS.values()
    for condition in several
}
COMPILED = ed.QuerySet.build(QUERIES, streams=[STREAM])


class Wrapped(pa.ExtensionType):
    """Values of any type under a name of its own."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "eddyline.test.wrapped")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> Wrapped:
        return cls(storage)


def column(name: str, values: list[Any]) -> pa.Array:
    if name == "name":
        raw = [None if value is None else value.encode("utf-8", "surrogateescape") for value in values]
        return pa.array(raw, pa.binary()).view(pa.string())
    return pa.array(values, TYPES[name])


def cast(kind: pa.DataType, array: pa.Array) -> pa.Array:
    return array.cast(kind)


def encoded(index: pa.DataType, array: pa.Array) -> pa.Array:
    plain = array.dictionary_encode()
    return pa.DictionaryArray.from_arrays(plain.indices.cast(index), plain.dictionary)


def encoded_views(array: pa.Array) -> pa.Array:
    plain = array.dictionary_encode()
    view = pa.string_view() if pa.types.is_string(array.type) else pa.binary_view()
    return pa.DictionaryArray.from_arrays(plain.indices.cast(pa.uint16()), plain.dictionary.cast(view))


def runs(array: pa.Array) -> pa.Array:
    firsts = [row for row in range(len(array)) if not row or not array[row].equals(array[row - 1])]
    return run_ends([*firsts[1:], len(array)][: len(firsts)], array.take(pa.array(firsts, pa.int64())))


def run_ends(ends: list[int], values: pa.Array) -> pa.Array:
    """Made of its parts: the usual way there refuses text that is not valid UTF-8."""
    kind = pa.run_end_encoded(pa.int32(), values.type)
    return pa.Array.from_buffers(
        kind, ends[-1] if ends else 0, [None], children=[pa.array(ends, pa.int32()), values]
    )


def wrapped(array: pa.Array) -> pa.Array:
    return pa.ExtensionArray.from_storage(Wrapped(array.type), array)


def runs_of(other: Layout, array: pa.Array) -> pa.Array:
    return run_ends(list(range(1, len(array) + 1)), other(array))


ANY: tuple[Layout, ...] = (lambda array: array, runs, wrapped, partial(runs_of, wrapped))
FLAT: tuple[Layout, ...] = (
    *ANY,
    *(partial(encoded, index) for index in (pa.int8(), pa.uint32(), pa.int64())),
    lambda array: wrapped(encoded(pa.int16(), array)),
)
OTHER: dict[str, tuple[Layout, ...]] = {
    "number": tuple(partial(cast, kind) for kind in (pa.int8(), pa.int32(), pa.float64(), pa.float32())),
    "small": tuple(partial(cast, kind) for kind in (pa.int8(), pa.float64())),
    "amount": tuple(
        partial(cast, kind)
        for kind in (pa.decimal128(38, 2), pa.decimal128(38, 10), pa.decimal256(38, 2), pa.decimal64(18, 4))
    ),
    "name": (
        *(partial(cast, pa.large_string()), partial(cast, pa.string_view()), encoded_views),
        *(
            lambda array: runs_of(partial(cast, pa.string_view()), array),
            lambda array: runs_of(encoded_views, array),
        ),
    ),
    "raw": (partial(cast, pa.large_binary()), partial(cast, pa.binary_view()), encoded_views),
    "day": (partial(cast, pa.date64()),),
    "at": tuple(partial(cast, pa.timestamp(unit, "Europe/Vienna")) for unit in ("s", "ms", "ns")),
    "clock": tuple(partial(cast, pa.timestamp(unit)) for unit in ("s", "ms", "ns")),
    "took": tuple(partial(cast, pa.duration(unit)) for unit in ("s", "ms", "ns")),
    "tags": (
        *(partial(cast, pa.large_list(pa.string())), partial(cast, pa.list_(pa.large_string()))),
        lambda array: pa.array(array.to_pylist(), pa.list_view(pa.string())),
        lambda array: pa.array(array.to_pylist(), pa.large_list_view(pa.string_view())),
        lambda array: pa.array(array.to_pylist(), pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        lambda array: pa.array(array.to_pylist(), pa.list_(pa.string_view())),
    ),
    "inner": (
        lambda array: pa.array(array.to_pylist(), pa.struct([("x", pa.int32()), ("y", pa.large_string())])),
        lambda array: pa.array(array.to_pylist(), pa.struct([("x", pa.float64()), ("y", pa.string_view())])),
        lambda array: pa.StructArray.from_arrays(
            [wrapped(array.flatten()[0]), encoded(pa.int8(), array.flatten()[1])],
            ["x", "y"],
            mask=array.is_null(),
        ),
    ),
    "attributes": (
        lambda array: pa.array(array.to_pylist(), pa.map_(pa.string(), pa.float32())),
        lambda array: pa.array(array.to_pylist(), pa.map_(pa.large_string(), pa.float64())),
        lambda array: pa.array(array.to_pylist(), pa.map_(pa.string_view(), pa.float64())),
    ),
}


def layouts_of(name: str) -> tuple[Layout, ...]:
    return (*(ANY if pa.types.is_nested(TYPES[name]) else FLAT), *OTHER.get(name, ()))


def expected_of(plain: pa.RecordBatch) -> dict[str, list[int]]:
    found = reference.match(QUERIES, plain, streams=[STREAM])
    return {condition: found.rows(condition).tolist() for condition in QUERIES}


def check(batch: pa.RecordBatch | pa.Table, expected: dict[str, list[int]]) -> None:
    found = COMPILED.match(batch)
    for condition, rows in expected.items():
        assert found.rows(condition).tolist() == rows, f"{condition} of {batch.schema}"


@st.composite
def batches(draw: st.DrawFn) -> tuple[pa.RecordBatch, pa.Table]:
    """Rows in the plain layout, and the same in other ones, chunk by chunk, some of them empty."""
    length = draw(st.integers(0, 9))
    plain, laid_out = [], []
    for name, pool in VALUES.items():
        values = column(name, draw(st.lists(st.sampled_from(pool), min_size=length, max_size=length)))
        layout = draw(st.sampled_from(layouts_of(name)))
        before, after = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        odd = pa.array(pool[:1] * before, TYPES[name]), pa.array(pool[:1] * after, TYPES[name])
        whole = layout(pa.concat_arrays([odd[0], values, odd[1]])).slice(before, length)
        cuts = sorted(draw(st.lists(st.integers(0, length), max_size=2)))
        edges = zip([0, *cuts], [*cuts, length], strict=True)
        plain.append(values)
        laid_out.append(pa.chunked_array([whole.slice(a, b - a) for a, b in edges], whole.type))
    return pa.RecordBatch.from_arrays(plain, list(TYPES)), pa.Table.from_arrays(laid_out, list(TYPES))


@given(batches())
@settings(max_examples=60)
def test_any_layout(both: tuple[pa.RecordBatch, pa.Table]) -> None:
    plain, laid_out = both
    check(laid_out, expected_of(plain))


@given(batches())
@settings(max_examples=20)
def test_deliveries(both: tuple[pa.RecordBatch, pa.Table]) -> None:
    plain, laid_out = both
    given_, other = (ed.Engine(streams=[STREAM]) for _ in range(2))
    for engine in (given_, other):
        engine.add({"all": "SELECT * FROM s", "some": "SELECT name, inner.y, took FROM s WHERE number > 0"})
    mine, theirs = given_.push("s", laid_out), other.push("s", plain)
    assert not mine.errors
    for one, another in zip(mine, theirs, strict=True):
        one.validate(full=True)
        assert str(one.to_pylist()) == str(another.to_pylist())


@pytest.mark.parametrize("name", list(TYPES))
def test_every_layout(name: str) -> None:
    """Each layout once by itself, over all values, as a record batch and without any rows."""
    plain = pa.RecordBatch.from_arrays(
        [column(other, [pool[i % len(pool)] for i in range(8)]) for other, pool in VALUES.items()],
        list(TYPES),
    )
    expected = expected_of(plain)
    for layout in layouts_of(name):
        place = plain.schema.get_field_index(name)
        batch = plain.set_column(place, name, layout(plain.column(name)))
        check(batch, expected)
        check(batch.slice(3, 0), {condition: [] for condition in QUERIES})
        stream = ed.Stream("s", batch.schema)
        if stream.types == STREAM.types:
            again = reference.match(QUERIES, batch, streams=[stream])
            assert {condition: again.rows(condition).tolist() for condition in QUERIES} == expected


def test_pandas() -> None:
    rows = [column(name, [pool[i % len(pool)] for i in range(8)]) for name, pool in VALUES.items()]
    plain = pa.RecordBatch.from_arrays(rows, list(TYPES))
    text = plain.schema.get_field_index("name")
    plain = plain.set_column(text, "name", pa.array(["a", None, "ab", "", "Ä", "x", "a", "b"]))
    # in pandas NaN is what is missing
    price = pc.if_else(pc.is_nan(plain.column("price")), None, plain.column("price"))
    plain = plain.set_column(plain.schema.get_field_index("price"), "price", price)
    frame = plain.to_pandas()
    frame["weird"] = [object(), 1, "x", None, 2.5, [], {}, ()]
    check(frame, expected_of(plain))
