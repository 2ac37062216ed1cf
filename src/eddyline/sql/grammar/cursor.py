"""A place in a list of tokens: looking, taking, expecting, and failing with a caret under the culprit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

from eddyline.errors import QueryError, Span
from eddyline.sql import refused
from eddyline.sql.grammar.tokens import END, WORD, Token, tokenize

MAX_DEPTH: Final = 500  # nested parentheses, and operators of one chain
_FRAMES: Final = 20_000

# What is usually meant by a symbol that Spark's SQL does not have in this place.
HINTS: Final = {
    ")": 'there is one ")" too many',
    ",": "decimals are written with a point: 1.5",
    "\u201c": "use straight quotes: 'text'",
    "\u201d": "use straight quotes: 'text'",
    "\u2018": "use straight quotes: 'text'",
    "\u2019": "use straight quotes: 'text'",
}


class Cursor:
    """Reads tokens from left to right."""

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self._tokens = tokenize(sql)
        self._at = 0
        self._depth = 0

    @property
    def peek(self) -> Token:
        """The next token, not taken yet."""
        return self._tokens[self._at]

    @property
    def previous(self) -> Token:
        """The token taken last."""
        return self._tokens[max(0, self._at - 1)]

    def ahead(self, distance: int) -> Token:
        """A token further on."""
        return self._tokens[min(self._at + distance, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Take the next token."""
        token = self.peek
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def source(self, token: Token) -> str:
        """The token as it was written."""
        return self.sql[token.start : token.end]

    def spelled(self, token: Token) -> str:
        """The name that a token spells."""
        return self.source(token) if token.kind == WORD else token.text

    def at_word(self, word: str) -> bool:
        """Whether the next token is this keyword."""
        token = self.peek
        return token.text == word and token.kind == WORD

    def at_symbol(self, symbol: str) -> bool:
        """Whether the next token is this symbol."""
        token = self.peek
        return token.text == symbol and token.kind == "symbol"

    def take_word(self, word: str) -> bool:
        """Take the next token if it is this keyword."""
        return self.at_word(word) and bool(self.advance())

    def take_symbol(self, symbol: str) -> bool:
        """Take the next token if it is this symbol."""
        return self.at_symbol(symbol) and bool(self.advance())

    def expect_word(self, word: str, message: str, *, token: Token | None = None) -> None:
        """Take this keyword or fail with the message."""
        if not self.take_word(word):
            self.fail(message, token=token)

    def expect_symbol(self, symbol: str, message: str, *, token: Token | None = None) -> None:
        """Take this symbol or fail; an opening token that is never closed is shown only at the end of the text."""
        if not self.take_symbol(symbol):
            if token is not None and self.peek.kind != END:
                self.refuse_operator()
                self.fail(
                    f'"{self.source(self.peek)}" was not expected here',
                    hint=f'is an operator or "{symbol}" missing?',
                )
            self.fail(message, token=token)

    def expect_end(self) -> None:
        """Fail if anything is left."""
        if self.peek.kind != END:
            self.refuse_operator()
            text = self.source(self.peek)
            hint = HINTS.get(text, "is an operator or AND missing before it?")
            self.fail(f'"{text}" was not expected here', hint=hint)

    def refuse_operator(self) -> None:
        """Fail by name at an operator that Spark has and Eddyline does not."""
        token = self.peek
        if token.kind == "symbol" and token.text in refused.OPERATORS:
            self.refuse(refused.OPERATORS[token.text], token)
        if token.kind == WORD and token.text == "COLLATE":
            self.refuse(refused.COLLATION, token)

    def refuse_pair(self) -> None:
        """Fail by name at an operator that comes as two tokens, such as << and =<."""
        token, following = self.peek, self.ahead(1)
        if following.start == token.end and following.kind == token.kind == "symbol":
            reason = refused.PAIRS.get(token.text + following.text)
            if reason is not None:
                self.refuse(reason, token._replace(end=following.end))

    def refuse(self, reason: refused.Refusal, token: Token) -> NoReturn:
        """Fail because of something that is understood and not supported."""
        raise QueryError(reason.message, sql=self.sql, span=token.span, hint=reason.instead)

    def fail(self, message: str, *, token: Token | None = None, hint: str | None = None) -> NoReturn:
        """Fail at a token, by default the next one."""
        token = token or self.peek
        span = Span(token.start, max(token.end, token.start + 1))
        raise QueryError(message, sql=self.sql, span=span, hint=hint)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One more level of nesting; beyond MAX_DEPTH the query is refused instead of exhausting the interpreter.

        Frames of pure Python do not use the machine's stack, so the interpreter's own limit can be raised safely.
        """
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.fail(
                f"the query is nested more than {MAX_DEPTH} levels deep", hint="split it into several queries"
            )
        if self._depth == 20 and sys.getrecursionlimit() < _FRAMES:
            sys.setrecursionlimit(_FRAMES)
        try:
            yield
        finally:
            self._depth -= 1

    def chained(self, length: int) -> int:
        """One more operator in a chain such as a + b + c, which nests to the left."""
        if length >= MAX_DEPTH:
            self.fail(
                f"more than {MAX_DEPTH} operators stand in one chain", hint="group them, or split the query"
            )
        if length == 20 and sys.getrecursionlimit() < _FRAMES:
            sys.setrecursionlimit(_FRAMES)
        return length + 1
