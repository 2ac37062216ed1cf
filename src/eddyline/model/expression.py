"""Bound expressions: columns, constants and calls, every type settled and every coercion an explicit cast.

A `Call` names a canonical operation of `functions/table.py`; what an operation means follows from its name and its
argument types alone, so an evaluator never looks at SQL text again:

    price > 10  with price double   ->   gt(price, 10.0)
    int_column > 2.5D               ->   gt(cast(int_column as double), 2.5)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from eddyline.model.types import DataType

NAN: Final = math.nan
EXTERNAL: Final = "spark:"  # prefix of operations that only the Spark runtime can compute
# SQL that only Spark can read: the text, and the columns that it reads
SPARK_TEXT: Final = EXTERNAL + "<text>"
_set = object.__setattr__  # the one way into an immutable object, for constructors


class Expression:
    """A scalar expression over one tuple. Immutable; equality and hash are structural, the hash computed once."""

    __slots__ = ("_hash", "type")
    type: DataType
    _hash: int

    @property
    def arguments(self) -> tuple[Expression, ...]:
        """The expressions directly below this one."""
        return ()

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __getstate__(self) -> dict[str, object]:
        """Pickle without the hash: hashes of strings differ between processes."""
        names = [name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ())]
        return {name: getattr(self, name) for name in names if name != "_hash"}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            _set(self, name, value)
        _set(self, "_hash", self._compute_hash())

    def _compute_hash(self) -> int:
        raise AssertionError("every kind of expression says what it is hashed by")


class Literal(Expression):
    """A constant; see `types` for the Python value of each type. NaN equals NaN here, 0.0 differs from -0.0."""

    __slots__ = ("value",)
    value: object

    def __init__(self, value: object, type: DataType) -> None:
        _set(self, "value", NAN if value != value else value)
        _set(self, "type", type)
        _set(self, "_hash", self._compute_hash())

    @property
    def _key(self) -> object:
        return repr(self.value) if isinstance(self.value, float | list | tuple) else self.value

    def _compute_hash(self) -> int:
        return hash((self._key, self.type))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Literal) and self.type == other.type and self._key == other._key
        )

    __hash__ = Expression.__hash__

    def __repr__(self) -> str:
        return f"Literal({self.value!r}, {self.type})"


class Parameter(Literal):
    """A constant that another query of the same shape may have another value for; `value` is the one at hand.

    Only templates contain parameters: whoever needs a parameter's value to decide something must leave it as it is, or
    say so (`pinned`), so that the decision is not reused for other values.
    """

    __slots__ = ("index",)
    index: int

    def __init__(self, value: object, type: DataType, index: int) -> None:
        _set(self, "index", index)
        super().__init__(value, type)

    @property
    def _key(self) -> object:
        return ("parameter", self.index)

    def __repr__(self) -> str:
        return f"Parameter({self.index}, {self.value!r}, {self.type})"


class Column(Expression):
    """An attribute of the stream, spelled as in its schema."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str, type: DataType) -> None:
        _set(self, "name", name)
        _set(self, "type", type)
        _set(self, "_hash", self._compute_hash())

    def _compute_hash(self) -> int:
        return hash((self.name, self.type))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Column) and self.name == other.name and self.type == other.type
        )

    __hash__ = Expression.__hash__

    def __repr__(self) -> str:
        return f"Column({self.name!r}, {self.type})"


class Call(Expression):
    """An operation of `functions/table.py` on arguments that already have the types it wants."""

    __slots__ = ("_arguments", "function")
    function: str
    _arguments: tuple[Expression, ...]

    def __init__(self, function: str, arguments: tuple[Expression, ...], type: DataType) -> None:
        _set(self, "function", function)
        _set(self, "_arguments", arguments)
        _set(self, "type", type)
        _set(self, "_hash", self._compute_hash())

    @property
    def arguments(self) -> tuple[Expression, ...]:
        return self._arguments

    def _compute_hash(self) -> int:
        return hash((self.function, self._arguments, self.type))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Call)
            and self._hash == other._hash
            and self.function == other.function
            and self.type == other.type
            and self._arguments == other._arguments
        )

    __hash__ = Expression.__hash__

    def __repr__(self) -> str:
        return f"{self.function}({', '.join(map(repr, self._arguments))}): {self.type}"


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything below it, parents first.

    >>> from eddyline.model.types import INT
    >>> [type(e).__name__ for e in walk(Call("neg", (Column("a", INT),), INT))]
    ['Call', 'Column']
    """
    pending = [expression]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.arguments))


def columns_of(expression: Expression) -> frozenset[str]:
    """Names of the attributes that an expression reads."""
    return frozenset(e.name for e in walk(expression) if isinstance(e, Column))


def is_external(expression: Expression) -> bool:
    """Whether the expression is a call that only Spark can compute.

    >>> from eddyline.model.types import STRING
    >>> is_external(Call("spark:soundex", (Column("a", STRING),), STRING))
    True
    """
    return isinstance(expression, Call) and expression.function.startswith(EXTERNAL)


def outermost(expression: Expression) -> Iterator[Expression]:
    """As `walk`, but not into what only Spark can compute: its parts are Spark's, too."""
    pending = [expression]
    while pending:
        current = pending.pop()
        yield current
        if not is_external(current):
            pending.extend(reversed(current.arguments))


def externals_of(expression: Expression) -> tuple[Call, ...]:
    """The outermost calls that only Spark can compute, each once."""
    found = [e for e in outermost(expression) if isinstance(e, Call) and is_external(e)]
    return tuple(dict.fromkeys(found))


def own_columns_of(expression: Expression) -> frozenset[str]:
    """Names of the attributes that an expression reads other than through calls that only Spark can compute."""
    return frozenset(e.name for e in outermost(expression) if isinstance(e, Column))


def parameters_of(expression: Expression) -> frozenset[int]:
    """Indexes of the parameters inside an expression."""
    return frozenset(e.index for e in walk(expression) if isinstance(e, Parameter))


def is_constant(expression: Expression) -> bool:
    """Whether the expression reads no attribute at all; it may contain parameters."""
    return not any(isinstance(e, Column) for e in walk(expression))
