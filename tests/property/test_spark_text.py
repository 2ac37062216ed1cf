"""Whatever tokens come together: what is written for Spark has no name and no function that is not the query's own."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.errors import QueryError
from eddyline.functions import table
from eddyline.model import types as t
from eddyline.model.expression import Column
from eddyline.sql.grammar.tokens import QUOTED, SYMBOL, WORD, tokenize
from eddyline.sql.spark_only import words
from eddyline.sql.spark_only.functions import FUNCTIONS
from eddyline.sql.spark_only.spark_text import check_text

COLUMNS = {name: Column(name, t.INT) for name in ("n", "day", "x")}
PIECES = [
    *("n", "s.n", "day", "x", "`n`", "secret", "`secret`", "_metadata", "current_user", "y", "n.field"),
    *(
        "1",
        "2.5D",
        "'text'",
        '"text"',
        "'${env:HOME}'",
        "r'\\'",
        "''",
        "X'00'",
        "NULL",
        "TRUE",
        "5abc",
        "1e5",
    ),
    *(
        "+",
        "-",
        "*",
        "/",
        "%",
        "&",
        "|",
        "^",
        "~",
        "<",
        ">",
        "<<",
        ">>",
        "=",
        "<=>",
        "||",
        "!",
        "::",
        "->",
        "=>",
        ".",
    ),
    *(
        "(",
        ")",
        "(",
        ")",
        "[",
        "]",
        ",",
        ";",
        ":",
        "?",
        "$",
        "{",
        "}",
        "@",
        "--",
        "/*",
        "*/",
        "`",
        "'",
        "\n",
        "\\",
    ),
    *(
        "lower(",
        "exists(",
        "transform(",
        "reflect(",
        "IDENTIFIER(",
        "rand(",
        "my_udf(",
        "cast(",
        "extract(",
        "trim(",
    ),
    *(
        "x ->",
        "(x, y) ->",
        "(n, x) ->",
        "AS INT",
        "AS secret",
        "AS STRUCT<a: INT>",
        "YEAR FROM",
        "BOTH",
        "lower",
    ),
    *(
        "SELECT",
        "FROM",
        "TABLE",
        "VALUES",
        "WITH",
        "WHERE",
        "UNION",
        "AND",
        "OR",
        "NOT",
        "IN",
        "LIKE ANY",
        "IS",
    ),
    *(
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "INTERVAL 1 DAY",
        "INTERVAL",
        "DAY",
        "TO",
        "DATE'2020-01-01'",
        "TIMESTAMP'now'",
    ),
    *(
        "COLLATE",
        "COLLATE UTF8_LCASE",
        "DISTINCT",
        "OVER",
        "FILTER",
        "${n}",
        "/*+ hint */",
        "IS DISTINCT FROM",
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map(" ".join)
# Pieces that fit together more often than not.
FORMS = [
    "exists({a}, x -> {b})",
    "aggregate({a}, 0, (x, y) -> {b})",
    "({a} & {b})",
    "lower({a})[{b}]",
    "cast({a} AS STRUCT<a: INT>).a = {b}",
    "CASE WHEN {a} THEN {b} END",
    "{a} IN ({b}, 1)",
    "extract(YEAR FROM {a}) <> {b}",
    "-{a} BETWEEN {b} AND 3",
]
LEAVES = st.sampled_from(["n", "s.day", "x", "y", "1", "'${x}'", "secret", "rand()", "pi()", "(SELECT 1)"])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(lambda form, a, b: form.format(a=a, b=b), st.sampled_from(FORMS), inner, inner),
    max_leaves=12,
)
KNOWN = {*table.FUNCTIONS, *FUNCTIONS, *words.GRAMMAR_FUNCTIONS, "my_udf"}
SYNTAX = {
    *words.KEYWORDS,
    *words.VALUES,
    *words.TYPED,
    *words.UNITS,
    *words.SIDES,
    *words.TYPES,
    *words.INFIX,
    *("INTERVAL", "TO", "DISTINCT", "ANY", "SOME", "ALL", "AS", "COLLATE"),
}


@settings(max_examples=500)
@given(TEXTS | TREES)
def test_nothing_else_gets_through(text: str) -> None:
    try:
        written = check_text(text, COLUMNS, functions={*FUNCTIONS, "my_udf"}, qualifiers={"s"}).text
    except QueryError:
        return
    assert "${" not in written and "--" not in written and "/*" not in written
    assert check_text(written, COLUMNS, functions={*FUNCTIONS, "my_udf"}).text == written
    tokens = tokenize(written)
    own = {*COLUMNS, "y"}  # the one variable that is no column
    for place, token in enumerate(tokens[:-1]):
        before, after = tokens[place - 1].text if place else "", tokens[place + 1].text
        if token.kind == WORD and after == "(" and token.text not in SYNTAX:
            assert token.text.lower() in KNOWN and before != "."
        elif token.kind == WORD:
            assert token.text in SYNTAX or before == "COLLATE"
        elif token.kind == QUOTED:
            assert before == "." or before == "AS" or token.text in own or after == ":"
            assert after != "("
        elif token.kind == SYMBOL:
            assert token.text not in "?;@${}\\#"
