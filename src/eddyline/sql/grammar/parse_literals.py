"""Literals in the text: numbers with their sign, strings that stand side by side, intervals."""

from __future__ import annotations

from collections.abc import Callable

from eddyline.errors import Span
from eddyline.model import types as t
from eddyline.sql.grammar import literals
from eddyline.sql.grammar import syntax as s
from eddyline.sql.grammar.cursor import Cursor
from eddyline.sql.grammar.tokens import NUMBER, RAW_STRING, STRING, WORD, Token


class LiteralParser(Cursor):
    """Parses what stands for itself."""

    def number(self) -> s.Node:
        negative = self.take_symbol("-")
        first = self.previous if negative else self.peek
        token = self.advance()
        return self.literal(token, lambda: literals.number(token.text, negative), first)

    def literal(
        self, token: Token, read: Callable[[], tuple[object, t.DataType]], first: Token | None = None
    ) -> s.Node:
        try:
            value, kind = read()
        except literals.BadLiteral as error:
            self.fail(str(error), token=token)
        return s.Constant(Span((first or token).start, token.end), value, kind)

    def string(self) -> str:
        """One or several adjacent string literals; two that touch had a doubled quote between them."""
        parts: list[str] = []
        before: Token | None = None
        while self.peek.kind in (STRING, RAW_STRING):
            token = self.advance()
            source = self.source(token)
            if token.kind == RAW_STRING:
                parts.append(source[2:-1])
            else:
                if before is not None and before.end == token.start and self.sql[before.end - 1] == source[0]:
                    parts.append(source[0])
                parts.append(literals.unescape(source[1:-1]))
            before = token
        return literals.join_surrogates("".join(parts))

    def interval(self) -> s.Node:
        start = self.advance()
        parts: list[tuple[str, str]] = []
        amount: tuple[int, t.DataType, bool] | None = None
        try:
            while self.peek.kind in (STRING, RAW_STRING, NUMBER) or (
                self.peek.text in ("-", "+") and not parts
            ):
                text = self._interval_value()
                unit = literals.unit(self.peek.text) if self.peek.kind == WORD else None
                if unit is None:
                    parts += self._units_in_text(text)
                    continue
                self.advance()
                if self.take_word("TO"):
                    last = literals.unit(self.advance().text) or ""
                    amount = literals.interval_range(text, unit, last)
                    break
                parts.append((text, unit))
            value, kind, days_only = amount or literals.interval(parts)
        except literals.BadLiteral as error:
            self.fail(str(error), token=start)
        return s.Interval(Span(start.start, self.previous.end), value, kind, days_only)

    def _interval_value(self) -> str:
        if self.peek.kind in (STRING, RAW_STRING):
            return self.string()
        sign = self.advance().text if self.peek.text in ("-", "+") else ""
        inner = self.string() if self.peek.kind in (STRING, RAW_STRING) else self.advance().text
        return inner if sign != "-" else inner[1:] if inner.startswith("-") else f"-{inner}"

    def _units_in_text(self, text: str) -> list[tuple[str, str]]:
        """INTERVAL '1 day 2 hours': values and units inside the string."""
        words = text.lower().removeprefix("interval").split()
        units = [literals.unit(word) for word in words[1::2]]
        if not words or len(words) % 2 or None in units:
            raise literals.BadLiteral("an interval wants a unit, such as INTERVAL 5 MINUTES")
        return [(value, unit) for value, unit in zip(words[0::2], units, strict=True) if unit is not None]
