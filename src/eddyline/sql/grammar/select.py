"""The frame of a query: SELECT list, FROM, WHERE, and the clauses that are refused by name."""

from __future__ import annotations

import difflib

from eddyline.errors import QueryError, Span
from eddyline.sql import refused
from eddyline.sql.grammar import syntax as s
from eddyline.sql.grammar.parse import ExpressionParser
from eddyline.sql.grammar.tokens import END, QUOTED, WORD, Token

_AFTER_STREAM = frozenset({"WHERE", "AS", *refused.CLAUSES})


class SelectParser(ExpressionParser):
    """Parses a whole query."""

    def select(self) -> s.Select:
        """`SELECT [ALL] items FROM stream [[AS] alias] [WHERE condition] [;]` up to the end of the text."""
        if self.at_word("WITH"):
            self.refuse(refused.WITH, self.peek)
        if not self.take_word("SELECT"):
            self._not_a_select()
        if self.at_word("DISTINCT") and self.ahead(1).text not in (",", "FROM", "."):
            self.refuse(refused.CLAUSES["DISTINCT"], self.peek)
        if self.at_word("ALL") and self.ahead(1).text not in (",", "FROM", "."):
            self.advance()
        items = self._items()
        if not self.take_word("FROM"):
            self._clause()
            self.fail(
                "a query wants FROM and a stream after its SELECT list", hint="SELECT * FROM stream WHERE ..."
            )
        stream, span, alias = self._stream()
        if self.at_symbol(","):
            self.refuse(refused.JOIN, self.peek)
        where = self.expression() if self.take_word("WHERE") else None
        self._clause()
        self.take_symbol(";")
        self.expect_end()
        return s.Select(items, stream, span, alias, where)

    def _not_a_select(self) -> None:
        token = self.peek
        if token.kind == END:
            raise QueryError("the query is empty", sql=self.sql, hint="SELECT * FROM stream WHERE ...")
        if token.kind == WORD and difflib.get_close_matches(token.text, ["SELECT"], cutoff=0.7):
            self.fail("a query starts with SELECT", hint="did you mean SELECT?")
        if token.kind == WORD:
            self.refuse(
                refused.STATEMENTS,
                Token(token.kind, token.text, token.start, token.start + len(token.text.split()[0])),
            )
        self.fail("a query starts with SELECT", hint="SELECT * FROM stream WHERE ...")

    def _items(self) -> tuple[s.Item, ...]:
        items = [self._item()]
        while self.take_symbol(","):
            items.append(self._item())
        return tuple(items)

    def _item(self) -> s.Item:
        token = self.peek
        if self.at_word("FROM"):
            self.fail("the SELECT list is empty here", hint="name a column, or write *")
        if self.take_symbol("*"):
            return s.Item(s.Star(token.span, None), None)
        if token.kind in (WORD, QUOTED) and self.ahead(1).text == "." and self.ahead(2).text == "*":
            self.advance(), self.advance(), self.advance()
            return s.Item(s.Star(Span(token.start, self.previous.end), self.spelled(token)), None)
        return s.Item(self.expression(), self._alias())

    def _alias(self) -> str | None:
        named = self.take_word("AS")
        token = self.peek
        if token.kind == QUOTED or (
            token.kind == WORD and (named or token.text not in ("FROM", *refused.CLAUSES))
        ):
            return self.spelled(self.advance())
        if named:
            self.fail("AS wants a name after it")
        return None

    def _stream(self) -> tuple[str, Span, str | None]:
        token = self.peek
        if self.at_symbol("("):
            self.refuse(refused.SUBQUERY, token)
        if token.kind not in (WORD, QUOTED):
            self.fail("FROM wants the name of a stream")
        self.advance()
        name = self.spelled(token)
        while self.take_symbol("."):
            name += "." + self.spelled(self.advance())
        span = Span(token.start, self.previous.end)
        if self.at_symbol("("):
            self.refuse(refused.GENERATOR, token)
        return name, span, self._stream_alias()

    def _stream_alias(self) -> str | None:
        named = self.take_word("AS")
        token = self.peek
        if token.kind == QUOTED or (
            token.kind == WORD and (named or token.text.split()[0] not in _AFTER_STREAM)
        ):
            return self.spelled(self.advance())
        return None

    def _clause(self) -> None:
        """Refuse a clause that may follow in Spark."""
        token = self.peek
        first = token.text.split()[0] if token.text.strip() else token.text
        if token.kind == WORD and first in refused.CLAUSES:
            self.refuse(refused.CLAUSES[first], token)


def parse(sql: str) -> s.Select:
    """The syntax tree of a query.

    >>> parse("SELECT price FROM quotes WHERE price > 10").stream
    'quotes'
    """
    return SelectParser(sql).select()
