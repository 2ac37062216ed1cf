"""Expressions that only Spark can read: checked token by token, and written anew from the tokens.

What is handed to Spark is never the text that came in, but one that says the same in a form of which every part is
known: names are columns of the stream (in backticks), variables of a lambda around them, or fields below one of these;
functions are those that queries may use; texts are constants of ours. So nothing can be slipped in that we read
otherwise than Spark does (comments, quotes, `${...}`), and nothing that is not the query's own: subqueries, session
variables, hidden columns, functions of the catalog, names made at run time (IDENTIFIER).

    exists(Tags, t -> t = "x")    becomes    exists ( `tags` , `t` -> `t` = 'x' )
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from eddyline.errors import QueryError
from eddyline.functions import table
from eddyline.model.expression import Column
from eddyline.sql import refused
from eddyline.sql.grammar.tokens import END, HEX, NUMBER, QUOTED, RAW_STRING, STRING, SYMBOL, WORD, Token
from eddyline.sql.render import HIDING, TRY_FUNCTIONS, text_literal
from eddyline.sql.spark_only import words
from eddyline.sql.spark_only.rewriting import TokenWriter, quoted

_SPECIAL_TIME: Final = re.compile(r"\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)
# Functions that can read a file, if they are given options.
MOST_ARGUMENTS: Final = {"from_xml": 2, "schema_of_xml": 1, "from_avro": 2, "schema_of_avro": 1}


@dataclass(frozen=True, slots=True)
class SparkText:
    """A checked expression: its text, the columns that it reads, the functions that it calls."""

    text: str
    columns: tuple[Column, ...]
    functions: tuple[str, ...]


@dataclass(slots=True)
class _Bracket:
    """An open bracket: the function in front of it ("" for none), and how many arguments it has so far."""

    function: str
    arguments: int = 1


def check_text(
    text: str,
    columns: Mapping[str, Column],
    *,
    functions: Collection[str],
    qualifiers: Collection[str] = (),
    spell: Callable[[Column], str] | None = None,
    try_forms: bool = False,
) -> SparkText:
    """An expression in the form that Spark gets, or a `QueryError` at what it must not contain.

    `columns` are by their names in lower case, `functions` the names allowed besides those of the table; `spell` says
    what stands for a column, its quoted name if not given; with `try_forms` functions give NULL instead of failing,
    where Spark has such a form.

    >>> from eddyline.model.types import INT
    >>> check_text("A & 3 = 1 -- odd", {"a": Column("a", INT)}, functions=()).text
    '`a` & 3 = 1'
    """
    return _SparkTextWriter(text, columns, functions, qualifiers, spell or _quoted_column, try_forms).write()


def _quoted_column(column: Column) -> str:
    return quoted(column.name)


class _SparkTextWriter(TokenWriter):
    """Goes through the tokens once."""

    def __init__(
        self,
        sql: str,
        columns: Mapping[str, Column],
        functions: Collection[str],
        qualifiers: Collection[str],
        spell: Callable[[Column], str],
        try_forms: bool,
    ) -> None:
        super().__init__(sql)
        self._columns, self._functions, self._qualifiers = columns, functions, qualifiers
        self._spell, self._try_forms = spell, try_forms
        self._found: dict[Column, None] = {}
        self._called: dict[str, None] = {}
        self._open: list[_Bracket] = []
        self._lambdas: list[tuple[int, dict[str, str]]] = []  # depth of each, and its variables

    def write(self) -> SparkText:
        while self.peek.kind != END:
            self._next(self.peek)
        if self._open or not self._operand:
            self._unreadable(self.peek)
        return SparkText(" ".join(self._pieces), tuple(self._found), tuple(self._called))

    def _next(self, token: Token) -> None:
        if token.kind in (STRING, RAW_STRING):
            self._value(text_literal(self.string()))
        elif token.kind in (NUMBER, HEX):
            self._constant(token)
        elif token.kind == SYMBOL:
            self._symbol(token)
        elif token.kind == QUOTED:
            self._lambda([token]) if self.ahead(1).text == "->" else self._name(token)
        else:
            self._word(token)

    # Symbols

    def _symbol(self, token: Token) -> None:
        text = token.text
        if text == "(":
            self._parenthesis(token)
        elif text == "[" and self._operand:
            self._bracket("[", self.advance())
        elif text in (")", "]"):
            self._close(token)
        elif text == ",":
            self._comma(token)
        elif text == "." and self._operand:
            self._field()
        elif text == "::" and self._operand:
            self.advance()
            self._pieces.append("::")
            self._type()
        elif text in words.OPERATORS and (self._operand or text in words.SIGNS):
            self._operator(self._glued(self.advance()))
        else:
            self._unreadable(token)

    def _glued(self, token: Token) -> str:
        """The operator that starts here: << and >> and >>> come in pieces."""
        text = token.text
        while text + self.peek.text in words.GLUED and self.peek.start == self.previous.end:
            text += self.advance().text
        return text

    def _bracket(self, function: str, token: Token) -> None:
        self._open.append(_Bracket(function))
        self._operator(token.text)

    def _parenthesis(self, token: Token) -> None:
        names = self._variables()
        if self._operand:
            self._unreadable(token)
        elif names:
            for _ in range(2 * len(names)):
                self.advance()
            self._lambda(names)
        else:
            self._bracket("", self.advance())

    def _variables(self) -> list[Token]:
        """The names in `(x, y) ->`, if that is what follows."""
        names: list[Token] = []
        while self.ahead(2 * len(names) + 1).kind in (WORD, QUOTED):
            names.append(self.ahead(2 * len(names) + 1))
            if self.ahead(2 * len(names)).text != ",":
                break
        closed = self.ahead(2 * len(names)).text == ")" and self.ahead(2 * len(names) + 1).text == "->"
        return names if names and closed else []

    def _lambda(self, names: list[Token]) -> None:
        """Variables and arrow; the cursor stands before the last token in front of the arrow."""
        if self._operand or not self._open or not self._open[-1].function:
            self._unreadable(names[0])
        spelled = [self.spelled(token) for token in names]
        self._lambdas.append((len(self._open), {name.lower(): name for name in spelled}))
        self.advance()
        self.advance()
        listed = " , ".join(map(quoted, spelled))
        self._operator(f"( {listed} ) ->" if len(names) > 1 else f"{listed} ->")

    def _close(self, token: Token) -> None:
        wanted = "]" if self._open and self._open[-1].function == "[" else ")"
        empty = (
            bool(self._pieces) and self._pieces[-1] == "(" and bool(self._open and self._open[-1].function)
        )
        if not self._open or token.text != wanted or not (self._operand or empty):
            self._unreadable(token)
        if empty and self._open[-1].function == "unix_timestamp":
            self.refuse(refused.CLOCK, token)
        self.advance()
        self._open.pop()
        self._end_lambdas(len(self._open) + 1)
        self._operand = False
        self._value(token.text)

    def _comma(self, token: Token) -> None:
        if not self._open or not self._operand:
            self._unreadable(token)
        self.advance()
        self._end_lambdas(len(self._open))
        bracket = self._open[-1]
        bracket.arguments += 1
        if bracket.arguments > MOST_ARGUMENTS.get(bracket.function, bracket.arguments):
            self.refuse(refused.OPTIONS, token)
        self._operator(",")

    def _end_lambdas(self, depth: int) -> None:
        while self._lambdas and self._lambdas[-1][0] >= depth:
            self._lambdas.pop()

    def _field(self) -> None:
        self.advance()
        token = self.advance()
        if token.kind not in (WORD, QUOTED) or self.peek.text == "(":
            self._unreadable(token)
        self._pieces[-1] += "." + quoted(self.spelled(token))

    # Words

    def _word(self, token: Token) -> None:
        word, following = token.text, self.ahead(1)
        if self._in_context(token, following):
            return
        if word in words.KEYWORDS:
            self.advance()
            self._operator(word)
            self._operand = word == "END"
        elif word in words.VALUES:
            self.advance()
            self._value(word)
        elif following.text == "(" and following.kind == SYMBOL:
            self._call(token)
        elif following.text == "->":
            self._lambda([token])
        else:
            self._name(token)

    def _in_context(self, token: Token, following: Token) -> bool:
        """Take a word that means something only in this place; False where it means nothing here."""
        word, function = token.text, self._open[-1].function if self._open else ""
        first = bool(self._open) and self._pieces[-1] == "("
        if word in words.TYPED and following.kind in (STRING, RAW_STRING):
            self.advance()
            text = self.string()
            if _SPECIAL_TIME.match(text):
                self.refuse(refused.CLOCK, token)
            self._value(f"{word} {text_literal(text)}")
        elif word == "INTERVAL" and (
            following.kind in (STRING, RAW_STRING, NUMBER) or following.text in ("+", "-")
        ):
            self._interval()
        elif (
            first and function in words.TAKES_UNIT and word in words.UNITS and following.text in (",", "FROM")
        ):
            self.advance()
            self._value(word)
        elif (first and function == "trim" and word in words.SIDES) or function in words.INFIX.get(word, ()):
            self._operator(self.advance().text)
        elif word == "DISTINCT" and self.previous.text in ("IS", "NOT") and following.text == "FROM":
            self.advance()
            self._operator(f"DISTINCT {self.advance().text}")
        elif word in ("ANY", "SOME", "ALL") and self.previous.text in ("LIKE", "ILIKE"):
            self._operator(self.advance().text)
        elif word == "AS" and self._operand and function:
            self._as(function)
        elif word == "COLLATE" and self._operand:
            self.advance()
            self._pieces.append(f"COLLATE {self._plain(self.advance())}")
        elif following.text == "=>" and function and not self._operand:
            self.advance()
            self.advance()
            self._operator(f"{self._plain(token)} =>")
        else:
            return False
        return True

    def _as(self, function: str) -> None:
        self.advance()
        self._pieces.append("AS")
        if function in ("cast", "try_cast"):
            self._type()
        elif self.peek.kind in (WORD, QUOTED):
            self._pieces.append(quoted(self.spelled(self.advance())))
        else:
            self._unreadable(self.peek)

    def _call(self, token: Token) -> None:
        name = self._plain(token).lower()
        if self._operand:
            self._unreadable(token)
        if name in refused.FUNCTIONS:
            reason = refused.FUNCTIONS[name]
            raise QueryError(f"{name}: {reason.message}", sql=self.sql, span=token.span, hint=reason.instead)
        known = name in table.FUNCTIONS or name in self._functions or name in words.GRAMMAR_FUNCTIONS
        if not known:
            hint = _close(name, [*table.FUNCTIONS, *self._functions])
            self.fail(f'function "{name}" is not known', token=token, hint=hint)
        if name not in table.FUNCTIONS:
            self._called[name] = None
        self.advance()
        safe = self._try_forms and name not in HIDING
        self._pieces.append(TRY_FUNCTIONS.get(name, name) if safe else name)
        self._bracket(name, self.advance())

    def _name(self, token: Token) -> None:
        """A variable of a lambda, or a column, perhaps behind the stream's name."""
        if self.ahead(1).text == "(" or self._operand:
            self._unreadable(token)
        name = self.spelled(token)
        for _, variables in reversed(self._lambdas):
            if name.lower() in variables:
                self.advance()
                self._value(quoted(variables[name.lower()]))
                return
        after = self.ahead(2)
        behind = self.ahead(1).text == "." and after.kind in (WORD, QUOTED)
        if name.lower() in self._qualifiers and behind and self.spelled(after).lower() in self._columns:
            self.advance()
            self.advance()
            name = self.spelled(after)
        column = self._columns.get(name.lower())
        if column is None:
            self._unknown(name, token)
        self.advance()
        self._found[column] = None
        self._value(self._spell(column))

    def _unknown(self, name: str, token: Token) -> NoReturn:
        if token.kind == WORD and token.text in words.QUERIES:
            is_exists = bool(self._open) and self._open[-1].function == "exists"
            self.refuse(refused.EXISTS if is_exists else refused.SUBQUERY, token)
        if name.lower() in refused.FUNCTIONS:
            self.refuse(refused.FUNCTIONS[name.lower()], token)
        names = [column.name for column in self._columns.values()]
        listed = f"its columns are {', '.join(names[:12])}"
        self.fail(f'the stream has no column "{name}"', token=token, hint=_close(name, names) or listed)


def _close(name: str, candidates: Iterable[str]) -> str | None:
    close = difflib.get_close_matches(name.lower(), list(candidates), n=1, cutoff=0.6)
    return f'did you mean "{close[0]}"?' if close else None
