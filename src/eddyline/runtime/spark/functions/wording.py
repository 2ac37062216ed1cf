"""Calls that only Spark can compute as the text that Spark gets."""

from __future__ import annotations

from collections.abc import Callable, Collection

from eddyline.errors import QueryError
from eddyline.model.expression import SPARK_TEXT, Call, Column, Expression, Literal
from eddyline.model.types import STRING
from eddyline.sql.render import SPARK_NAME, render
from eddyline.sql.spark_only.functions import FUNCTIONS
from eddyline.sql.spark_only.rewriting import quoted
from eddyline.sql.spark_only.spark_text import check_text

Spelling = Callable[[Column], str]


def sql_of(call: Call, spell: Spelling, allowed: Collection[str] = ()) -> str:
    """The call with columns spelled as a DataFrame has them, and with forms that give NULL where they fail.

    Text that only Spark can read is checked once more: a saved set may have passed through other hands.
    """
    if call.function == SPARK_TEXT:
        text = _piece(call, spell, allowed)
    else:
        text = render(_Respelled(spell, allowed).expression(call), try_forms=True)
    if "${" in text:
        raise QueryError("Spark replaces ${...} in what it reads, also in names", hint="rename the column")
    return text


def _piece(call: Call, spell: Spelling, allowed: Collection[str]) -> str:
    text = call.arguments[0]
    assert isinstance(text, Literal), "what only Spark can read is kept as text"
    columns = {c.name.lower(): c for c in call.arguments[1:] if isinstance(c, Column)}
    functions = {*FUNCTIONS, *allowed}
    return check_text(str(text.value), columns, functions=functions, spell=spell, try_forms=True).text


class _Respelled:
    """Expressions with other text for their columns, which `render` takes over as it is."""

    def __init__(self, spell: Spelling, allowed: Collection[str]) -> None:
        self._spell, self._allowed = spell, allowed

    def expression(self, expression: Expression) -> Expression:
        """The same over other columns."""
        if isinstance(expression, Column):
            return Call(SPARK_NAME, (Literal(self._spell(expression), STRING),), expression.type)
        if not isinstance(expression, Call):
            return expression
        if expression.function == SPARK_TEXT:
            text = _piece(expression, self._spell, self._allowed)
            return Call(SPARK_TEXT, (Literal(text, STRING),), expression.type)
        arguments = tuple([self.expression(argument) for argument in expression.arguments])
        return Call(expression.function, arguments, expression.type)


def own_name(column: Column) -> str:
    """A column by the name that the stream has for it."""
    return quoted(column.name)


def in_short(error: Exception) -> str:
    """What Spark says, without its codes and plans.

    >>> in_short(ValueError("[X.Y] Cannot resolve it. SQLSTATE: 42K09; line 1 pos 0;\\n'Project [...]"))
    'Cannot resolve it'
    """
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    first = lines[0] if lines else type(error).__name__
    if first.startswith("["):
        first = first.partition("] ")[2] or first
    first = first.partition(" SQLSTATE:")[0].strip().rstrip(".")
    return first if len(first) <= 300 else first[:300] + "..."
