"""A digest of a normal form: queries that differ only in spelling, the order of parts or the SELECT list share it.

What is digested is a canonical text of the normal form, in which nothing depends on the process or on the version of Python:

    And  price in (-inf, 10.0)                          {"&", {condition, condition}}     sets are sorted and have no doubles
         symbol in {'A'}                                condition: subject, regions; numbers as fractions, so that 1 is 1.0

The time zone is part of it. Texts mean other constants in other zones, and nobody keeps in which zone a digest was made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.join import Branch, KeyPart, Normal, NormalJoin, virtual_column
from eddyline.model.predicate import And, Condition, Predicate
from eddyline.model.query import Output
from eddyline.model.regions import Regions
from eddyline.model.types import ArrayType, DataType, MapType, StructType

# Another one whenever normal forms or their texts change: then digests of before mean nothing.
FORMAT: Final = "01"
SIZE: Final = 16  # bytes

# Of columns: those of a virtual source have the aliases of a query in their names.
Naming = Callable[[str], str]


def digest(normal: Normal, *, with_outputs: bool = False) -> str:
    """What all queries share that are satisfied by the same tuples, or pairs, for the same normal form.

    The converse is not true: others may be satisfied by the same tuples, too. `with_outputs` tells queries apart that
    deliver something else.

    >>> from eddyline.model.predicate import ALWAYS
    >>> from eddyline.model.query import NormalQuery
    >>> digest(NormalQuery("a", "", "quotes", ALWAYS, ())) == digest(
    ...     NormalQuery("b", "", "quotes", ALWAYS, ())
    ... )
    True
    >>> digest(NormalQuery("a", "", "quotes", ALWAYS, ())) == digest(
    ...     NormalQuery("b", "", "trades", ALWAYS, ())
    ... )
    False
    """
    if isinstance(normal, NormalJoin):
        # A JOIN B and B JOIN A are the same pairs: the smaller of both texts stands for them. A stream that is joined with
        # itself has its pairs the one way or the other.
        first, second = normal.sources
        ways = (False,) if first.stream == second.stream else (False, True)
        body = min(_join(normal, swapped, with_outputs) for swapped in ways)
    else:
        outputs = _outputs(normal.outputs, str) if with_outputs else b""
        body = _list("selection", _text(normal.stream), _predicate(normal.predicate), outputs)
    zoned = _list(FORMAT, _text(normal.time_zone), body)
    return FORMAT + blake2b(zoned, digest_size=SIZE).hexdigest()


def _list(tag: str, *parts: bytes) -> bytes:
    """Parts in order; each says its length, so that no two lists have the same text."""
    return b"%s(%s)" % (tag.encode(), b"".join([b"%d:%s" % (len(part), part) for part in parts]))


def _set(tag: str, parts: Iterable[bytes]) -> bytes:
    """Parts in no order."""
    return _list(tag, *sorted(set(parts)))


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _predicate(predicate: Predicate) -> bytes:
    if isinstance(predicate, Condition):
        return _list("in", _subject(predicate.subject), _regions(predicate.regions))
    return _set("&" if isinstance(predicate, And) else "|", [_predicate(part) for part in predicate.parts])


def _regions(regions: Regions) -> bytes:
    flags = "".join("ny"[flag] for flag in (regions.inside, regions.null, regions.nan))
    cuts = [(b"+" if above else b"-") + _constant(value) for value, above in regions.cuts]
    return _list(flags, *cuts)


def _constant(value: object) -> bytes:
    """The constant of a cut: numbers by their value, as regions compare them; -0.0 and 0.0 are one."""
    if isinstance(value, str):
        return b"s" + _text(value)
    if isinstance(value, float) and math.isinf(value):
        return b"inf" if value > 0 else b"-inf"
    if isinstance(value, int | float | Decimal):
        return b"%d/%d" % value.as_integer_ratio()
    assert isinstance(value, bytes), f"a constant of a new kind: {value!r}"
    return b"b" + value


def _literal(value: object) -> bytes:
    """A constant inside an expression, where -0.0 is not 0.0, and NaN and NULL are values, too."""
    if value is None:
        return b"null"
    if isinstance(value, float):
        return value.hex().encode()
    if isinstance(value, list | tuple):
        return _list("()", *[_literal(part) for part in value])
    return _constant(value)


@lru_cache(maxsize=4_096)  # thousands of queries ask about the same subjects
def _subject(expression: Expression) -> bytes:
    return _expression(expression, str)


def _expression(expression: Expression, named: Naming) -> bytes:
    kind = _type(expression.type)
    if isinstance(expression, Column):
        return _list("column", kind, _text(named(expression.name)))
    if isinstance(expression, Literal):
        return _list("literal", kind, _literal(expression.value))
    assert isinstance(expression, Call), "an expression of a new kind"
    arguments = [_expression(argument, named) for argument in expression.arguments]
    return _list("call", kind, _text(expression.function), *arguments)


def _type(kind: DataType) -> bytes:
    if isinstance(kind, StructType):
        return _list("struct", *[_list("field", _text(name), _type(inner)) for name, inner in kind.fields])
    if isinstance(kind, ArrayType):
        return _list("array", _type(kind.element))
    if isinstance(kind, MapType):
        return _list("map", _type(kind.key), _type(kind.value))
    return _text(str(kind))


def _outputs(outputs: Iterable[Output], named: Naming) -> bytes:
    return _list("outputs", *[_list(">", _text(o.name), _expression(o.expression, named)) for o in outputs])


def _join(join: NormalJoin, swapped: bool, with_outputs: bool) -> bytes:
    """A join as it is, or as if its sources stood the other way round; aliases are replaced by numbers."""
    order = (1, 0) if swapped else (0, 1)
    sources = [join.sources[side] for side in order]
    numbers = {source.alias: str(number) for number, source in enumerate(sources)}

    def named(column: str) -> str:
        alias, _, name = column.partition(".")  # no alias has a dot
        return virtual_column(numbers[alias], name)

    branches = _set("branches", [_branch(branch, order, named) for branch in join.branches])
    outputs = _outputs(join.outputs, named) if with_outputs else b""
    return _list("join", *[_text(source.stream) for source in sources], branches, outputs)


def _branch(branch: Branch, order: tuple[int, int], named: Naming) -> bytes:
    low, high = branch.window.low, branch.window.high
    if order[0]:
        low, high = -high, -low
    return _list(
        "branch",
        *[_predicate(branch.sides[side]) for side in order],
        _set("keys", [_key(part, order) for part in branch.keys]),
        b"%d..%d" % (low, high),
        _set("residual", [_expression(part, named) for part in _conjuncts(branch.residual)]),
    )


def _key(part: KeyPart, order: tuple[int, int]) -> bytes:
    return _list("<=>" if part.null_safe else "=", *[_subject(part.expressions[side]) for side in order])


def _conjuncts(residual: Expression | None) -> list[Expression]:
    """What has to be TRUE each by itself."""
    if residual is None:
        return []
    if isinstance(residual, Call) and residual.function == "and":
        return [part for argument in residual.arguments for part in _conjuncts(argument)]
    return [residual]
