"""The rule that makes LIKE without wildcards a comparison, which any index of values can answer."""

from __future__ import annotations

from eddyline.functions.evaluate.odd_text import MALFORMED
from eddyline.model.expression import Call, Expression, Literal
from eddyline.model.types import BOOLEAN, STRING
from eddyline.normalize.rewrite import rewrite


def literal_like(expression: Expression, time_zone: str) -> Expression:
    r"""`name LIKE 'a\_b'` is `name = 'a_b'`; `name LIKE '%'` is true for every name, NULL for NULL: `name >= ''`.

    >>> from eddyline.model.expression import Column
    >>> name, escape = Column("name", STRING), Literal("\\", STRING)
    >>> literal_like(Call("like", (name, Literal(r"a\_b", STRING), escape), BOOLEAN), "UTC")
    eq(Column('name', string), Literal('a_b', string)): boolean
    """
    return rewrite(expression, _compare, frozenset({"like"}))


def _compare(call: Call) -> Expression:
    text, pattern, escape = call.arguments
    if type(pattern) is not Literal or type(escape) is not Literal or text.type != STRING:
        return call
    if not isinstance(pattern.value, str) or not isinstance(escape.value, str):
        return call
    if pattern.value and not pattern.value.strip("%") and escape.value != "%":
        return Call("ge", (text, Literal("", STRING)), BOOLEAN)
    plain = unescaped(pattern.value, escape.value)
    if (
        plain is None or MALFORMED in plain
    ):  # LIKE takes malformed bytes for that character, a comparison does not
        return call
    return Call("eq", (text, Literal(plain, STRING)), BOOLEAN)


def unescaped(pattern: str, escape: str) -> str | None:
    r"""The only text that a pattern matches; None if it has wildcards, or is none that Spark accepts.

    >>> unescaped(r"50\%", "\\"), unescaped("50%", "\\"), unescaped("a\\", "\\")
    ('50%', None, None)
    """
    plain: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            following = next(characters, None)
            if following not in ("%", "_", escape):
                return None
            plain.append(following)
        elif character in "%_":
            return None
        else:
            plain.append(character)
    return "".join(plain)
