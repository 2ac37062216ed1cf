"""SQL text to tokens, by sqlglot's Spark tokenizer; what a token means is decided here, from its own text.

sqlglot knows comments, quotes, raw strings, identifiers and operators. Numbers and string escapes are read from the
text itself (`literals.py`), because Spark's rules for them are finer than a transpiler needs.
"""

from __future__ import annotations

import re
from typing import ClassVar, Final, NamedTuple

from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from eddyline.errors import QueryError, Span

WORD: Final = "word"  # a keyword or a plain name: `text` is in upper case
QUOTED: Final = "quoted name"
NUMBER: Final = "number"
STRING: Final = "string"
RAW_STRING: Final = "raw string"
HEX: Final = "hex string"
SYMBOL: Final = "symbol"
END: Final = "end"


class Token(NamedTuple):
    """A token and its place; `text` is what matters of it (upper case for words, unquoted for names)."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where the token stands."""
        return Span(self.start, self.end)


class _Dialect(Spark):
    class Tokenizer(Spark.Tokenizer):
        NUMERIC_LITERALS: ClassVar[dict[str, str]] = {}  # keep 1L and 2.5BD in one piece


_TOKENIZER = _Dialect()
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?([a-zA-Z]*)")
_KINDS = {
    TokenType.STRING: STRING,
    TokenType.RAW_STRING: RAW_STRING,
    TokenType.IDENTIFIER: QUOTED,
    TokenType.NUMBER: NUMBER,
}


def tokenize(sql: str) -> list[Token]:
    """All tokens of a text, closed by an END token.

    >>> [(token.kind, token.text) for token in tokenize("Price > 2.5BD")]
    [('word', 'PRICE'), ('symbol', '>'), ('number', '2.5BD'), ('end', '')]
    """
    _refuse_unreadable(sql)
    try:
        found = _TOKENIZER.tokenize(sql)
    except TokenError as error:
        raise _unterminated(sql) from error
    tokens: list[Token] = []
    for token in found:
        start, end = token.start, token.end + 1
        kind = _KINDS.get(token.token_type)
        text = token.text
        if kind is None:
            kind, text = _classify(sql, token.token_type, text, start)
        if kind == NUMBER and tokens and tokens[-1].text == "." and _is_leading_point(tokens, start):
            start, text = tokens.pop().start, "." + text
        tokens.append(Token(kind, text, start, end))
    tokens.append(Token(END, "", len(sql), len(sql)))
    return tokens


def _classify(sql: str, kind: TokenType, text: str, start: int) -> tuple[str, str]:
    if kind == TokenType.HEX_STRING:
        return (HEX, text) if sql[start] in "xX" else (SYMBOL, sql[start : start + 2])
    if text[:1].isdigit() and _NUMBER.fullmatch(text):
        return NUMBER, text
    if text[:1].isalpha() or text[:1] == "_":
        return WORD, text.upper()
    return SYMBOL, text


def _is_leading_point(tokens: list[Token], start: int) -> bool:
    """Whether the point before a number belongs to it: `.5`, but not `a.5`."""
    before = tokens[-2] if len(tokens) > 1 else None
    touches_name = before is not None and before.end == tokens[-1].start and before.kind in (WORD, QUOTED)
    return tokens[-1].end == start and not touches_name


def _refuse_unreadable(sql: str) -> None:
    """NUL and lone surrogates have no place in SQL text, and not every library below survives them."""
    found = re.search("[\x00\ud800-\udfff]", sql)
    if found is not None:
        name = "a NUL byte" if found.group() == "\x00" else "a lone surrogate"
        raise QueryError(
            f"the text has {name}",
            sql=sql,
            span=Span(found.start(), found.end()),
            hint="remove the character",
        )


def _unterminated(sql: str) -> QueryError:
    """Which quote or comment was opened last and never closed."""
    opener = re.compile(
        r"--[^\n]*|/\*.*?\*/|[rR]?'(?:[^'\\]|\\.)*'|[rR]?\"(?:[^\"\\]|\\.)*\"|`[^`]*`|('|\"|`|/\*)", re.S
    )
    for found in opener.finditer(sql):
        if found.group(1):
            what = {"'": "string", '"': "string", "`": "quoted name", "/*": "comment"}[found.group(1)]
            return QueryError(
                f"the {what} that starts here is never closed",
                sql=sql,
                span=Span(found.start(1), found.end(1)),
                hint=f"close it with {'*/' if found.group(1) == '/*' else found.group(1)}",
            )
    return QueryError("the text cannot be split into words", sql=sql, span=Span(0, 1))
