"""Writes SQL from tokens: values, types and intervals, each in a form that Spark reads in one way only."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from eddyline.errors import QueryError
from eddyline.sql.grammar.parse_literals import LiteralParser
from eddyline.sql.grammar.tokens import HEX, NUMBER, RAW_STRING, STRING, SYMBOL, WORD, Token
from eddyline.sql.render import text_literal
from eddyline.sql.spark_only import words

PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER: Final = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?([lLsSyYdDfF]|[bB][dD])?")


class NotReadable(QueryError):
    """A piece of text that has not even the form of what Spark reads, so that another complaint is the better one."""


def quoted(name: str) -> str:
    """A name in backticks; Spark would replace `${...}` even there."""
    if "${" in name:
        raise QueryError(f'the name "{name}" has ${{ in it, which Spark replaces', hint="rename the column")
    return "`" + name.replace("`", "``") + "`"


class TokenWriter(LiteralParser):
    """Pieces of text written so far; `_operand` says whether a value has just ended."""

    def __init__(self, sql: str) -> None:
        super().__init__(sql)
        self._pieces: list[str] = []
        self._operand = False

    def _value(self, piece: str) -> None:
        if self._operand:
            self._unreadable(self.previous)
        self._pieces.append(piece)
        self._operand = True

    def _operator(self, piece: str) -> None:
        self._pieces.append(piece)
        self._operand = False

    def _constant(self, token: Token) -> None:
        self.advance()
        text = f"X'{token.text}'" if token.kind == HEX else token.text
        if not (re.fullmatch("X'[0-9a-fA-F]*'", text) or _NUMBER.fullmatch(text)):
            self._unreadable(token)
        self._value(text)

    def _interval(self) -> None:
        """INTERVAL '1' DAY, INTERVAL 1 DAY 2 HOURS, INTERVAL '1 2' DAY TO HOUR."""
        self._value(self.advance().text)
        while self.peek.kind in (STRING, RAW_STRING, NUMBER) or self.peek.text in ("+", "-"):
            sign = self.advance().text if self.peek.kind == SYMBOL else ""
            token = self.peek
            if token.kind == NUMBER and not _NUMBER.fullmatch(token.text):
                self._unreadable(token)
            value = self.advance().text if token.kind == NUMBER else text_literal(self.string())
            self._pieces.append(f"{sign} {value}")
            while self.peek.kind == WORD and self.peek.text in (*words.UNITS, "TO"):
                self._pieces.append(self.advance().text)

    def _type(self) -> None:
        """A type, down to the fields of structs."""
        token = self.advance()
        if token.kind != WORD or token.text not in words.TYPES:
            self._unreadable(token)
        self._pieces.append(token.text)
        if token.text == "INTERVAL":
            while self.peek.kind == WORD and self.peek.text in (*words.UNITS, "TO"):
                self._pieces.append(self.advance().text)
        elif self.at_symbol("("):
            while self.peek.kind == NUMBER or self.peek.text in ("(", ","):
                self._pieces.append(self.advance().text)
            self._expected(")")
        elif self.take_symbol("<"):
            self._pieces.append("<")
            self._parts(token.text)
            self._expected(">")

    def _parts(self, word: str) -> None:
        """The types inside of angle brackets."""
        while True:
            if word == "STRUCT":
                self._pieces.append(quoted(self.spelled(self.advance())))
                self.take_symbol(":")
                self._pieces.append(":")
            with self.deeper():
                self._type()
            if not self.take_symbol(","):
                return
            self._pieces.append(",")

    def _expected(self, symbol: str) -> None:
        if not self.take_symbol(symbol):
            self._unreadable(self.peek)
        self._pieces.append(symbol)

    def _plain(self, token: Token) -> str:
        """A word of plain letters, as it was written."""
        source = self.source(token)
        if token.kind != WORD or not PLAIN.fullmatch(source):
            self._unreadable(token)
        return source

    def _unreadable(self, token: Token) -> NoReturn:
        text = self.source(token) or "the end"
        raise NotReadable(
            f'"{text}" was not expected here',
            sql=self.sql,
            span=token.span,
            hint="docs/sql.md says what is accepted",
        )
