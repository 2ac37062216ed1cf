"""Random joins over `orders` and `fills`: keys of all types and coercions, every form of time bound, sides, residuals, OR."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from eddyline.model.catalog import Stream
from eddyline.testing.joins.statements import ConditionTree, JoinStatement, leaf
from eddyline.testing.joins.streams import FILLS, ORDERS, JoinStreams

_NUMBERS: Final = ("i8", "i16", "i32", "i64", "f32", "f64", "d5", "d18")
_KEYS: Final = (
    "{a}.b1 {=} {b}.b1",
    "{a}.s1 {=} {b}.s1",
    "{a}.x1 {=} {b}.x1",
    "{a}.x1 {=} {b}.s1",
    "{a}.n1 {=} {b}.i32",
    "{a}.i64 {=} {b}.n1",
    "{a}.f64 {=} {b}.n1",
    "{a}.d5 {=} {b}.n1",
    "{a}.day1 {=} {b}.day1",
    "{a}.day1 {=} {b}.ts1",
    "{a}.ntz1 {=} {b}.ts1",
    "{a}.ts1 {=} {b}.t1",
    "{a}.t1 {=} {b}.day1",
    "{a}.i32 + 1 {=} {b}.i64",
    "{a}.i32 % 2 {=} {b}.i16 % 2",
    "lower({a}.s1) {=} lower({b}.s1)",
    "coalesce({a}.i32, 0) {=} coalesce({b}.i8, 0)",
    "cast({a}.n1 AS int) {=} {b}.i32",
    "{a}.day1 {=} date_add({b}.day1, 1)",
    "length({a}.s1) {=} {b}.i32",
    "{a}.f64 * 2 {=} {b}.f32",
    "({a}.i32 > 1) {=} {b}.b1",
)
_PLAIN_KEYS: Final = (
    "{a}.i32 {=} {b}.i32",
    "{a}.i32 {=} {b}.i64",
    "{a}.s1 {=} {b}.s1",
    "{a}.f64 {=} {b}.f64",
    "{a}.d5 {=} {b}.d5",
    "{a}.b1 {=} {b}.b1",
    "{a}.day1 {=} {b}.day1",
    "lower({a}.s1) {=} lower({b}.s1)",
    "{a}.i32 + 1 {=} {b}.i64",
)
_EQUALS: Final = ("=", "=", "=", "=", "==", "<=>", "IS NOT DISTINCT FROM")
_SIDES: Final = (
    "{a}.i32 > 0",
    "{a}.i32 = 1",
    "{a}.i32 IN (1, 2, NULL)",
    "{a}.i32 NOT IN (1, 2)",
    "{a}.i32 IS NULL",
    "{a}.f64 < 2.5",
    "{a}.f64 >= 1",
    "{a}.s1 = 'a'",
    "{a}.s1 LIKE 'a%'",
    "{a}.s1 IS NOT NULL",
    "{a}.d5 BETWEEN 0 AND 2.5",
    "{a}.day1 >= DATE'2020-03-28'",
    "{a}.b1",
    "NOT {a}.b1",
    "({a}.i32 > 1 OR {a}.s1 = 'b')",
    "{a}.i32 < {a}.i64",
    "{a}.i8 + {a}.i16 = 3",
    "{a}.i64 = 1",
    "1 = 1",
)
_ODD_SIDES: Final = (
    "isnan({a}.f64)",
    "cast({a}.f64 AS string) = '-0.0'",
    "{a}.n1 > 1",
    "{a}.x1 = X'61'",
    "{a}.ts1 > TIMESTAMP'2020-03-28 12:00:00'",
    "1 / {a}.i32 > 0",
    "2 = 1",
    "{a}.b1 IS NOT TRUE",
    "array_contains({a}.ai, 1)",
)
_RESIDUALS: Final = (
    "{b}.f64 > {a}.f64 * 1.5",
    "{a}.i32 + {b}.i32 < 5",
    "{a}.s1 < {b}.s1",
    "{a}.i32 <> {b}.i32",
    "NOT ({a}.i32 = {b}.i8)",
    "{a}.i64 BETWEEN {b}.i32 AND {b}.i64",
    "coalesce({a}.b1, {b}.b1)",
    "CASE WHEN {a}.b1 THEN {b}.i32 > 1 ELSE {a}.i32 > 1 END",
)
_ODD_RESIDUALS: Final = (
    "{a}.i32 / {b}.i32 > 1",
    "{a}.ai = {b}.ai",
    "array_contains({a}.ai, {b}.i32)",
    "{a}.n1 + {b}.i32 > 2",
    "concat({a}.s1, {b}.s1) LIKE 'a%'",
    "{a}.i32 IN ({b}.i32, {b}.i8, 3)",
    "({a}.i32 < {b}.i32) IS NOT TRUE",
    "{a}.s1 <=> {b}.s1",
)
_OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_ITEMS: Final = (
    "*",
    "a.*",
    "b.i64 AS own, a.i64",
    "a.i32 + b.i32 AS total, concat(a.s1, b.s1) AS both",
    "b.s1",
)
_WORDS: Final = ("JOIN", "JOIN", "INNER JOIN", ",")


def draw_join(
    random_: random.Random, streams: JoinStreams, *, plain: bool = False, unbounded: float = 0.0
) -> JoinStatement:
    """A join that is hardly ever refused; `unbounded` is the share of those that name no time bound.

    With `plain`, its text means the same to Spark and to DuckDB.
    """
    return _Drawer(random_, streams, plain).join(unbounded)


class _Drawer:
    """Draws the parts of one join."""

    def __init__(self, random_: random.Random, streams: JoinStreams, plain: bool) -> None:
        self.random, self.plain, self.scale = random_, plain, streams.scale
        names = random_.choice(((ORDERS, FILLS), (FILLS, ORDERS), (ORDERS, FILLS), (ORDERS, ORDERS)))
        self.names = (names[0], names[1])
        by_name = {ORDERS: streams.orders, FILLS: streams.fills}
        self.times = tuple(
            f"{alias}.{_time(by_name[name])}" for alias, name in zip("ab", self.names, strict=True)
        )

    def join(self, unbounded: float) -> JoinStatement:
        is_bounded = self.random.random() >= unbounded
        conditions = [self.key() for _ in range(self.random.choice((1, 1, 1, 1, 1, 1, 2, 3)))]
        conditions += self.bounds() if is_bounded else []
        if self.chance(0.15):
            conditions = [self.either(is_bounded)]
        conditions += [self.other() for _ in range(self.random.choice((0, 0, 1, 1, 1, 2, 3)))]
        self.random.shuffle(conditions)
        parted = self.random.randint(1, len(conditions))
        word, items = self.random.choice(_WORDS), self.random.choice(_ITEMS)
        if self.chance(0.08):
            using = tuple(self.random.sample(("i32", "s1", "b1", "f64"), self.random.randint(1, 2)))
            return JoinStatement(self.names, (), tuple(conditions), using, items=items)
        on, where = tuple(conditions[:parted]), tuple(conditions[parted:])
        return JoinStatement(self.names, on, where, (), word, items)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def key(self) -> ConditionTree:
        if self.plain:
            return self.filled(_PLAIN_KEYS)
        if self.chance(0.4):
            one, other = self.random.choice(_NUMBERS), self.random.choice(_NUMBERS)
            return self.filled((f"{{a}}.{one} {{=}} {{b}}.{other}",))
        if self.chance(0.06):
            one, other = self.turned()
            return ConditionTree("NOT", (leaf(f"{one}.i32 <> {other}.i32"),))
        return self.filled(_KEYS)

    def turned(self) -> tuple[str, str]:
        return ("a", "b") if self.chance(0.5) else ("b", "a")

    def filled(self, forms: Sequence[str]) -> ConditionTree:
        one, other = self.turned()
        equals = ("=", "=", "IS NOT DISTINCT FROM") if self.plain else _EQUALS
        text = self.random.choice(forms).replace("{a}", one).replace("{b}", other)
        return leaf(text.replace("{=}", self.random.choice(equals)))

    def side(self) -> ConditionTree:
        return self.filled(_SIDES if self.plain else (*_SIDES, *_ODD_SIDES))

    def residual(self) -> ConditionTree:
        return self.filled(_RESIDUALS if self.plain else (*_RESIDUALS, *_ODD_RESIDUALS))

    def other(self) -> ConditionTree:
        """A side, a residual, or an OR of some; now and then a large one."""
        draw = self.random.random()
        if draw < 0.5:
            return self.side()
        if draw < 0.7:
            return self.residual()
        count = self.random.randint(17, 20) if draw > 0.98 else self.random.randint(2, 4)
        parts = tuple(self.alternative() for _ in range(count))
        found = ConditionTree("OR", parts)
        return ConditionTree("NOT", (found,)) if draw > 0.92 else found

    def alternative(self) -> ConditionTree:
        draw = self.random.random()
        if draw < 0.5:
            return self.side()
        if draw < 0.6:
            return self.residual()
        parts = (self.side(), self.side() if draw < 0.9 else self.residual())
        return ConditionTree("AND", parts)

    def either(self, is_bounded: bool) -> ConditionTree:
        """An OR whose alternatives have keys and bounds of their own."""
        return ConditionTree(
            "OR",
            tuple(
                ConditionTree("AND", (self.key(), *(self.bounds() if is_bounded else ()), self.side()))
                for _ in range(self.random.randint(2, 3))
            ),
        )

    def bounds(self) -> list[ConditionTree]:
        """A lower and an upper bound, sometimes as one condition, now and then without anything between."""
        low = self.random.randint(-6, 2)
        high = low + self.random.choice((0, 1, 3, 4, 6, 8, 8, 12, -1))
        draw = self.random.random()
        if draw < 0.25:
            return [self.between(low, high)]
        if draw < 0.33 and not self.plain:
            return [self.bound("=", low)]
        return [
            self.bound(self.random.choice((">", ">=")), low),
            self.bound(self.random.choice(("<", "<=")), high),
        ]

    def between(self, low: int, high: int) -> ConditionTree:
        before, after = self.times
        if self.is_date or self.chance(0.6) or self.plain:
            return leaf(f"{after} BETWEEN {self.moved(before, low)} AND {self.moved(before, high)}")
        return leaf(f"{after} - {before} BETWEEN {self.length(low)} AND {self.length(high)}")

    @property
    def is_date(self) -> bool:
        return self.times[0].endswith("on_day")

    def bound(self, operator: str, steps: int) -> ConditionTree:
        """`time of b - time of a`, compared with so many steps."""
        before, after = self.times
        mirrored = _MIRRORED[operator]
        forms = [
            f"{after} {operator} {self.moved(before, steps)}",
            f"{self.moved(after, -steps)} {operator} {before}",
            f"{self.moved(before, steps)} {mirrored} {after}",
        ]
        if not self.plain:
            forms.append(f"{after} - {before} {operator} {self.length(steps)}")
            forms.append(f"{before} - {after} {mirrored} {self.length(-steps)}")
            if self.is_date:
                forms.append(f"datediff({after}, {before}) {operator} {steps}")
                forms.append(f"{after} {operator} date_add({before}, {steps})")
                forms.append(f"date_sub({after}, {steps}) {operator} {before}")
        if operator in _OPPOSITE and self.chance(0.15):
            return ConditionTree("NOT", (leaf(f"{after} {_OPPOSITE[operator]} {self.moved(before, steps)}"),))
        return leaf(self.random.choice(forms))

    def moved(self, time: str, steps: int) -> str:
        """An event time so many steps later."""
        sign, count = ("-", -steps) if steps < 0 else ("+", steps)
        if self.scale.name == "" or (self.is_date and (self.plain or self.chance(0.4))):
            return f"{time} {sign} {count}{self.fraction()}"
        if self.is_date and self.chance(0.2):
            return f"{time} {sign} INTERVAL {count * 24} HOURS"
        return f"{time} {sign} INTERVAL {count} {self.scale.name}"

    def fraction(self) -> str:
        if self.is_date or self.plain or self.chance(0.7):
            return ""
        return self.random.choice((".5", ".25", "L", ".5D"))

    def length(self, steps: int) -> str:
        """So many steps as a value."""
        if self.scale.name == "":
            return str(steps)
        return f"-INTERVAL {-steps} {self.scale.name}" if steps < 0 else f"INTERVAL {steps} {self.scale.name}"


def _time(stream: Stream) -> str:
    assert stream.event_time is not None, "streams of scripts have one"
    return stream.event_time
