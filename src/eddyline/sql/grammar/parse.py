"""Tokens to a syntax tree: Spark's grammar of queries and expressions, with Spark's precedence.

    lowest   OR
             AND
             NOT
             BETWEEN IN LIKE RLIKE IS      at most one, after a comparison:  a > 1 IS TRUE  is  (a > 1) IS TRUE
             = <> < <= > >= <=>            all alike, from the left:         1 < 2 = true  is  (1 < 2) = true
             + - ||
             * / % DIV
    highest  - + as signs

sqlglot's own parser accepts the SQL of thirty dialects and binds IS, LIKE and || otherwise than Spark does
(docs/decisions/0003), so only its tokenizer is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from eddyline.errors import QueryError, Span
from eddyline.model import types as t
from eddyline.sql import refused
from eddyline.sql.grammar import literals
from eddyline.sql.grammar import syntax as s
from eddyline.sql.grammar.cursor import HINTS
from eddyline.sql.grammar.datatypes import data_type
from eddyline.sql.grammar.parse_literals import LiteralParser
from eddyline.sql.grammar.tokens import END, HEX, NUMBER, QUOTED, RAW_STRING, STRING, WORD, Token

_COMPARISONS: Final = {
    "=": "eq",
    "==": "eq",
    "<>": "ne",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "<=>": "null_safe_eq",
}
_TERMS: Final = {"+": "add", "-": "sub", "||": "concat"}
_FACTORS: Final = {"*": "mul", "/": "div", "%": "mod", "DIV": "int_div"}
_TIMED: Final = ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ")
_PREDICATES: Final = frozenset({"BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "IS"})
_CLAUSE_WORDS: Final = frozenset({"FROM", "WHERE", "AND", "OR", "AS", "THEN", "WHEN", "ELSE", "END", "ON"})


class ExpressionParser(LiteralParser):
    """Parses expressions; one method per level of precedence."""

    def expression(self) -> s.Node:
        """A whole expression, down to OR."""
        with self.deeper():
            return self._joined("or", "OR", self._conjunction)

    def _conjunction(self) -> s.Node:
        return self._joined("and", "AND", self._negated)

    def _joined(self, name: str, word: str, operand: Callable[[], s.Node]) -> s.Node:
        parts = [operand()]
        while self.take_word(word):
            parts.append(operand())
        return parts[0] if len(parts) == 1 else s.Operator(_cover(parts[0], parts[-1]), name, tuple(parts))

    def _negated(self) -> s.Node:
        start, negations = self.peek.start, 0
        while self.take_word("NOT") or self.take_symbol("!"):
            negations += 1
        node = self._predicated()
        for _ in range(negations if negations < 3 else 2 - negations % 2):  # NOT NOT NOT x means NOT x
            node = s.Operator(Span(start, node.span.end), "not", (node,))
        return node

    def _predicated(self) -> s.Node:
        operand = self._comparison()
        negated = self.at_word("NOT") and self.ahead(1).kind == WORD and self.ahead(1).text in _PREDICATES
        if negated:
            self.advance()
        token = self.peek
        if token.kind != WORD or token.text not in _PREDICATES:
            return operand
        self.advance()
        node = self._predicate(token.text, operand)
        if isinstance(node, s.Pattern):
            node.negated = negated
        elif negated:
            node = s.Operator(node.span, "not", (node,))
        follower = self.peek
        if follower.kind == WORD and (follower.text in _PREDICATES or follower.text == "NOT"):
            self.fail(
                f"{follower.text} cannot follow {token.text} directly",
                hint="put the first one in parentheses",
            )
        return node

    def _predicate(self, word: str, operand: s.Node) -> s.Node:
        if word == "BETWEEN":
            low = self._comparison()
            self.expect_word("AND", "BETWEEN wants two bounds: BETWEEN low AND high")
            return self._operator("between", operand, low, self._comparison())
        if word == "IN":
            return self._operator("in", operand, *self._list("IN"))
        if word in ("RLIKE", "REGEXP"):
            return self._operator("rlike", operand, self._comparison())
        if word in ("LIKE", "ILIKE"):
            return self._like(word, operand)
        return self._is(operand)

    def _operator(self, name: str, *operands: s.Node) -> s.Operator:
        return s.Operator(Span(operands[0].span.start, self.previous.end), name, operands)

    def _list(self, what: str) -> tuple[s.Node, ...]:
        self.expect_symbol("(", f"{what} wants a list in parentheses")
        if self.at_word("SELECT") or self.at_word("WITH"):
            self.refuse(refused.SUBQUERY, self.peek)
        if self.at_symbol(")"):
            self.fail(f"{what} wants at least one value")
        items = [self.expression()]
        while self.take_symbol(","):
            items.append(self.expression())
        self.expect_symbol(")", f"the list of {what} is never closed")
        return tuple(items)

    def _like(self, word: str, operand: s.Node) -> s.Node:
        quantifier = None
        if self.peek.kind == WORD and self.peek.text in ("ANY", "SOME", "ALL") and self.ahead(1).text == "(":
            quantifier = "all" if self.advance().text == "ALL" else "any"
            patterns = self._list(f"{word} {quantifier.upper()}")
        else:
            patterns = (self._comparison(),)
        escape = "\\"
        if quantifier is None and self.take_word("ESCAPE"):
            token = self.peek
            if token.kind not in (STRING, RAW_STRING):
                self.fail("ESCAPE wants one character in quotes")
            escape = self.string()
            if len(escape) != 1:
                self.fail("ESCAPE wants exactly one character", token=token)
        return s.Pattern(
            Span(operand.span.start, self.previous.end), word.lower(), operand, patterns, quantifier, escape
        )

    def _is(self, operand: s.Node) -> s.Node:
        negated = self.take_word("NOT")
        if self.take_word("NULL") or self.take_word("UNKNOWN"):
            name = "is_unknown" if self.previous.text == "UNKNOWN" else "is_null"
            node = self._operator(name, operand)
        elif self.take_word("TRUE") or self.take_word("FALSE"):
            node = self._operator(f"is_{self.previous.text.lower()}", operand)
        elif self.at_word("DISTINCT") and self.ahead(1).text == "FROM":
            self.advance()
            self.advance()
            node, negated = self._operator("null_safe_eq", operand, self._comparison()), not negated
        else:
            self.fail(
                "IS wants NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM", hint="for equality write = or <=>"
            )
        return s.Operator(node.span, "not", (node,)) if negated else node

    def _comparison(self) -> s.Node:
        return self._left_to_right(_COMPARISONS, self._term)

    def _term(self) -> s.Node:
        return self._left_to_right(_TERMS, self._factor)

    def _factor(self) -> s.Node:
        return self._left_to_right(_FACTORS, self._unary)

    def _left_to_right(self, operators: dict[str, str], operand: Callable[[], s.Node]) -> s.Node:
        node = operand()
        levels = 0
        while self.peek.text in operators and self.peek.kind in ("symbol", WORD):
            levels = self.chained(levels)
            self.refuse_pair()
            name = operators[self.advance().text]
            right = operand()
            node = s.Operator(_cover(node, right), name, (node, right))
        self.refuse_operator()
        return node

    def _unary(self) -> s.Node:
        signs: list[Token] = []
        while self.at_symbol("-") or self.at_symbol("+"):
            if self.peek.text == "-" and self.ahead(1).kind == NUMBER:
                break
            self.chained(len(signs))
            signs.append(self.advance())
        node = self._postfix(self._primary())
        for sign in reversed(signs):
            node = s.Operator(Span(sign.start, node.span.end), "neg" if sign.text == "-" else "pos", (node,))
        return node

    def _postfix(self, node: s.Node) -> s.Node:
        levels = 0
        while True:
            levels = self.chained(levels)
            if self.take_symbol("["):
                key = self.expression()
                self.expect_symbol("]", "the index is never closed")
                node = s.Subscript(Span(node.span.start, self.previous.end), node, key)
            elif self.take_symbol("."):
                node = self._field(node)
            elif self.take_symbol("::"):
                kind = data_type(self)
                node = s.CastTo(Span(node.span.start, self.previous.end), node, kind, lenient=False)
            else:
                return node

    def _field(self, node: s.Node) -> s.Node:
        if self.peek.kind not in (WORD, QUOTED):
            self.fail("a point wants a name after it")
        name = self.spelled(self.advance())
        span = Span(node.span.start, self.previous.end)
        return s.Name(span, (*node.parts, name)) if isinstance(node, s.Name) else s.FieldOf(span, node, name)

    def _primary(self) -> s.Node:
        token = self.peek
        if token.kind == WORD:
            return self._word(token)
        if token.kind in (STRING, RAW_STRING):
            text = self.string()
            return s.Constant(Span(token.start, self.previous.end), text, t.STRING)
        if token.kind == NUMBER or token.text == "-":
            return self.number()
        if token.kind == QUOTED:
            self.advance()
            return s.Name(token.span, (token.text,))
        if token.kind == HEX:
            self.advance()
            return self.literal(token, lambda: (literals.hexadecimal(token.text), t.BINARY))
        if self.take_symbol("("):
            return self._parenthesis(token)
        self._unexpected(token)

    def _unexpected(self, token: Token) -> NoReturn:
        self.refuse_operator()
        if token.kind == END:
            self.fail("the query ends where a value should stand", hint="is something missing at the end?")
        text = self.source(token)
        self.fail(f'"{text}" stands where a value should stand', hint=HINTS.get(text[:1]))

    def _parenthesis(self, opening: Token) -> s.Node:
        if self.at_word("SELECT") or self.at_word("WITH"):
            self.refuse(refused.SUBQUERY, self.peek)
        node = self.expression()
        if self.at_symbol(","):
            self.fail("a list of values in parentheses is only understood after IN, LIKE ANY and LIKE ALL")
        self.expect_symbol(")", "the parenthesis is never closed", token=opening)
        return node

    def _word(self, token: Token) -> s.Node:
        following = self.ahead(1)
        word = token.text
        if word in ("NULL", "TRUE", "FALSE") and following.text not in (".", "("):
            self.advance()
            value = {"NULL": None, "TRUE": True, "FALSE": False}[word]
            return s.Constant(token.span, value, t.VOID if value is None else t.BOOLEAN)
        if word == "CASE":
            return self._case()
        if word == "INTERVAL" and (
            following.kind in (STRING, RAW_STRING, NUMBER) or following.text in ("-", "+")
        ):
            return self.interval()
        if word in _TIMED and following.kind in (STRING, RAW_STRING):
            self.advance()
            text = self.string()
            return s.Timed(Span(token.start, self.previous.end), word, text)
        if following.text == "(" and following.kind == "symbol":
            return self._call(token)
        if word in _CLAUSE_WORDS or word in ("NOT", "SELECT"):
            self.fail(f"{word} stands where a value should stand")
        self.advance()
        return s.Name(token.span, (self.source(token),))

    def _case(self) -> s.Node:
        start = self.advance()
        operand = None if self.at_word("WHEN") else self.expression()
        branches: list[tuple[s.Node, s.Node]] = []
        while self.take_word("WHEN"):
            test = self.expression()
            self.expect_word("THEN", "WHEN wants a THEN")
            branches.append((test, self.expression()))
        if not branches:
            self.fail("CASE wants at least one WHEN ... THEN ...")
        otherwise = self.expression() if self.take_word("ELSE") else None
        self.expect_word("END", "CASE is never closed by END", token=start)
        return s.Case(Span(start.start, self.previous.end), operand, tuple(branches), otherwise)

    def _call(self, name: Token) -> s.Node:
        self.advance()
        self.advance()
        if name.text in ("CAST", "TRY_CAST"):
            return self._cast(name)
        if name.text == "TRIM":
            trimmed = self._trim(name)
            if trimmed is not None:
                return trimmed
        if self.at_word("DISTINCT") or (self.at_symbol("*") and self.ahead(1).text == ")"):
            self.refuse(refused.AGGREGATE, name)
        if self.at_word("SELECT"):
            self.refuse(refused.EXISTS if name.text == "EXISTS" else refused.SUBQUERY, self.peek)
        arguments = [] if self.at_symbol(")") else [self.expression()]
        while self.take_symbol(",") or (
            name.text in ("SUBSTRING", "SUBSTR") and (self.take_word("FROM") or self.take_word("FOR"))
        ):
            arguments.append(self.expression())
        if self.at_symbol("->"):
            self.refuse(refused.LAMBDA, self.peek)
        self.expect_symbol(")", f"the call of {self.source(name)} is never closed", token=name)
        if self.at_word("OVER") or self.at_word("FILTER"):
            self.refuse(refused.WINDOW, self.peek)
        span = Span(name.start, self.previous.end)
        return s.Apply(span, self.source(name), tuple(arguments), name.span)

    def _cast(self, name: Token) -> s.Node:
        operand = self.expression()
        self.expect_word("AS", f"{name.text} wants a type: {name.text}(value AS type)")
        kind = data_type(self)
        self.expect_symbol(")", f"the {name.text} is never closed", token=name)
        return s.CastTo(Span(name.start, self.previous.end), operand, kind, lenient=name.text == "TRY_CAST")

    def _trim(self, name: Token) -> s.Node | None:
        """trim([BOTH | LEADING | TRAILING] [characters] FROM text); None for the plain call."""
        side = "trim"
        if self.peek.kind == WORD and self.peek.text in ("BOTH", "LEADING", "TRAILING"):
            side = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[self.advance().text]
        elif not self._has_from():
            return None
        characters = None if self.at_word("FROM") else self.expression()
        self.expect_word("FROM", "trim wants FROM: trim(BOTH 'x' FROM text)")
        text = self.expression()
        self.expect_symbol(")", "the call of trim is never closed", token=name)
        arguments = (text,) if characters is None else (characters, text)
        return s.Apply(Span(name.start, self.previous.end), side, arguments, name.span)

    def _has_from(self) -> bool:
        """Whether a FROM stands inside the parentheses that were just opened."""
        depth, distance = 1, 0
        while depth and self.ahead(distance).kind != END:
            token = self.ahead(distance)
            depth += {"(": 1, ")": -1}.get(token.text, 0) if token.kind == "symbol" else 0
            if depth == 1 and token.kind == WORD and token.text == "FROM":
                return True
            distance += 1
        return False


def _cover(first: s.Node, last: s.Node) -> Span:
    return Span(first.span.start, last.span.end)


def parse_expression(sql: str) -> s.Node:
    """The syntax tree of a lone expression, such as the text of a WHERE clause."""
    parser = ExpressionParser(sql)
    node = parser.expression()
    parser.expect_end()
    return node


__all__ = ["ExpressionParser", "QueryError", "parse_expression"]
