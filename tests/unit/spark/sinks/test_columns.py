"""Typed columns or text: which SELECT lists can, and that an output keeps to what it began with."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from eddyline.errors import SinkError
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.sinks.columns import OutputColumns
from eddyline.runtime.spark.sinks.shape import OURS, selected_names
from eddyline.runtime.spark.sinks.storage import LocalOutput
from eddyline.runtime.spark.sinks.typed import TypedList, typed_list
from tests.spark.sink_rows import settings_of

ONE = pa.schema([("a", pa.int32())])
TWO = pa.schema([("a", pa.int64())])
LOST = pa.schema([("a", pa.duration("us"))])


def settled(
    storage: LocalOutput, settings: SinkSettings, lists: dict[int, pa.Schema] | None
) -> TypedList | None:
    """The columns of a batch with these SELECT lists, as it finds and leaves them."""
    columns = OutputColumns(storage, settings)
    typed = columns.for_lists(lists or {})
    columns.settle(typed)
    return typed


@pytest.mark.parametrize(
    "kind",
    [
        pa.duration("us"),
        pa.null(),
        pa.time32("s"),
        pa.list_(pa.decimal128(9, 2)),
        pa.struct([("x", pa.duration("us"))]),
        pa.map_(pa.int32(), pa.string()),
        pa.map_(pa.string(), pa.decimal128(9, 2)),
    ],
)
def test_types_that_files_lose(kind: pa.DataType) -> None:
    assert typed_list(pa.schema([("a", pa.int32()), ("b", kind)])) is None


def test_lists_that_can_be_typed() -> None:
    assert typed_list(pa.schema([])) is None
    nested = pa.schema([("a", pa.list_(pa.struct([("x y", pa.date32())])))])
    found = typed_list(nested)
    assert found is not None and found.ddl == "`a` array<struct<`x y`:date>>"
    assert typed_list(nested, nested=False) is None
    assert typed_list(pa.schema([("a", pa.binary())]), nested=False) is None, "CSV does not give it back"
    assert TypedList.of_json(found.to_json()).same(found)


@pytest.mark.parametrize(
    ("columns", "lists", "expected"),
    [
        ("payload", {0: ONE}, None),
        ("auto", {0: ONE}, ("int",)),
        ("auto", {4: ONE, 7: ONE}, ("int",)),
        ("auto", {0: ONE, 1: TWO}, None),
        ("auto", {0: LOST}, None),
        ("auto", {}, None),
        ("auto", None, None),
        ("typed", {0: TWO, 1: ONE}, ("bigint",)),
        ("typed", {0: LOST}, None),
    ],
)
def test_what_is_chosen_stays(
    tmp_path: Path, columns: str, lists: dict[int, pa.Schema] | None, expected: tuple[str, ...] | None
) -> None:
    storage, settings = LocalOutput(tmp_path), settings_of("parquet", tmp_path, columns=columns)
    for later in (lists, {0: ONE, 3: ONE}, {0: TWO}, {0: LOST}, None):
        typed = settled(storage, settings, later)
        assert (None if typed is None else typed.types) == expected


def test_numbers_are_those_of_the_batch(tmp_path: Path) -> None:
    storage, settings = LocalOutput(tmp_path), settings_of("parquet", tmp_path, columns="auto")
    for lists, numbers in (({5: ONE}, (5,)), ({1: TWO, 2: ONE, 3: ONE}, (2, 3)), ({1: TWO}, ()), (None, ())):
        typed = settled(storage, settings, lists)
        assert typed is not None and typed.numbers == numbers


def test_a_damaged_choice_is_told(tmp_path: Path) -> None:
    (tmp_path / "_columns.json").write_text("[")
    with pytest.raises(SinkError, match="is damaged"):
        settled(LocalOutput(tmp_path), settings_of("parquet", tmp_path), None)


def test_names_that_are_taken() -> None:
    typed = TypedList(("Query_id", "price", "payload"), ("string",) * 3)
    assert selected_names(typed, (*OURS, "payload")) == ["Query_id_2", "price", "payload_2"]
