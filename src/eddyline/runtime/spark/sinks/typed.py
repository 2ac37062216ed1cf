"""SELECT lists whose rows can stand as columns: which types come back from files exactly as they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from eddyline.delivery.json_text import unique
from eddyline.model import types as t
from eddyline.model.catalog import spark_type
from eddyline.runtime.spark.base.schemas import quoted, type_text

SELECTED: Final = "selected"  # the column of results that has what was selected, as a struct of these columns


@dataclass(frozen=True, slots=True)
class TypedList:
    """A SELECT list as columns: names and Spark's types."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    numbers: tuple[int, ...] = ()  # the SELECT lists of a batch that have just these columns
    beside_payload: bool = False  # whether the payload stays where the columns say the same

    @property
    def ddl(self) -> str:
        """The columns as Spark declares them."""
        return ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(self.names, self.types, strict=True))

    def to_json(self) -> list[list[str]]:
        """Names and types, for a file."""
        return [[name, kind] for name, kind in zip(self.names, self.types, strict=True)]

    @classmethod
    def of_json(cls, value: Any) -> TypedList:
        """What `to_json` gave."""
        return cls(tuple(name for name, _ in value), tuple(kind for _, kind in value))

    def same(self, other: TypedList | None) -> bool:
        """Whether two lists have the same columns."""
        return other is not None and (self.names, self.types) == (other.names, other.types)


def typed_list(schema: pa.Schema, *, nested: bool = True) -> TypedList | None:
    """A SELECT list as columns; None where some value would not come back as it was.

    >>> typed_list(pa.schema([("symbol", pa.string()), ("price", pa.decimal128(9, 2))])).ddl
    '`symbol` string, `price` decimal(9,2)'
    """
    kinds = [spark_type(column.type) for column in schema]
    known = [kind for kind in kinds if kind is not None and _is_exact(kind, nested=nested)]
    if not schema.names or len(known) < len(kinds):
        return None
    return TypedList(tuple(unique(schema.names)), tuple(type_text(kind) for kind in known))


def _is_exact(kind: t.DataType, *, nested: bool, inside: bool = False) -> bool:
    """Whether every format of files holds every value of a type; JSON has decimals inside of others as doubles."""
    if isinstance(kind, t.StructType | t.ArrayType | t.MapType):
        return nested and _is_exact_inside(kind)
    if isinstance(kind, t.DecimalType):
        return not inside
    if kind == t.BINARY:
        return nested  # Spark writes [FF 00] into CSV, and does not read it back
    return kind != t.VOID and not t.is_interval(kind)


def _is_exact_inside(kind: t.DataType) -> bool:
    if isinstance(kind, t.StructType):
        return all(_is_exact(of, nested=True, inside=True) for _, of in kind.fields)
    if isinstance(kind, t.MapType):
        return kind.key == t.STRING and _is_exact(kind.value, nested=True, inside=True)
    assert isinstance(kind, t.ArrayType), "a type with others inside"
    return _is_exact(kind.element, nested=True, inside=True)
