"""Normal forms of joins: golden files of conditions and what becomes of them, both evaluated over the same pairs of rows.

A case is the condition of `quotes q JOIN trades t` and the normal form or the refusal; see `golden_cases.py`. The first line
of a file says which columns are the event times, and what else holds for it.
"""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from eddyline import reference
from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.join import BoundJoin, NormalJoin
from eddyline.normalize import explain_join, plan_join
from tests.differential.normal_joins import joined_row, pair_holds
from tests.golden.golden_cases import cases, check_golden
from tests.joined import bound_join, streams

FOLDER = Path(__file__).parent / "normalize_joins"
FILES = sorted(path.name for path in FOLDER.glob("*.txt"))
PAIRS = 400
HEAD = re.compile(r"# event times: (\w+)(?:, (\w+))?(?:; zone: (\S+))?(?:; join window: (.+))?")


class Settings(NamedTuple):
    known: dict[str, Stream]
    zone: str
    join_window: str | None


def settings(file: Path) -> Settings:
    found = HEAD.fullmatch(file.read_text(encoding="utf-8").split("\n", 1)[0])
    assert found is not None, "the first line says the event times"
    return Settings(streams(found[1], found[2] or ""), found[3] or "UTC", found[4])


def normal(where: str, given: Settings) -> tuple[BoundJoin, NormalJoin]:
    bound = bound_join(where, given.known, given.zone)
    return bound, plan_join(bound, given.known, given.join_window).instantiate()


def shown(where: str, given: Settings) -> str:
    try:
        return explain_join(normal(where, given)[1], given.known)
    except QueryError as error:
        return f"refused: {error}"


CASES = [(file, where) for file in FILES for where in cases(FOLDER / file)]


@pytest.mark.parametrize("file", FILES)
def test_golden(file: str, rewrite_golden: bool) -> None:
    given = settings(FOLDER / file)
    check_golden(FOLDER / file, lambda where: shown(where, given), rewrite=rewrite_golden)


@pytest.mark.parametrize(("file", "where"), CASES)
def test_both_halves_agree(file: str, where: str) -> None:
    given = settings(FOLDER / file)
    try:
        bound, form = normal(where, given)
    except QueryError:
        return
    source = random.Random(where)
    window = min([abs(end) for b in form.branches for end in (b.window.low, b.window.high) if end], default=1)
    for _ in range(PAIRS):
        first, second = telling_pair(source, given.known, window)
        expected = reference.evaluate(bound.predicate, joined_row(form, first, second), time_zone=given.zone)
        found = pair_holds(form, given.known, first, second)
        assert found is (expected is True) or (given.join_window is not None and not found), (first, second)


def telling_pair(
    source: random.Random, known: dict[str, Stream], window: int
) -> tuple[dict[str, object], dict[str, object]]:
    """Rows that often have equal values, and event times near one another and near changes of the clock."""
    first, second = telling_row(source), telling_row(source)
    for name in first:
        if source.random() < 0.6:
            second[name] = first[name]
    times = known["quotes"].times, known["trades"].times
    assert times[0] is not None and times[1] is not None
    start = source.choice(MOMENTS[times[0].column])
    first[times[0].column] = start
    apart = source.choice(
        (0, 1, -1, window, -window, window + 1, window // 2, 2 * window, source.randint(-3, 3))
    )
    second[times[1].column] = (
        start + apart + source.choice((0, 0, 0, HOUR, -HOUR)) * (times[0].column == "ts")
    )
    return first, second


HOUR = 3_600_000_000
DAY = 24 * HOUR
CHANGES = (1_585_443_600_000_000, 1_603_587_600_000_000)  # of the clocks in Berlin, in 2020
MOMENTS: dict[str, list[int]] = {
    "ts": [
        at + shift
        for at in CHANGES
        for shift in (0, -1, 1, HOUR // 2, -HOUR // 2, -DAY, DAY, -3 * HOUR, 5 * DAY)
    ],
    "wall": [0, CHANGES[0], -1],
    "day": [18_350, 0, -5],
    "seq": [0, 5, -7, 2**61, -(2**61), 2**53],
    "tick": [0, 5, -7, 2**31 - 1, -(2**31), 2**31 - 4],
    "small": [0, 5, 2**15 - 1, -(2**15)],
}


def telling_row(source: random.Random) -> dict[str, object]:
    def maybe(*values: object) -> object:
        return source.choice((*values, *values, None))

    return {
        "symbol": maybe("A", "B", "C"),
        "venue": maybe("X", "Y", "1", "2"),
        "price": maybe(0.0, -0.0, 1.0, 2.5, 9.0, 10.0, 11.0, math.nan),
        "size": maybe(0, 1, 2, 5, 6, 100),
        "flag": maybe(True, False),
        "tags": maybe(["a"], ["a", "b"]),
        "small": maybe(0, 1, 2),
        "tick": maybe(0, 1, 2),
        "seq": maybe(0, 1, 2),
        "day": maybe(18_350, 18_351),
        "wall": maybe(0, CHANGES[0]),
        "ts": maybe(*CHANGES),
    }
