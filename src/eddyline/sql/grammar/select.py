"""The frame of a query: SELECT list, FROM, WHERE, and the clauses that are refused by name."""

from __future__ import annotations

import difflib
from typing import Final

from eddyline.errors import QueryError, Span
from eddyline.sql import refused
from eddyline.sql.grammar import syntax as s
from eddyline.sql.grammar.parse import ExpressionParser
from eddyline.sql.grammar.tokens import END, QUOTED, SYMBOL, WORD, Token

MOST_STREAMS: Final = 2  # that a query may join
_AFTER_STREAM: Final = frozenset({"WHERE", "AS", "ON", "USING", *refused.CLAUSES})


class SelectParser(ExpressionParser):
    """Parses a whole query."""

    def select(self) -> s.Select:
        """`SELECT [ALL] items FROM streams [WHERE condition] [;]` up to the end of the text."""
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
        streams = self._streams()
        where = self.expression() if self.take_word("WHERE") else None
        self._clause()
        self.take_symbol(";")
        self.expect_end()
        return s.Select(items, streams, where)

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
        is_qualified = token.kind in (WORD, QUOTED) and self.ahead(1).text == "."
        if is_qualified and self.ahead(2)[:2] == (SYMBOL, "*"):
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

    def _streams(self) -> tuple[s.FromStream, ...]:
        """`stream [[AS] alias]`, and perhaps one more: `, stream`, `[INNER] JOIN stream [ON condition | USING (columns)]`."""
        streams = [self._stream("FROM")]
        while self.at_symbol(",") or self.at_word("JOIN") or self.at_word("INNER"):
            if len(streams) == MOST_STREAMS:
                self.refuse(refused.MANY_STREAMS, self.peek)
            streams.append(self._joined_stream())
        if self.at_word("ON") or self.at_word("USING"):
            self.fail(
                f"{self.peek.text} belongs to a JOIN",
                hint="FROM quotes q JOIN trades t ON q.symbol = t.symbol; after a comma the condition stands in WHERE",
            )
        return tuple(streams)

    def _joined_stream(self) -> s.FromStream:
        if self.take_symbol(","):
            return self._second_stream("a comma")
        self.take_word("INNER")
        self.expect_word("JOIN", "INNER wants JOIN after it")
        stream = self._second_stream("JOIN")
        if self.take_word("ON"):
            stream.on = self.expression()
        elif self.take_word("USING"):
            stream.using = self._columns()
        return stream

    def _second_stream(self, after: str) -> s.FromStream:
        token = self.peek
        if self.at_word("LATERAL"):
            self.refuse(refused.LATERAL_JOIN, token)
        if token.kind == WORD and token.text in _AFTER_STREAM:
            self.fail(f"{after} wants the name of a stream after it")
        return self._stream(after)

    def _columns(self) -> tuple[s.Name, ...]:
        """The names of USING."""
        opening = self.peek
        self.expect_symbol("(", "USING wants columns in parentheses: USING (symbol)")
        names: dict[str, s.Name] = {}
        while not names or self.take_symbol(","):
            token = self.peek
            if token.kind not in (WORD, QUOTED) or self.ahead(1).text == ".":
                self.fail(
                    "USING wants names of columns that both streams have", hint="JOIN trades t USING (symbol)"
                )
            name = self.spelled(self.advance())
            if name.lower() in names:
                self.fail(f'USING names "{name}" twice', token=token)
            names[name.lower()] = s.Name(token.span, (name,))
        self.expect_symbol(")", "the list of USING is never closed", token=opening)
        return tuple(names.values())

    def _stream(self, after: str) -> s.FromStream:
        token = self.peek
        if self.at_symbol("("):
            self.refuse(refused.SUBQUERY, token)
        if token.kind not in (WORD, QUOTED):
            self.fail(f"{after} wants the name of a stream after it")
        self.advance()
        name = self.spelled(token)
        while self.take_symbol("."):
            name += "." + self.spelled(self.advance())
        span = Span(token.start, self.previous.end)
        if self.at_symbol("("):
            self.refuse(refused.GENERATOR, token)
        return s.FromStream(name, span, self._stream_alias())

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
        if first == "LEFT" and self.ahead(1).text in ("SEMI", "ANTI"):
            first, token = self.ahead(1).text, token._replace(end=self.ahead(1).end)
        if token.kind == WORD and first in refused.CLAUSES:
            self.refuse(refused.CLAUSES[first], token)


def parse(sql: str) -> s.Select:
    """The syntax tree of a query.

    >>> [
    ...     stream.name
    ...     for stream in parse("SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol").streams
    ... ]
    ['quotes', 'trades']
    """
    return SelectParser(sql).select()
