"""What is written for Spark holds what a query contains as constants and names, never as text."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Query, Stream
from eddyline.functions.operations import OPERATIONS
from eddyline.model import types as t
from eddyline.model.expression import Call, Column, Literal
from eddyline.sql import bind, render
from eddyline.sql.grammar.tokens import STRING, tokenize
from eddyline.sql.render import _PLACEHOLDER, text_literal, type_name

STREAM = Stream("s", pa.schema([("a", pa.string())]))
TEXTS = [
    "\0",
    "\1",
    "{0}{1}{*}{1*}{type}",
    "' || reflect('java.lang.System', 'exit', 1) || '",
    "\\",
    "\\'",
    "a\nb\r\t'\"`",
    "${env:HOME}",
    "$${{",
    "\x00012",
]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_texts(text: str) -> None:
    """However they are put together, the constants come out of the tokens again."""
    evil = "' || reflect('java.lang.System', 'exit', 1) || '"
    call = Call("concat", (Literal(text, t.STRING), Literal(evil, t.STRING), Column("a", t.STRING)), t.STRING)
    written = render(call)
    tokens = [token for token in tokenize(written) if token.kind != STRING]
    assert [token.text for token in tokens] == ["CONCAT", "(", ",", ",", "A", ")", ""]
    assert "${" not in written
    bound = bind(Query("q", f"SELECT * FROM s WHERE {written} = 'x'"), [STREAM])
    assert bound.predicate.arguments[0] == call


def test_names_of_fields_are_names() -> None:
    evil = "x: INT>), reflect('java.lang.System', 'exit', 1) AS STRUCT<y"
    kind = t.MapType(t.STRING, t.StructType(((evil, t.INT),)))
    assert type_name(kind) == f"MAP<STRING, STRUCT<`{evil}`: INT>>"
    assert render(Literal(None, kind)) == f"CAST(NULL AS {type_name(kind)})"
    assert render(Call("cast", (Column("a", t.STRING),), kind)) == f"CAST(a AS {type_name(kind)})"


def test_every_place_of_every_template_is_known() -> None:
    for operation in OPERATIONS.values():
        for template in filter(None, (operation.sql, operation.try_sql)):
            assert "{" not in _PLACEHOLDER.sub("", template) or operation.name == "get_field"


def test_forms_that_hide_failures_are_used_over_what_cannot_fail() -> None:
    a = Column("a", t.STRING)
    key = Literal("k", t.STRING)
    direct = Call("spark:aes_decrypt", (a, key), t.BINARY)
    around = Call("spark:aes_decrypt", (Call("spark:unhex", (a,), t.BINARY), key), t.BINARY)
    assert render(direct, try_forms=True) == "try_aes_decrypt(a, 'k')"
    assert render(around, try_forms=True) == "aes_decrypt(unhex(a), 'k')"
    assert render(Call("spark:pmod", (a, a), t.INT), try_forms=True).startswith("(CASE WHEN a = 0 THEN NULL")


def test_one_text_in_two_pieces() -> None:
    assert text_literal("a${b}c${d}") == "'a$' '{b}c$' '{d}'"
