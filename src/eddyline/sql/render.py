"""Bound expressions back to Spark SQL text, for people to read and for Spark to judge.

With `try_forms` an operation that fails for a tuple gives NULL in Spark too, as it does here:

    add(a, b)     (a + b)      try_add(a, b)
    cast(s)       CAST(...)    try_cast(...)
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from eddyline.functions.operations import OPERATIONS
from eddyline.model import types as t
from eddyline.model.expression import EXTERNAL, SPARK_TEXT, Call, Column, Expression, Literal, externals_of
from eddyline.model.join import BoundJoin

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_MICROS_PER_DAY: Final = 86_400_000_000

SPARK_NAME: Final = EXTERNAL + "<name>"  # a column as a DataFrame has it, kept as text
# Functions that only Spark has, and the form of each that gives NULL where it fails.
TRY_FUNCTIONS: Final = {
    **{
        name: f"try_{name}"
        for name in (
            "aes_decrypt cast element_at make_interval make_timestamp make_timestamp_ltz make_timestamp_ntz parse_json "
            "parse_url to_binary to_date to_number to_time to_timestamp url_decode validate_utf8 variant_get"
        ).split()
    },
    "mod": "try_mod",
}
# Those whose form also hides what fails in their arguments. Spark 4.2 then gives wrong values for the rows after it
# (seen: try_to_binary over element_at), so they are used only over what cannot fail.
HIDING: Final = frozenset({"aes_decrypt", "to_binary"})
# The same for some of which Spark has no such form, by their number of arguments.
_TRY_TEMPLATES: Final = {
    ("make_date", 3): "CAST(try_make_timestamp_ntz({0}, {1}, {2}, 0, 0, 0) AS DATE)",
    ("pmod", 2): "(CASE WHEN {1} = 0 THEN NULL ELSE pmod({0}, {1}) END)",
}
_PLACEHOLDER: Final = re.compile(r"\{([0-9*]+|type|smallest)\}")
_LONG_MIN: Final = "(-9223372036854775807L - 1L)"


def render(
    expression: Expression, *, try_forms: bool = False, spell: Callable[[str], str] | None = None
) -> str:
    """Spark SQL text of an expression, fully parenthesised; `spell` says how columns are written, if not by `name`.

    >>> from eddyline.model.types import INT
    >>> a = Column("a", INT)
    >>> render(Call("add", (a, Literal(1, INT)), INT)), render(Call("add", (a, a), INT), try_forms=True)
    ('(a + 1)', 'try_add(a, a)')
    """
    if isinstance(expression, Literal):
        return literal(expression.value, expression.type)
    if isinstance(expression, Column):
        return (spell or name)(expression.name)
    assert isinstance(expression, Call), "expressions are columns, constants and calls"
    arguments = [render(argument, try_forms=try_forms, spell=spell) for argument in expression.arguments]
    special = _SPECIAL.get(expression.function)
    if special is not None:
        return special(expression, arguments, try_forms)
    if expression.function.startswith(EXTERNAL):
        return _external(expression, arguments, try_forms)
    return _from_table(expression, arguments, try_forms)


def _external(call: Call, arguments: list[str], try_forms: bool) -> str:
    """A call that only Spark can compute; a piece of text that only Spark can read is there as it is."""
    if call.function in (SPARK_TEXT, SPARK_NAME):
        text = call.arguments[0]
        assert isinstance(text, Literal), "what only Spark can read is kept as text"
        return f"({text.value})"
    function = call.function.removeprefix(EXTERNAL)
    inside = [e.function for argument in call.arguments for e in externals_of(argument)]
    if function in HIDING and any(other != SPARK_NAME for other in inside):
        try_forms = False
    template = _TRY_TEMPLATES.get((function, len(arguments))) if try_forms else None
    if template is not None:
        return _PLACEHOLDER.sub(lambda match: arguments[int(match.group(1))], template)
    return f"{TRY_FUNCTIONS.get(function, function) if try_forms else function}({', '.join(arguments)})"


def _from_table(call: Call, arguments: list[str], try_forms: bool) -> str:
    """The call by the template of its operation."""
    operation, template = OPERATIONS[call.function], None
    whole = bool(call.arguments) and t.is_integral(call.arguments[0].type)
    if try_forms and (whole or not operation.integral):
        template = operation.try_sql
    kind = call.arguments[0].type if call.arguments else t.VOID
    replacements = {
        "*": ", ".join(arguments),
        "1*": ", ".join(arguments[1:]),
        "type": type_name(call.type),
        "smallest": literal(t.RANGE[kind][0], kind) if whole else "",
        **{str(number): argument for number, argument in enumerate(arguments)},
    }
    # In one go: what an argument contains is never taken for a placeholder.
    return _PLACEHOLDER.sub(lambda match: replacements[match.group(1)], template or operation.sql)


def type_name(kind: t.DataType) -> str:
    """A type as Spark reads it, names of fields quoted where they have to be.

    >>> type_name(t.StructType((("a b", t.ArrayType(t.DecimalType(9, 2))), ("c", t.INT))))
    'STRUCT<`a b`: ARRAY<DECIMAL(9,2)>, c: INT>'
    """
    if isinstance(kind, t.StructType):
        return "STRUCT<" + ", ".join(f"{name(field)}: {type_name(of)}" for field, of in kind.fields) + ">"
    if isinstance(kind, t.ArrayType):
        return f"ARRAY<{type_name(kind.element)}>"
    if isinstance(kind, t.MapType):
        return f"MAP<{type_name(kind.key)}, {type_name(kind.value)}>"
    return str(kind).upper()


def name(spelling: str) -> str:
    """A column name, quoted where it has to be.

    >>> name("price"), name("Event ID")
    ('price', '`Event ID`')
    """
    plain = spelling.isidentifier() and spelling.isascii() and spelling.upper() not in _RESERVED
    return spelling if plain else "`" + spelling.replace("`", "``") + "`"


def joined_name(virtual: str) -> str:
    """A column of a virtual source, as a join writes it.

    >>> joined_name("q.price"), joined_name("q.Event.ID"), joined_name("my quotes.on")
    ('q.price', 'q.`Event.ID`', '`my quotes`.`on`')
    """
    alias, _, column = virtual.partition(".")  # no alias has a dot
    return f"{name(alias)}.{name(column)}"


def render_joined(expression: Expression) -> str:
    """Spark SQL text of an expression over a virtual source, whose columns are written as a join writes them.

    >>> render_joined(Call("is_null", (Column("q.price", t.DOUBLE),), t.BOOLEAN))
    '(q.price IS NULL)'
    """
    return render(expression, spell=joined_name)


def render_join(
    join: BoundJoin,
    items: Sequence[str] | None = None,
    *,
    extra: Expression | None = None,
    try_forms: bool = False,
) -> str:
    """Spark SQL text of a join: its SELECT list, or `items` as they are written; `extra` is one more condition.

    >>> from eddyline.model.join import Source
    >>> from eddyline.model.query import Output
    >>> same = Call("eq", (Column("q.symbol", t.STRING), Column("t.symbol", t.STRING)), t.BOOLEAN)
    >>> sources = (Source("q", "quotes"), Source("t", "trades"))
    >>> join = BoundJoin("pairs", "...", sources, same, (Output("s", Column("q.symbol", t.STRING)),))
    >>> render_join(join)
    'SELECT q.symbol AS s FROM quotes AS q JOIN trades AS t ON (q.symbol = t.symbol)'
    >>> render_join(join, ["q.number", "t.number"], extra=Literal(True, t.BOOLEAN))
    'SELECT q.number, t.number FROM quotes AS q JOIN trades AS t ON ((q.symbol = t.symbol) AND TRUE)'
    """

    def text(expression: Expression) -> str:
        return render(expression, try_forms=try_forms, spell=joined_name)

    if items is None:
        items = [f"{text(output.expression)} AS {name(output.name)}" for output in join.outputs]
    sources = " JOIN ".join(f"{name(source.stream)} AS {name(source.alias)}" for source in join.sources)
    condition = text(join.predicate) if extra is None else f"({text(join.predicate)} AND {text(extra)})"
    return f"SELECT {', '.join(items)} FROM {sources} ON {condition}"


_RESERVED: Final = frozenset(
    "AND ANTI BETWEEN CASE CAST CROSS DISTINCT DIV ELSE END EXCEPT FALSE FROM FULL ILIKE IN INNER INTERSECT INTERVAL IS "
    "JOIN LEFT LIKE MINUS NATURAL NOT NULL ON OR RIGHT RLIKE SELECT SEMI THEN TRUE UNION USING WHEN WHERE".split()
)


def literal(value: object, kind: t.DataType) -> str:
    """A constant of a type."""
    if value is None:
        return "NULL" if kind == t.VOID else f"CAST(NULL AS {type_name(kind)})"
    if isinstance(kind, t.DecimalType):
        assert isinstance(value, Decimal), "decimal constants hold decimals"
        return f"CAST('{value:f}' AS {str(kind).upper()})"
    return _LITERALS[kind](value)


def text_literal(value: object) -> str:
    """A text constant; Spark would replace `${...}` inside of one (it may read the environment), so it becomes two.

    >>> text_literal("it's"), text_literal("${env:HOME}")
    ("'it\\\\'s'", "'$' '{env:HOME}'")
    """
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    escaped = escaped.replace("\t", "\\t").replace("\0", "\\u0000")
    return "'" + escaped.replace("${", "$' '{") + "'"


def _double(value: object) -> str:
    assert isinstance(value, float), "double constants hold floats"
    if math.isfinite(value):
        return f"{value!r}D"
    return "CAST('" + ("NaN" if value != value else "Infinity" if value > 0 else "-Infinity") + "' AS DOUBLE)"


def _float(value: object) -> str:
    assert isinstance(value, float), "float constants hold floats"
    text = (
        repr(value)
        if math.isfinite(value)
        else "NaN"
        if value != value
        else "Infinity"
        if value > 0
        else "-Infinity"
    )
    return f"CAST('{text}' AS FLOAT)"


def _long(value: object) -> str:
    return _LONG_MIN if value == t.RANGE[t.LONG][0] else f"{value}L"


def _date(value: object) -> str:
    assert isinstance(value, int), "dates are held in days"
    if 1 <= value + _EPOCH <= datetime.date.max.toordinal():
        return f"DATE'{datetime.date.fromordinal(value + _EPOCH).isoformat()}'"
    return f"date_from_unix_date({value})"


def _moment(value: int) -> str | None:
    """Date and time of day of microseconds since 1970; None outside of the years 1 to 9999."""
    days, micros = divmod(value, _MICROS_PER_DAY)
    if not 1 <= days + _EPOCH <= datetime.date.max.toordinal():
        return None
    seconds, fraction = divmod(micros, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    tail = f".{fraction:06}".rstrip("0") if fraction else ""
    return f"{datetime.date.fromordinal(days + _EPOCH).isoformat()} {clock}{tail}"


def _timestamp(value: object) -> str:
    assert isinstance(value, int), "timestamps are held in microseconds"
    moment = _moment(value)
    return f"timestamp_micros({_long(value)})" if moment is None else f"TIMESTAMP'{moment}Z'"


def _timestamp_ntz(value: object) -> str:
    assert isinstance(value, int), "timestamps are held in microseconds"
    moment = _moment(value)
    if moment is None:  # exact in every session time zone: the wall clock of UTC
        return f"to_timestamp_ntz(from_utc_timestamp(timestamp_micros({_long(value)}), 'UTC'))"
    return f"TIMESTAMP_NTZ'{moment}'"


def _day_time(value: object) -> str:
    assert isinstance(value, int), "intervals are held in microseconds"
    days, micros = divmod(abs(value), _MICROS_PER_DAY)
    seconds, fraction = divmod(micros, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
    return f"INTERVAL '{'-' if value < 0 else ''}{days} {clock}' DAY TO SECOND"


def _year_month(value: object) -> str:
    assert isinstance(value, int), "intervals are held in months"
    years, months = divmod(abs(value), 12)
    return f"INTERVAL '{'-' if value < 0 else ''}{years}-{months}' YEAR TO MONTH"


_LITERALS: Final[dict[t.DataType, Callable[[object], str]]] = {
    t.BOOLEAN: lambda value: str(value).upper(),
    t.BYTE: lambda value: f"{value}Y",
    t.SHORT: lambda value: f"{value}S",
    t.INT: str,
    t.LONG: _long,
    t.FLOAT: _float,
    t.DOUBLE: _double,
    t.STRING: text_literal,
    t.BINARY: lambda value: f"X'{value.hex()}'" if isinstance(value, bytes) else "",
    t.DATE: _date,
    t.TIMESTAMP: _timestamp,
    t.TIMESTAMP_NTZ: _timestamp_ntz,
    t.DAY_TIME: _day_time,
    t.YEAR_MONTH: _year_month,
}

Special = Callable[[Call, list[str], bool], str]


def _case(_: Call, arguments: list[str], try_forms: bool) -> str:
    pairs = zip(arguments[0::2], arguments[1::2], strict=False)
    text = " ".join(f"WHEN {test} THEN {value}" for test, value in pairs)
    otherwise = f" ELSE {arguments[-1]}" if len(arguments) % 2 else ""
    return f"(CASE {text}{otherwise} END)"


def _field(call: Call, arguments: list[str], try_forms: bool) -> str:
    key = call.arguments[1]
    assert isinstance(key, Literal), "fields are named by constants"
    return f"{arguments[0]}.{name(str(key.value))}"


def _whole_quotient(call: Call, arguments: list[str], try_forms: bool) -> str:
    """Only whole numbers overflow in Spark; decimals wrap around, but fail on zero too."""
    left, right = call.arguments
    if not try_forms or t.is_integral(left.type):
        return _from_table(call, arguments, try_forms)
    zero = (
        literal(Decimal(0).scaleb(-right.type.scale), right.type)
        if isinstance(right.type, t.DecimalType)
        else "0"
    )
    return f"(CASE WHEN {arguments[1]} = {zero} THEN NULL ELSE {arguments[0]} div {arguments[1]} END)"


_SPECIAL: Final[dict[str, Special]] = {
    "and": lambda call, arguments, _: "(" + " AND ".join(arguments) + ")",
    "or": lambda call, arguments, _: "(" + " OR ".join(arguments) + ")",
    "case": _case,
    "get_field": _field,
    "int_div": _whole_quotient,
}
