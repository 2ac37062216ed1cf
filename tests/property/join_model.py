"""Joins drawn at random over two streams, what they give by nested loops, and the same by the join stage in any batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.config import JoinSettings
from eddyline.join import JoinState
from eddyline.join.joined import Joined
from eddyline.join.step import Step
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.roles import Residual, Roles, StemKey

SCHEMA = pa.schema([("ts", pa.int64()), ("k", pa.int64()), ("s", pa.string()), ("x", pa.int64())])
STREAMS = {
    "a": Stream("a", SCHEMA, event_time="ts", lateness=6),
    "b": Stream("b", SCHEMA, event_time="ts", lateness=3),
}
K, S, X = Column("k", t.LONG), Column("s", t.STRING), Column("x", t.LONG)
KEYS: list[tuple[tuple[Expression, ...], tuple[bool, ...]]] = [
    ((K,), (False,)),
    ((S,), (False,)),
    ((K, S), (False, False)),
    ((K,), (True,)),
    ((K, S), (True, False)),
]
TEXTS = ["", "A", "B", "seven__", "eight___", "quite a long text", "quite a long text too", None]

Row = dict[str, Any]


@dataclass(frozen=True)
class DrawnBranch:
    """`numbers` of its two roles, which say what tuples satisfy them; None: all do."""

    key: int
    low: int
    high: int
    numbers: tuple[int | None, int | None]
    more_than: int | None  # residual: right x > left x + this

    def wants(self, side: int, row: Row) -> bool:
        number = self.numbers[side]
        return number is None or (row["x"] * 7 + number * 13) % 3 == 0

    def holds(self, left: Row, right: Row) -> bool:
        columns, safe = KEYS[self.key]
        for column, is_safe in zip(columns, safe, strict=True):
            values = left[column.name], right[column.name]
            if values[0] != values[1] or (values[0] is None and not is_safe):
                return False
        in_window = self.low <= right["ts"] - left["ts"] <= self.high
        rest = self.more_than is None or right["x"] > left["x"] + self.more_than
        return in_window and rest and self.wants(0, left) and self.wants(1, right)


@dataclass(frozen=True)
class DrawnJoin:
    name: int
    streams: tuple[str, str]
    branches: tuple[DrawnBranch, ...]


@dataclass(frozen=True)
class Run:
    """Rows of one stream, and what happens to the set before them."""

    stream: str
    rows: list[Row]
    added: tuple[DrawnJoin, ...] = ()
    removed: tuple[int, ...] = ()  # names
    renumbered: int = 0  # so many times
    advanced: int | None = None  # the watermark of the stream, before the rows


@dataclass
class Script:
    runs: list[Run] = field(default_factory=list)


Result = tuple[int, int, int]  # join, position of source 0, position of source 1


def draw_script(seed: int, runs: int = 12, rows: int = 25, keys: int = 4) -> Script:
    rng = np.random.default_rng(seed)
    names = iter(range(10_000))
    numbers = iter(range(10_000))

    def branch() -> DrawnBranch:
        low = int(rng.integers(-8, 5))
        sides = [next(numbers) if rng.random() < 0.7 else None for _ in range(2)]
        more = int(rng.integers(-4, 4)) if rng.random() < 0.4 else None
        return DrawnBranch(
            int(rng.integers(len(KEYS))), low, low + int(rng.integers(0, 9)), (sides[0], sides[1]), more
        )

    def join() -> DrawnJoin:
        streams = [("a", "b"), ("b", "a"), ("a", "a")][int(rng.integers(3))]
        return DrawnJoin(next(names), streams, tuple(branch() for _ in range(int(rng.integers(1, 4)))))

    script, clock, alive = Script(), 0, []
    for place in range(runs):
        added = tuple(join() for _ in range(4 if place == 0 else int(rng.integers(0, 3))))
        removed = tuple(name for name in alive if rng.random() < 0.1)
        alive = [name for name in alive if name not in removed] + [each.name for each in added]
        drawn = []
        for _ in range(int(rng.integers(1, 2 * rows))):
            clock += int(rng.random() < 0.3)
            ts = clock - int(rng.integers(0, 8)) if rng.random() < 0.96 else None
            drawn.append(
                {
                    "ts": 2**62 + 3 if rng.random() < 0.01 else ts,
                    "k": None if rng.random() < 0.1 else int(rng.integers(keys)),
                    "s": TEXTS[int(rng.integers(len(TEXTS)))],
                    "x": int(rng.integers(0, 12)),
                }
            )
        advanced = clock - 2 if rng.random() < 0.15 else None
        script.runs.append(
            Run(
                str(rng.choice(["a", "b"])),
                drawn,
                added,
                removed,
                int(rng.choice(3, p=[0.7, 0.2, 0.1])),
                advanced,
            )
        )
    return script


def by_nested_loops(script: Script, *, complete: bool = False) -> list[list[Result]]:
    """For each row that came, in order, the results that it completes."""
    came: dict[str, list[tuple[Row, bool, int]]] = {"a": [], "b": []}  # row, whether it is joined, its run
    highest: dict[str, int | None] = {"a": None, "b": None}
    least: dict[str, int | None] = {"a": None, "b": None}
    since: dict[int, tuple[DrawnJoin, int]] = {}
    results = []
    for place, run in enumerate(script.runs):
        for name in run.removed:
            del since[name]
        since.update({each.name: (each, place) for each in run.added})
        if run.advanced is not None:
            known = least[run.stream]
            least[run.stream] = run.advanced if known is None else max(known, run.advanced)
        for row in run.rows:
            ts, top, floor = row["ts"], highest[run.stream], least[run.stream]
            lateness = STREAMS[run.stream].lateness
            assert isinstance(lateness, int)
            joined = ts is not None and abs(ts) < 2**62
            if joined and not complete:
                joined = (top is None or ts >= top - lateness) and (floor is None or ts >= floor)
            if joined:
                highest[run.stream] = ts if top is None else max(top, ts)
            came[run.stream].append((row, joined, place))
            results.append(_completed(came, since, run.stream))
    return results


def _completed(
    came: dict[str, list[tuple[Row, bool, int]]], since: dict[int, tuple[DrawnJoin, int]], stream: str
) -> list[Result]:
    position = len(came[stream]) - 1
    row, joined, _ = came[stream][position]
    found = set()
    for name, (join, first) in since.items() if joined else ():
        for side in (0, 1):
            if join.streams[side] == stream:
                for other, (partner, is_joined, run) in enumerate(came[join.streams[1 - side]]):
                    pair = (row, partner) if side == 0 else (partner, row)
                    if is_joined and run >= first and any(branch.holds(*pair) for branch in join.branches):
                        found.add((name, position, other) if side == 0 else (name, other, position))
    return sorted(found)


class StandingJoins:
    """The joins in force as the columns that the join stage reads; ids are dense, and may be given anew."""

    def __init__(self) -> None:
        self.epoch = 0
        self.rows: list[tuple[DrawnJoin, int, int] | DrawnJoin] = []  # a role is (join, branch, side)
        self.alive: list[bool] = []
        self.stems: list[StemKey] = []
        self.residuals: list[Residual] = []

    def add(self, join: DrawnJoin) -> None:
        new = [join, *((join, branch, side) for branch in range(len(join.branches)) for side in (0, 1))]
        self.rows += new
        self.alive += [True] * len(new)

    def remove(self, name: int) -> None:
        for dense, row in enumerate(self.rows):
            if (row if isinstance(row, DrawnJoin) else row[0]).name == name:
                self.alive[dense] = False

    def renumber(self, rng: np.random.Generator) -> np.ndarray:
        """Give ids anew, to joins that are alive alone; what has become of each id."""
        order = rng.permutation(np.flatnonzero(self.alive))
        moved = np.full(len(self.rows), -1, np.int64)
        moved[order] = np.arange(len(order))
        self.rows = [self.rows[dense] for dense in order]
        self.alive = [True] * len(order)
        self.stems, self.residuals = [], []
        self.epoch += 1
        return moved

    def roles(self) -> Roles:
        size = len(self.rows)
        columns = {name: np.full(size, -1, np.int32) for name in ("partner", "query", "stem", "residual")}
        side, low, high = np.zeros(size, np.int8), np.zeros(size, np.int64), np.zeros(size, np.int64)
        free = np.zeros(size, np.bool_)
        place = {row: dense for dense, row in enumerate(self.rows)}
        for dense, row in enumerate(self.rows):
            if isinstance(row, DrawnJoin):
                continue
            join, number, of_side = row
            branch = join.branches[number]
            columns["partner"][dense] = place[join, number, 1 - of_side]
            columns["query"][dense] = place[join]
            key = StemKey(join.streams[of_side], *KEYS[branch.key])
            columns["stem"][dense] = _number(self.stems, key)
            if branch.more_than is not None:
                columns["residual"][dense] = _number(self.residuals, _residual(branch.more_than))
            side[dense] = of_side
            low[dense], high[dense] = (
                (branch.low, branch.high) if of_side == 1 else (-branch.high, -branch.low)
            )
            free[dense] = branch.numbers[of_side] is None
        return Roles(
            size=size,
            epoch=self.epoch,
            side=side,
            low=low,
            high=high,
            free=free,
            alive=np.array(self.alive, np.bool_),
            stems=tuple(self.stems),
            residuals=tuple(self.residuals),
            payload={"a": ("x", "ts"), "b": ("x", "s")},
            **columns,
        )

    def lineage(self, stream: str, rows: Sequence[Row]) -> tuple[np.ndarray, np.ndarray]:
        found = [
            (place, dense)
            for place, tuple_ in enumerate(rows)
            for dense, row in enumerate(self.rows)
            if not isinstance(row, DrawnJoin) and self.alive[dense] and row[0].streams[row[2]] == stream
            if row[0].branches[row[1]].numbers[row[2]] is not None
            and row[0].branches[row[1]].wants(row[2], tuple_)
        ]
        pairs = np.array(found, np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]


def _number(values: list[Any], value: Any) -> int:
    if value not in values:
        values.append(value)
    return values.index(value)


def _residual(more_than: int) -> Residual:
    total = Call("add", (Column("p.x", t.LONG), Literal(more_than, t.LONG)), t.LONG)
    return Residual(Call("gt", (Column("r.x", t.LONG), total), t.BOOLEAN), ("p", "r"))


def taken(step: Step) -> list[Joined]:
    """The parts of a step, which the state has taken over then."""
    parts = list(step.pairs())
    step.take_over()
    return parts


def by_steps(
    script: Script,
    batch_rows: int | None,
    *,
    settings: JoinSettings | None = None,
    complete: bool = False,
    seed: int = 0,
) -> tuple[list[list[Result]], JoinState]:
    """For each row that came, in order, the results that it completes; each step checked for order and payload."""
    state = JoinState(STREAMS.values(), settings=settings or JoinSettings(), complete=complete)
    rng, standing = np.random.default_rng(seed), StandingJoins()
    came: dict[str, list[Row]] = {"a": [], "b": []}
    results: list[list[Result]] = []
    for run in script.runs:
        for name in run.removed:
            standing.remove(name)
        for _ in range(run.renumbered if standing.epoch + len(standing.rows) else 0):
            state.moved(standing.epoch + 1, standing.renumber(rng))
        for join in run.added:
            standing.add(join)
        if run.advanced is not None:
            state.advance(STREAMS[run.stream], run.advanced)
        roles = standing.roles()
        size = batch_rows or max(1, len(run.rows))
        for start in range(0, len(run.rows), size):
            rows = run.rows[start : start + size]
            came[run.stream] += rows
            results += _step(state, standing, roles, run.stream, rows, came)
    return results, state


def _step(
    state: JoinState,
    standing: StandingJoins,
    roles: Roles,
    stream: str,
    rows: list[Row],
    came: dict[str, list[Row]],
) -> list[list[Result]]:
    batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
    results: list[list[Result]] = [[] for _ in rows]
    base, order = len(came[stream]) - len(rows), []
    for part in taken(state.step(STREAMS[stream], batch, *standing.lineage(stream, rows), roles, now=0)):
        joins = [standing.rows[query] for query in part.query.tolist()]
        positions = [each.tolist() for each in part.positions]
        for row, join, *pair in zip(part.row.tolist(), joins, *positions, strict=True):
            assert isinstance(join, DrawnJoin)
            results[row].append((join.name, *pair))
        both = np.stack([part.positions[0], part.positions[1]])
        for side in (0, 1):
            for name in ("a", "b"):
                which = np.array([join.streams[side] == name for join in joins], np.bool_)
                (xs,) = part.columns(side, name, ["x"], which)
                assert xs.to_pylist() == [came[name][place]["x"] for place in both[side][which].tolist()]
        order += [
            (
                row,
                min(p)
                if join.streams[0] == join.streams[1]
                else p[int(p[0] - base == row and join.streams[0] == stream)],
                query,
            )
            for row, join, query, *p in zip(
                part.row.tolist(), joins, part.query.tolist(), *positions, strict=True
            )
        ]
    assert order == sorted(order), "by row, then by the partner's arrival, then by query"
    return [sorted(found) for found in results]


def spilling(folder: Path) -> JoinSettings:
    return JoinSettings(max_bytes=2_000, folder=str(folder))


def without_late_rows(script: Script) -> Script:
    """The same without watermarks raised by hand."""
    return Script([replace(run, advanced=None) for run in script.runs])
