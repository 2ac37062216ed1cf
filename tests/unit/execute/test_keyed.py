"""The keyed executor against a plain comparison of every row with every query."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from eddyline.config import IndexSettings
from eddyline.execute.keyed.combinations import combine
from eddyline.execute.keyed.keyed import Keyed
from eddyline.execute.why import decide
from eddyline.functions.evaluate import Evaluation
from eddyline.index.keyed.choose import choose
from eddyline.index.keyed.keyed import build_keyed, build_table
from eddyline.index.keyed.ordinals import GREATEST, LEAST
from eddyline.kernels import keyed as kernels
from eddyline.model.expression import Column
from eddyline.model.predicate import And, Condition, Or, Predicate, conditions_of
from eddyline.model.regions import Regions
from eddyline.model.types import DOUBLE, LONG, STRING, DecimalType

S, T = Column("s", STRING), Column("t", STRING)
N, P, D = Column("i", LONG), Column("p", DOUBLE), Column("d", DecimalType(30, 2))
FORCED = IndexSettings(executor="keyed")
INF, NAN = float("inf"), float("nan")


def some(subject: Column, *values: object) -> Condition:
    return Condition(subject, Regions.points(values))


def at_least(subject: Column, value: object) -> Condition:
    return Condition(subject, Regions.above(value, closed=True, nan=subject is P))


def below(subject: Column, value: object) -> Condition:
    return Condition(subject, Regions.below(value, closed=False))


def both(*parts: Predicate) -> And:
    return And(parts)


def pairs(predicates: list[Predicate], columns: dict[str, pa.Array]) -> list[tuple[int, int]]:
    """What the executor finds; all predicates must have a key."""
    accesses, sliced = choose(predicates, FORCED)
    assert not sliced
    rows = len(next(iter(columns.values())))
    row, number = Keyed(build_keyed(accesses, range(len(predicates)))).match(Evaluation(columns), rows)
    return sorted(zip(row.tolist(), number.tolist(), strict=True))


def check(predicates: list[Predicate], columns: dict[str, pa.Array]) -> None:
    """Each pair once, and exactly those of the plain comparison."""
    rows = len(next(iter(columns.values())))
    values = {name: column.to_pylist() for name, column in columns.items()}
    expected = []
    for row in range(rows):
        for number, predicate in enumerate(predicates):
            subjects = {condition.subject for condition in conditions_of(predicate)}
            if decide(predicate, {s: values[s.name][row] for s in subjects}, str).matched:
                expected.append((row, number))
    assert pairs(predicates, columns) == expected


def test_extremes_of_whole_numbers() -> None:
    ends = [LEAST, LEAST + 1, -1, 0, GREATEST - 1, GREATEST]
    predicates = [both(some(S, "a"), some(N, value)) for value in ends]
    predicates += [both(some(S, "a"), at_least(N, value)) for value in ends]
    predicates += [both(some(S, "a"), below(N, value)) for value in ends[1:]]
    check(predicates, {"s": pa.array(["a"] * 7), "i": pa.array([*ends, None], pa.int64())})


def test_extremes_of_floats() -> None:
    ends = [-INF, -1e308, -5e-324, 0.0, 5e-324, 1e308, INF]
    predicates: list[Predicate] = []
    for value in ends:
        predicates += [both(some(S, "a"), at_least(P, value)), both(some(S, "a"), below(P, value))]
        predicates += [both(some(S, "a"), some(P, value))]
    predicates += [both(some(S, "a"), Condition(P, Regions(nan=True)))]
    check(predicates, {"s": pa.array(["a"] * 10), "p": pa.array([*ends, -0.0, NAN, None])})


def test_numbers_as_keys() -> None:
    columns = {
        "p": pa.array([-0.0, 0.0, 5e-324, NAN, INF, None]),
        "i": pa.array([LEAST, GREATEST, 0, 0, 1, None], pa.int64()),
    }
    check([some(P, 0.0), some(P, 5e-324, INF), some(N, LEAST), some(N, GREATEST, 0)], columns)


def test_types_without_ordinals_as_keys_and_as_checks() -> None:
    wide = [Decimal("-1.00"), Decimal("12345678901234567890.12"), Decimal("12345678901234567890.13")]
    columns = {"d": pa.array([*wide, None], pa.decimal128(30, 2)), "s": pa.array(["a", "b", "c", None])}
    check(
        [some(D, wide[1]), both(some(D, *wide), at_least(S, "b")), both(some(D, wide[0]), below(S, "b"))],
        columns,
    )
    check([both(some(S, "c"), at_least(D, wide[1])), both(some(S, "a"), below(D, wide[0]))], columns)


def test_null_in_any_subject_of_a_query_leaves_the_row_out() -> None:
    filled = Condition(N, Regions(True))
    predicates = [some(S, "a"), both(some(S, "a"), filled), both(some(S, "a"), some(T, "b"), filled)]
    columns = {
        "s": pa.array(["a", "a", None]),
        "t": pa.array([None, "b", "b"]),
        "i": pa.array([1, None, 1], pa.int64()),
    }
    assert pairs(predicates, columns) == [(0, 0), (0, 1), (1, 0)]


def test_several_values_of_several_subjects() -> None:
    predicates = [
        both(some(S, "a", "b"), some(T, "x", "y")),
        both(some(S, "b"), some(T, "y"), some(N, 1, 2, 3)),
    ]
    texts = [(s, t, i) for s in ("a", "b", "c", None) for t in ("x", "y", "z") for i in (1, 4)]
    s, t, i = (list(column) for column in zip(*texts, strict=True))
    check(predicates, {"s": pa.array(s), "t": pa.array(t), "i": pa.array(i, pa.int64())})


@pytest.mark.parametrize(
    ("pairs_of", "triples", "screens"),
    [
        (40, 6, 1),  # a bit for every pair, and the triples look at the same rows
        (40, 300, 2),  # too many rows for that
        (1, 6, 2),  # so few pairs that a filter is smaller
    ],
)
def test_tables_by_several_subjects(pairs_of: int, triples: int, screens: int) -> None:
    """Whatever way they are found, with rows in more than one batch of a kernel and values that no query names."""
    rng = np.random.default_rng(pairs_of + triples)
    texts = [f"v{i:02d}" for i in range(20)]

    def drawn(count: int) -> list[tuple[int, ...]]:
        return [tuple(row) for row in rng.integers(0, 20, (count, 3)).tolist()]

    predicates: list[Predicate] = [both(some(S, texts[a]), some(T, texts[b])) for a, b, _ in drawn(pairs_of)]
    predicates += [both(some(S, texts[a]), some(T, texts[b]), some(N, c)) for a, b, c in drawn(triples)]
    rows = 700
    columns = {
        name: pa.array([[*texts, "other", None][i] for i in rng.integers(0, 22, rows)]) for name in "st"
    }
    columns["i"] = pa.array([[*range(21), None][i] for i in rng.integers(0, 22, rows)], pa.int64())
    check(predicates, columns)
    index = build_keyed(choose(predicates, FORCED)[0], range(len(predicates)))
    assert len(combine(index.tables, [len(cutting.constants) for cutting in index.keys])) == screens


def test_more_constants_than_sixteen_bits_count() -> None:
    last = 70_000
    predicates: list[Predicate] = [some(N, value) for value in range(last)]
    predicates.append(both(some(N, last - 1), some(S, "a")))
    columns = {"i": pa.array([0, 65_536, last - 1, last, None], pa.int64()), "s": pa.array(["a"] * 5)}
    assert pairs(predicates, columns) == [(0, 0), (1, 65_536), (2, last - 1), (2, last)]


def test_a_pair_that_two_alternatives_find_is_there_once() -> None:
    twice = Or((both(some(S, "a"), at_least(N, 1)), both(some(T, "b"), at_least(N, 2))))
    same = Or((both(some(S, "a"), at_least(N, 1)), both(some(S, "a", "b"), below(P, 5.0))))
    columns = {
        "s": pa.array(["a", "a", "b", "c"]),
        "t": pa.array(["b", "c", "b", "b"]),
        "i": pa.array([5, 5, 5, 1], pa.int64()),
        "p": pa.array([1.0, 9.0, 1.0, 1.0]),
    }
    check([twice, same, some(S, "a")], columns)


@pytest.mark.parametrize("seed", range(6))
def test_random_queries(seed: int) -> None:
    """Few values, so that keys have many entries and rows lie on bounds; nulls and alternatives among them."""
    rng = np.random.default_rng(seed)

    def part(subject: Column) -> Condition:
        value = int(rng.integers(0, 6)) if subject is N else float(rng.integers(0, 6))
        other = value + int(rng.integers(1, 4))
        kinds = [
            at_least(subject, value),
            below(subject, value),
            some(subject, value),
            some(subject, value, other),
        ]
        inside = Condition(subject, Regions.above(value, closed=False) & Regions.below(other, closed=True))
        return [*kinds, inside, Condition(subject, ~Regions.points([value], null=True))][rng.integers(0, 6)]

    def term() -> Predicate:
        keys = [some(S, *rng.choice(list("abc"), rng.integers(1, 3), replace=False).tolist())]
        keys += [some(T, str(rng.choice(list("xyz"))))] if rng.random() < 0.5 else []
        return both(*keys, *(part(subject) for subject in (N, P) if rng.random() < 0.8))

    predicates = [term() if rng.random() < 0.7 else Or((term(), term())) for _ in range(150)]
    rows = 80

    def column(values: list, kind: pa.DataType) -> pa.Array:
        return pa.array([values[i] for i in rng.integers(0, len(values), rows)], kind)

    columns = {
        "s": column(["a", "b", "c", "d", None], pa.string()),
        "t": column(["x", "y", "z", "w", None], pa.string()),
        "i": column([*range(8), None], pa.int64()),
        "p": column([0.0, 1.0, 2.0, 3.0, 4.0, 5.5, INF, NAN, None], pa.float64()),
    }
    check(predicates, columns)


@pytest.mark.parametrize("entries", [1, 7, 8, 9, 64, 65, 3000])
@pytest.mark.parametrize("columns", [1, 2, 3, 5])
def test_entries_are_those_whose_bounds_are_reached(entries: int, columns: int) -> None:
    """One table, compared with numpy; the output is too short at first."""
    rng = np.random.default_rng(entries)
    keys, picked = 5, 200
    bounds = rng.integers(-20, 20, (columns, entries))
    bounds[rng.random(bounds.shape) < 0.1] = LEAST
    bounds[rng.random(bounds.shape) < 0.02] = GREATEST
    key_of, results = rng.integers(0, keys, entries), np.arange(entries, dtype=np.int32)
    sides = [(column, False) for column in range(columns)]
    table = build_table([0], range(columns), [keys], sides, key_of[None, :], bounds, results)
    rows, own = np.arange(picked, dtype=np.int32), rng.integers(0, keys + 1, picked).astype(np.uint32)
    values = rng.integers(-20, 22, (picked, columns))
    values[::50] = GREATEST
    given = np.ascontiguousarray(values[:, [column for column, _ in table.columns]])
    room, at, found = 4 + kernels.FAN, 0, set()
    while at < picked:
        row, number = np.empty(room, np.int32), np.empty(room, np.int32)
        count, at = kernels.collect(
            rows,
            own,
            given,
            table.starts,
            table.bounds,
            table.results,
            table.minima,
            table.levels,
            at,
            0,
            row,
            number,
        )
        before = len(found)
        found |= set(zip(row[:count].tolist(), number[:count].tolist(), strict=True))
        assert len(found) == before + count
        room = min(2 * room, 4 * entries + kernels.FAN)
    reached = (bounds[None, :, :] <= values[:, :, None]).all(axis=1) & (own[:, None] == key_of[None, :])
    assert found == set(zip(*(places.tolist() for places in np.nonzero(reached)), strict=True))


def test_rows_are_picked_that_may_match() -> None:
    """Screening by the least bounds of a key never loses a row, and takes none whose key has no entry below it."""
    rng = np.random.default_rng(0)
    bounds = rng.integers(-5, 15, (2, 40))
    key_of = rng.integers(0, 6, 40)
    table = build_table(
        [0], [0, 1], [6], [(0, False), (1, True)], key_of[None, :], bounds, np.arange(40, dtype=np.int32)
    )
    keys = rng.integers(0, 7, 500).astype(np.uint32)
    values = rng.integers(-20, 20, (2, 500))
    sides = {column: place for place, (column, _) in enumerate(table.columns)}
    (first, flip), (second, other) = table.columns
    picked = np.empty(500, np.int32)
    count = kernels.screen_bounds(
        keys, table.leasts, values[first], -int(flip), values[second], -int(other), picked
    )
    turned = np.stack([values[0], ~values[1]])
    least = np.array([bounds[:, key_of == key].min(axis=1, initial=GREATEST) for key in range(7)])
    expected = (least[keys] <= turned.T).all(axis=1)
    assert len(sides) == 2 and picked[:count].tolist() == np.flatnonzero(expected).tolist()
