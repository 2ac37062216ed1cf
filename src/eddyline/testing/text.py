"""Prints random queries as Spark SQL with the fewest possible parentheses, or with anything that changes nothing.

Levels follow Spark's grammar, where a comparison is a value like a sum, and everything that hangs on a value (BETWEEN,
IN, LIKE, IS) binds weaker than a comparison and cannot be chained:

    OR < AND < NOT < BETWEEN IN LIKE RLIKE IS < comparison < + - || < * / % div < unary sign < everything else
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from eddyline.testing.tree import ExpressionTree, Statement

OR, AND, NOT, PREDICATE, COMPARISON, SUM, PRODUCT, SIGN, PRIMARY, BARE = range(1, 11)


@dataclass(frozen=True, slots=True)
class Rest:
    """All further children at one level, with commas."""

    level: int = OR


@dataclass(frozen=True, slots=True)
class PrintForm:
    """How a node is printed: a string is printed, a level takes the next child, WORD is the node's own word."""

    level: int
    pieces: tuple[str | int | Rest, ...]
    fewest: int = 0  # children that must stay where a Rest could lose some


WORD: Final = "<word>"
_KEYWORDS: Final = frozenset(
    "ALL AND ANY AS BETWEEN BOTH CASE DISTINCT DIV ELSE FOR FROM ILIKE IN IS LEADING LIKE NOT OR REGEXP RLIKE "
    "SELECT SOME THEN TRAILING WHEN WHERE".split()
)

FORMS: Final[dict[str, PrintForm]] = {
    "literal": PrintForm(PRIMARY, ()),
    "column": PrintForm(PRIMARY, ()),
    "or": PrintForm(OR, (OR, "OR", AND)),
    "and": PrintForm(AND, (AND, "AND", NOT)),
    "not": PrintForm(NOT, (WORD, NOT)),
    "compare": PrintForm(COMPARISON, (COMPARISON, WORD, SUM)),
    "between": PrintForm(PREDICATE, (COMPARISON, WORD, COMPARISON, "AND", COMPARISON)),
    "in": PrintForm(PREDICATE, (COMPARISON, WORD, "(", Rest(), ")"), fewest=2),
    "like": PrintForm(PREDICATE, (COMPARISON, WORD, COMPARISON)),
    "like escape": PrintForm(PREDICATE, (COMPARISON, WORD, COMPARISON, "ESCAPE", BARE)),
    "like list": PrintForm(PREDICATE, (COMPARISON, WORD, "(", Rest(), ")"), fewest=2),
    "is": PrintForm(PREDICATE, (COMPARISON, WORD)),
    "distinct": PrintForm(PREDICATE, (COMPARISON, WORD, COMPARISON)),
    "sum": PrintForm(SUM, (SUM, WORD, PRODUCT)),
    "product": PrintForm(PRODUCT, (PRODUCT, WORD, SIGN)),
    "sign": PrintForm(SIGN, (WORD, SIGN)),
    "call": PrintForm(PRIMARY, (WORD, "(", Rest(), ")"), fewest=1),
    "call list": PrintForm(PRIMARY, (WORD, "(", Rest(), ")"), fewest=2),
    "cast": PrintForm(PRIMARY, ("CAST", "(", OR, "AS", WORD, ")")),
    "try cast": PrintForm(PRIMARY, ("TRY_CAST", "(", OR, "AS", WORD, ")")),
    "case": PrintForm(PRIMARY, (), fewest=2),
    "case value": PrintForm(PRIMARY, (), fewest=3),
    "index": PrintForm(PRIMARY, (PRIMARY, "[", COMPARISON, "]")),
    "field": PrintForm(PRIMARY, (PRIMARY, ".", WORD)),
    "substring from": PrintForm(
        PRIMARY, ("SUBSTRING", "(", COMPARISON, "FROM", COMPARISON, "FOR", COMPARISON, ")")
    ),
    "trim from": PrintForm(PRIMARY, ("TRIM", "(", WORD, COMPARISON, "FROM", COMPARISON, ")")),
}


def statement_text(statement: Statement, *, full: bool = False) -> str:
    """The whole query; `full` puts parentheses around everything, for engines with another precedence.

    >>> a = ExpressionTree("column", "int", (), "i32")
    >>> statement_text(Statement(ExpressionTree("compare", "boolean", (a, a), "<"), alias="e"))
    'SELECT * FROM everything e WHERE i32 < i32'
    """
    printer = _StatementPrinter(statement, full)
    printer.whole()
    return printer.join()


