"""Expressions bound: names looked up, types settled, every coercion made explicit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NoReturn, TypeVar

from eddyline.errors import QueryError, Span
from eddyline.functions import comparison, fold, table
from eddyline.functions.arithmetic import DayInterval, arithmetic
from eddyline.functions.casts import explicit_cast
from eddyline.functions.coercion import TypeMismatch
from eddyline.functions.context import Context
from eddyline.functions.special_times import EPOCH, special_time
from eddyline.model import types as t
from eddyline.model.expression import (
    EXTERNAL,
    SPARK_TEXT,
    Call,
    Expression,
    Literal,
    Parameter,
    externals_of,
    is_constant,
    parameters_of,
)
from eddyline.model.query import Output
from eddyline.sql import refused
from eddyline.sql.grammar import syntax as s
from eddyline.sql.operators import OTHER_OPERATORS, culprit
from eddyline.sql.resolver import Resolver
from eddyline.sql.scope import NameMistake, Scope, did_you_mean
from eddyline.sql.spark_only.rewriting import NotReadable
from eddyline.sql.spark_only.spark_text import MOST_ARGUMENTS, check_text

Given = TypeVar("Given")
Found = TypeVar("Found")
# Constants that shall become parameters: place where the text ends -> (place where it starts, number).
Parameters = dict[int, tuple[int, int]]
MAX_ATTEMPTS: Final = 20  # pieces of one query that Spark is asked about: each costs it milliseconds

_ARITHMETIC: Final = frozenset({"add", "sub", "mul", "div", "int_div", "mod"})
_COMPARISON: Final = frozenset({"eq", "lt", "le", "gt", "ge", "null_safe_eq"})
_TIMED: Final = {
    "DATE": t.DATE,
    "TIMESTAMP": t.TIMESTAMP,
    "TIMESTAMP_LTZ": t.TIMESTAMP,
    "TIMESTAMP_NTZ": t.TIMESTAMP_NTZ,
}


class ReadsClock(QueryError):
    """Understood, and refused: Spark would take it, and answer otherwise tomorrow."""


class Binder:
    """Binds the expressions of one query; the methods follow the kinds of syntax nodes."""

    def __init__(
        self,
        sql: str,
        scope: Scope,
        context: Context,
        resolver: Resolver | None,
        parameters: Parameters,
        spans: Mapping[int, Span],
    ) -> None:
        self._sql = sql
        self._scope = scope
        self._context = context
        self._resolver = resolver
        self._parameters = parameters
        self._spans = spans
        self._attempts = MAX_ATTEMPTS
        self._looked_at: dict[int, Expression] = {}
        self._bind_node: dict[type[s.Node], Callable[..., Expression]] = {
            s.Name: self._name,
            s.Constant: self._constant,
            s.Timed: self._timed,
            s.Interval: self._interval,
            s.Operator: self._operator,
            s.Pattern: self._pattern,
            s.Apply: self._apply,
            s.CastTo: self._cast,
            s.Case: self._case,
            s.Subscript: self._subscript,
            s.FieldOf: self._field_of,
            s.Foreign: self._foreign,
        }

    def condition(self, node: s.Node, what: str) -> Expression:
        """A boolean expression, as WHERE and ON want it."""
        bound = self.piece(node)
        if bound.type not in (t.BOOLEAN, t.VOID):
            self._fail(f"{what} wants a condition, not {bound.type}", node.span, "compare it with something")
        return comparison.condition(bound, what)

    def merged(self, name: s.Name, columns: Callable[[str], tuple[Expression, Expression]]) -> Expression:
        """The equality that a name of USING stands for; `columns` gives both sides of it."""
        left, right = self._looked_up(columns, name.parts[0], name.span)
        try:
            return comparison.compare("eq", left, right, self._context)
        except TypeMismatch as error:
            self._fail(error.message, name.span, error.hint)

    def expression(self, node: s.Node) -> Expression:
        """Any expression; a `TypeMismatch` below becomes an error at the place of its operation."""
        try:
            return self._with_moments(self._bind_node[type(node)](node), node)
        except TypeMismatch as error:
            self._fail(error.message, culprit(node, error.argument), error.hint)

    def _with_moments(self, expression: Expression, node: s.Node) -> Expression:
        """With casts of constant text to times replaced where the text is a word such as `epoch`.

        Operands were looked at when they were bound, so only what this node has put around them is new.
        """
        if not isinstance(expression, Call) or id(expression) in self._looked_at:
            return expression
        arguments = tuple([self._with_moments(argument, node) for argument in expression.arguments])
        if any(new is not old for new, old in zip(arguments, expression.arguments, strict=True)):
            expression = Call(expression.function, arguments, expression.type)
        text = self._constant_text(expression)
        word = None if text is None else special_time(text)
        if text is not None and word is not None:
            return self._moment(text, word, expression.type, node)
        self._looked_at[id(expression)] = expression  # kept, so that no other object gets its id
        return expression

    def _constant_text(self, expression: Call) -> str | None:
        """The text that is cast to a time, if it is known already."""
        if expression.function not in ("cast", "try_cast") or expression.type not in _TIMED.values():
            return None
        operand = expression.arguments[0]
        if operand.type != t.STRING or not is_constant(operand) or externals_of(operand):
            return None
        if not isinstance(operand, Literal):
            self._context.pinned |= parameters_of(operand)
            operand = fold.fold(operand, self._context.time_zone)
        return None if operand.value is None else str(operand.value)

    def _moment(self, text: str, word: str, kind: t.DataType, node: s.Node) -> Literal:
        if word != EPOCH:
            reason = refused.SPECIAL_TIME
            raise ReadsClock(
                f"{text!r}: {reason.message}", sql=self._sql, span=node.span, hint=reason.instead
            )
        return Literal(0, kind)

    def piece(self, node: s.Node) -> Expression:
        """An operand of AND or OR, a condition, an item: where it cannot be bound, Spark may know what it means."""
        try:
            return self.expression(node)
        except ReadsClock:
            raise
        except QueryError as problem:
            span = self._spans.get(id(node))
            if span is None or self._resolver is None or not self._resolver.judges:
                raise
            return self._by_spark(span, problem, isinstance(node, s.Foreign))

    def outputs(self, items: tuple[s.Item, ...]) -> tuple[Output, ...]:
        """The SELECT list with names; `*` stands for every column."""
        stars = self._stars(items)
        if stars and len(items) == 1:
            return stars[0]
        found: list[Output] = []
        following = iter(stars)
        for item in items:
            if isinstance(item.expression, s.Star):
                found += next(following)
            else:
                found.append(Output(self._output_name(item), self.piece(item.expression)))
        self._refuse_repeated([output.name for output in found], items)
        return tuple(found)

    def _stars(self, items: tuple[s.Item, ...]) -> list[tuple[Output, ...]]:
        stars = [item.expression for item in items if isinstance(item.expression, s.Star)]
        found = [self._looked_up(self._scope.star, star.qualifier, star.span) for star in stars]
        return self._looked_up(self._scope.tell_apart, found, _cover(items))

    def _output_name(self, item: s.Item) -> str:
        if item.alias is not None:
            return item.alias
        if isinstance(item.expression, s.Name):
            return item.expression.parts[-1]
        if isinstance(item.expression, s.FieldOf):
            return item.expression.name
        span = item.expression.span
        return self._sql[span.start : span.end]

    def _refuse_repeated(self, names: list[str], items: tuple[s.Item, ...]) -> None:
        seen: set[str] = set()
        for name in names:
            if name.lower() in seen:
                self._fail(
                    f'two outputs are called "{name}"', _cover(items), "give one of them another name with AS"
                )
            seen.add(name.lower())

    def _name(self, node: s.Name) -> Expression:
        name = node.parts[0]
        column: Expression
        try:
            column, rest = self._scope.find(node.parts)
        except NameMistake as error:
            if len(node.parts) == 1 and name.lower() in refused.FUNCTIONS:
                self._refuse(refused.FUNCTIONS[name.lower()], node.span)
            self._fail(error.message, node.span, error.hint)
        for field in rest:
            column = table.field(column, field)
        return column

    def _constant(self, node: s.Constant) -> Expression:
        start, number = self._parameters.get(node.span.end, (-1, -1))
        # A sign in front belongs to the constant; anything else in front (an adjacent string) makes it another one.
        if number >= 0 and (node.span.start == start or self._sql[node.span.start] == "-"):
            return Parameter(node.value, node.type, number)
        return Literal(node.value, node.type)

    def _timed(self, node: s.Timed) -> Expression:
        kind, word = _TIMED[node.word], special_time(node.text)
        if word is not None:
            return self._moment(node.text, word, kind, node)
        value = fold.fold(Call("cast", (Literal(node.text, t.STRING),), kind), self._context.time_zone)
        if value.value is None:
            example = "DATE'2026-01-31'" if kind == t.DATE else f"{node.word}'2026-01-31 12:00:00'"
            self._fail(f"{node.text!r} is not a {kind}", node.span, f"write it as {example}")
        return value

    def _interval(self, node: s.Interval) -> Expression:
        if node.days_only:
            return DayInterval(node.amount, node.type)
        return Literal(node.amount, node.type)

    def _operator(self, node: s.Operator) -> Expression:
        name = node.name
        if name in ("and", "or"):
            parts = comparison.conditions([self.piece(part) for part in node.operands], name.upper())
            return comparison.conjunction(parts) if name == "and" else comparison.disjunction(parts)
        operands = tuple(self.expression(operand) for operand in node.operands)
        if name in _COMPARISON:
            return comparison.compare(name, operands[0], operands[1], self._context)
        if name in _ARITHMETIC:
            return arithmetic(name, operands[0], operands[1], self._context)
        return OTHER_OPERATORS[name](operands, self._context)

    def _pattern(self, node: s.Pattern) -> Expression:
        operand = self.expression(node.operand)
        make = table.like if node.word == "like" else table.ilike
        parts = tuple(make(operand, self.expression(pattern), node.escape) for pattern in node.patterns)
        if node.negated:
            parts = tuple(comparison.negation(part) for part in parts)
        return comparison.conjunction(parts) if node.quantifier == "all" else comparison.disjunction(parts)

    def _apply(self, node: s.Apply) -> Expression:
        name = node.name.lower()
        function = table.FUNCTIONS.get(name)
        if function is None:
            return self._unknown_function(name, node)
        count = len(node.arguments)
        if not function.least <= count <= function.most:
            self._fail(
                f"{function.name} is called as {function.signature}, not with {_arguments(count)}", node.span
            )
        arguments = tuple(self.expression(argument) for argument in node.arguments)
        return function.build(arguments, self._context)

    def _unknown_function(self, name: str, node: s.Apply) -> Expression:
        if name in refused.FUNCTIONS:
            self._refuse(refused.FUNCTIONS[name], node.name_span)
        arguments = tuple(self.expression(argument) for argument in node.arguments)
        if len(arguments) > MOST_ARGUMENTS.get(name, len(arguments)):
            self._refuse(refused.OPTIONS, node.name_span)
        try:
            kind = None if self._resolver is None else self._resolver.call(name, arguments)
        except QueryError as error:
            self._fail(error.message, node.span, error.hint)
        if kind is None:
            hint = did_you_mean(name, table.FUNCTIONS) or "docs/sql.md lists the accepted functions"
            self._fail(f'function "{node.name}" is not known', node.name_span, hint)
        return Call(EXTERNAL + name, arguments, kind)

    def _cast(self, node: s.CastTo) -> Expression:
        return explicit_cast(self.expression(node.operand), node.type, lenient=node.lenient)

    def _case(self, node: s.Case) -> Expression:
        operand = None if node.operand is None else self.expression(node.operand)
        branches: list[tuple[Expression, Expression]] = []
        for test, value in node.branches:
            bound = self.expression(test)
            if operand is not None:
                bound = comparison.compare("eq", operand, bound, self._context)
            elif bound.type != t.BOOLEAN:
                self._fail(
                    f"CASE WHEN wants a condition, not {bound.type}", test.span, "compare it with something"
                )
            branches.append((bound, self.expression(value)))
        otherwise = None if node.otherwise is None else self.expression(node.otherwise)
        return table.case(tuple(branches), otherwise)

    def _subscript(self, node: s.Subscript) -> Expression:
        return table.element(self.expression(node.base), self.expression(node.key))

    def _field_of(self, node: s.FieldOf) -> Expression:
        return table.field(self.expression(node.base), node.name)

    def _foreign(self, node: s.Foreign) -> Expression:
        return self._by_spark(node.span, node.problem, True)

    def _by_spark(self, span: Span, problem: QueryError, unread: bool) -> Expression:
        """A piece of the text as Spark understands it; if it does not, `problem` or what is more to the point."""
        self._attempts -= 1
        if self._resolver is None or self._attempts < 0:
            raise problem
        text, scope = self._sql[span.start : span.end], self._scope
        try:
            known = check_text(
                text, scope.columns, functions=self._resolver.functions, qualifiers=scope.qualifiers
            )
            kind = self._resolver.expression(known)
        except NotReadable:
            raise problem from None
        except QueryError as error:
            if not unread:
                raise problem from None
            found = error.span or Span(0, len(text))
            self._fail(error.message, Span(span.start + found.start, span.start + found.end), error.hint)
        return Call(SPARK_TEXT, (Literal(known.text, t.STRING), *known.columns), kind)

    def _looked_up(self, look_up: Callable[[Given], Found], name: Given, span: Span) -> Found:
        """What the scope says of a name; a mistake becomes an error at this place."""
        try:
            return look_up(name)
        except NameMistake as error:
            self._fail(error.message, span, error.hint)

    def _refuse(self, reason: refused.Refusal, span: Span) -> NoReturn:
        name = self._sql[span.start : span.end]
        self._fail(f"{name}: {reason.message}", span, reason.instead)

    def _fail(self, message: str, span: Span, hint: str | None = None) -> NoReturn:
        raise QueryError(message, sql=self._sql, span=span, hint=hint)


def _cover(items: tuple[s.Item, ...]) -> Span:
    """The place of a whole SELECT list."""
    return Span(items[0].expression.span.start, items[-1].expression.span.end)


def _arguments(count: int) -> str:
    return "one argument" if count == 1 else f"{count} arguments" if count else "no argument"
