"""A parser that leaves what it cannot read to Spark: one call, one operand of AND and OR, one item at a time.

price > 10 AND size(filter(tags, tag -> tag LIKE 'x%')) > volume
|-------------------|--------------------------------|---------|
        read          Foreign: its place, and the complaint about it
"""

from __future__ import annotations

from typing import Final

from eddyline.errors import QueryError, Span
from eddyline.sql import refused
from eddyline.sql.grammar import syntax as s
from eddyline.sql.grammar.select import SelectParser
from eddyline.sql.grammar.tokens import END, WORD, Token

_STOPS: Final = frozenset({"WHERE", "AS", "THEN", "WHEN", "ELSE", *refused.CLAUSES} - {"LEFT", "RIGHT"})
_OPENING: Final = frozenset("([")
_CLOSING: Final = frozenset(")]")


class LenientParser(SelectParser):
    """Parses a whole query; `spans` has the exact place of every operand, parentheses included, by the node's `id`."""

    def __init__(self, sql: str) -> None:
        super().__init__(sql)
        self.spans: dict[int, Span] = {}

    def _negated(self) -> s.Node:
        start, first = self._at, self.peek.start
        try:
            node = super()._negated()
        except QueryError as problem:
            self._at = start
            self._skip(problem)
            node = s.Foreign(Span(first, self.previous.end), problem)
        self.spans[id(node)] = Span(first, self.previous.end)
        return node

    def _call(self, name: Token) -> s.Node:
        start = self._at
        try:
            return super()._call(name)
        except QueryError as problem:
            self._at = start
            self._skip_call(problem)
            return s.Foreign(Span(name.start, self.previous.end), problem)

    def expression(self) -> s.Node:
        """A whole expression, its exact place noted."""
        first = self.peek.start
        node = super().expression()
        self.spans[id(node)] = Span(first, self.previous.end)
        return node

    def _skip_call(self, problem: QueryError) -> None:
        """Go behind the parenthesis that closes the one after the next token."""
        self.advance()
        depth = 0
        while self.peek.kind != END:
            token = self.advance()
            if token.kind == "symbol":
                depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if depth == 0:
                break
        if depth or self.at_word("OVER") or self.at_word("FILTER"):
            raise problem

    def _skip(self, problem: QueryError) -> None:
        """Go to the end of an operand without looking at more than brackets, CASE and BETWEEN."""
        start, depth, cases, betweens = self._at, 0, 0, 0
        while self.peek.kind != END:
            token = self.peek
            if token.kind == "symbol":
                if depth == 0 and token.text in (")", "]", ",", ";"):
                    break
                if depth == 0 and token.text in ("->", "=>"):  # these are nothing by themselves
                    raise problem
                depth += (token.text in _OPENING) - (token.text in _CLOSING)
            elif token.kind == WORD and depth == 0:
                if token.text == "BETWEEN":
                    betweens += 1
                elif token.text == "AND" and betweens:
                    betweens -= 1
                elif not cases and self._stops(token.text):
                    break
                cases += (token.text == "CASE") - (token.text == "END" and cases > 0)
            self.advance()
        if self._at == start:
            raise problem

    def _stops(self, word: str) -> bool:
        if word == "FROM":
            return self.previous.text != "DISTINCT"
        return word in ("AND", "OR", "END") or word.split()[0] in _STOPS


def parse_leniently(sql: str) -> tuple[s.Select, dict[int, Span]]:
    """The syntax tree of a query, pieces that only Spark may read left as they are, and the places of its operands.

    >>> type(parse_leniently("SELECT * FROM t WHERE a & 3 = 1")[0].where).__name__
    'Foreign'
    """
    parser = LenientParser(sql)
    return parser.select(), parser.spans