def where_text(statement: Statement, *, full: bool = False) -> str:
    """Only the condition, in the style of its statement; `true` where there is none."""
    return "true" if statement.where is None else expression_text(statement, statement.where, full=full)


def expression_text(statement: Statement, node: ExpressionTree, *, full: bool = False) -> str:
    """One expression in the style of its statement."""
    printer = _StatementPrinter(statement, full)
    printer.node(node, OR)
    return printer.join()


class _StatementPrinter:
    """Collects tokens; each is a word whose case is free, or raw text."""

    def __init__(self, statement: Statement, full: bool = False) -> None:
        self.statement = statement
        self.full = full
        self.tokens: list[str] = []
        self.random = None if statement.style is None else random.Random(statement.style)
        self.odd = self.random is not None and self.random.random() < 0.3  # odd spaces and comments

    def chance(self, probability: float) -> bool:
        return self.random is not None and self.random.random() < probability

    def word(self, word: str) -> None:
        if self.chance(0.15):
            word = word.swapcase() if self.chance(0.5) else word.title()
        self.tokens += word.split(" ")

    def whole(self) -> None:
        self.word("SELECT")
        if self.chance(0.05):
            self.word("ALL")
        for i, (node, name) in enumerate(self.statement.outputs):
            self.tokens += [","] * bool(i)
            self.node(node, OR)
            if name:
                if not self.chance(0.2):
                    self.word("AS")
                self.tokens.append(name)
        if not self.statement.outputs:
            self.tokens.append("*")
        self.word("FROM")
        self.tokens.append(self.statement.stream)
        if self.statement.alias:
            if self.chance(0.5):
                self.word("AS")
            self.tokens.append(self.statement.alias)
        if self.statement.where is not None:
            self.word("WHERE")
            self.node(self.statement.where, OR)

    def node(self, node: ExpressionTree, level: int) -> None:
        form = FORMS[node.form]
        needed = form.level < (PRIMARY if self.full else level)
        parentheses = 0 if level == BARE else needed + self.chance(0.06)
        if node.form == "literal" and self.tokens and self.tokens[-1] == "-":
            parentheses = 0  # - 5 is a number, - (5) an operation, which fails where the number has 38 digits
        self.tokens += ["("] * parentheses
        if node.form == "literal":
            self.tokens.append(node.word)
        elif node.form == "column":
            self.column(node.word)
        elif node.form.startswith("case"):
            self.case(node)
        else:
            self.pieces(node, form)
        self.tokens += [")"] * parentheses

    def pieces(self, node: ExpressionTree, form: PrintForm) -> None:
        children = iter(node.children)
        for piece in form.pieces:
            if isinstance(piece, int):
                self.node(next(children), piece)
            elif isinstance(piece, Rest):
                for i, child in enumerate(children):
                    self.tokens += [","] * bool(i)
                    self.node(child, piece.level)
            else:
                self.word(node.word if piece == WORD else piece)

    def case(self, node: ExpressionTree) -> None:
        children = list(node.children)
        self.word("CASE")
        if node.form == "case value":
            self.node(children.pop(0), OR)
        while len(children) > 1:
            self.word("WHEN")
            self.node(children.pop(0), OR)
            self.word("THEN")
            self.node(children.pop(0), OR)
        if children:
            self.word("ELSE")
            self.node(children[0], OR)
        self.word("END")

    def column(self, name: str) -> None:
        if self.chance(0.1):
            name = name.swapcase()
        if not name.replace("_", "").isalnum() or self.chance(0.05):
            name = f"`{name}`"
        if self.chance(0.1):
            name = f"{self.statement.alias or self.statement.stream}.{name}"
        self.tokens.append(name)

    def join(self) -> str:
        """All tokens with a space between them where one is needed, or with odd ones."""
        text = ""
        for before, token in zip(["", *self.tokens], self.tokens, strict=False):
            text += self.gap(before, token) + token
        return text

    def gap(self, before: str, token: str) -> str:
        if not before:
            return ""
        if token == "." or before == ".":
            return ""
        if self.odd and self.chance(0.2):
            assert self.random is not None, "only a style is odd"
            return self.random.choice(
                ("\n", "\t", "  ", "\r\n", " /* c */ ", " -- it's\n", " /**/ ", "\n\n  ")
            )
        if (
            token == "(" and before[-1].isalnum()
        ):  # after a function none, after a keyword one; both mean the same
            tight = (before.upper() in _KEYWORDS) == self.chance(0.1)
        else:
            tight = before in "([" or token in ")],["
        return "" if tight else " "
