"""Which queries are found by key, and by which."""

from eddyline.config import IndexSettings
from eddyline.index.keyed.choose import Access, choose, is_range
from eddyline.model.expression import Column
from eddyline.model.predicate import NEVER, And, Condition, Or, Predicate
from eddyline.model.regions import NOTHING, Regions
from eddyline.model.types import DOUBLE, INT, STRING

S, T, P = Column("s", STRING), Column("t", STRING), Column("p", DOUBLE)
FEW = IndexSettings(min_keys=3)  # beside others
ALONE = IndexSettings(min_keys=48)  # 3 for texts, 16 for numbers, where no query is left


def text(subject: Column, *values: str) -> Condition:
    return Condition(subject, Regions.points(values))


def above(value: float, *, null: bool = False) -> Condition:
    return Condition(P, Regions.above(value, closed=False, nan=True) | Regions(null=null))


def shapes(accesses: list[Access]) -> set[tuple[str, str]]:
    return {
        ("".join(s.name for s, _ in access.keys), "".join(s.name for s, _ in access.checks))
        for access in accesses
    }


def many(*more: Predicate) -> list[Predicate]:
    return [And((text(S, name), *more)) for name in "abcd"]


def test_one_value_of_many_is_a_key_and_the_rest_are_checks() -> None:
    keyed, sliced = choose(many(above(1.0)), ALONE)
    assert shapes(keyed) == {("s", "p")} and not sliced


def test_few_values_in_the_set_are_no_key() -> None:
    keyed, sliced = choose(many(above(1.0)), IndexSettings(min_keys=80))
    assert not keyed and sliced == [0, 1, 2, 3]


def test_values_of_several_subjects_make_one_key() -> None:
    predicates: list[Predicate] = [And((text(S, a), text(T, b))) for a in "ab" for b in "ab"]
    keyed, _ = choose(predicates, ALONE)
    assert shapes(keyed) == {("st", "")}


def test_a_weak_subject_is_checked_where_the_key_is_strong_without_it() -> None:
    keyed, _ = choose(many(text(T, "x")), ALONE)
    assert shapes(keyed) == {("s", "t")}


def test_null_is_no_range() -> None:
    keyed, sliced = choose([*many(above(1.0)), *many(above(1.0, null=True))], FEW)
    assert len(keyed) == 4 and sliced == [4, 5, 6, 7]


def test_alternatives_and_gaps_become_several_accesses() -> None:
    gap = Condition(P, Regions(True, ((3.0, 0), (3.0, 1)), nan=True))
    keyed, sliced = choose([Or((one, And((text(S, "e"), gap)))) for one in many(above(1.0))], ALONE)
    assert not sliced and [access.number for access in keyed] == [n for n in range(4) for _ in range(3)]


def test_a_table_of_few_queries_is_not_worth_a_look() -> None:
    rare = And((text(S, "a"), Condition(Column("i", INT), Regions.points([1]))))
    common = [And((text(S, f"v{i}"), above(1.0))) for i in range(20)]
    _, sliced = choose([*common, rare], IndexSettings(min_keys=20))
    assert sliced == [20]


def test_fewer_are_enough_where_no_query_is_left_to_slice() -> None:
    beside = above(1.0, null=True)
    assert choose([*many(above(1.0)), beside], ALONE)[1] == [0, 1, 2, 3, 4]
    assert not choose(many(above(1.0)), ALONE)[1]
    assert choose([*many(above(1.0)), NEVER], ALONE)[1] == [4], "which costs nothing"


def test_numbers_need_more_than_texts() -> None:
    numbers: list[Predicate] = [Condition(Column("i", INT), Regions.points([i])) for i in range(16)]
    assert choose(numbers[:-1], ALONE)[1] == list(range(15))
    assert not choose(numbers, ALONE)[1]


def test_whatever_has_a_key_is_keyed_if_forced() -> None:
    keyed, sliced = choose([text(S, "a"), above(1.0)], IndexSettings(executor="keyed"))
    assert len(keyed) == 1 and sliced == [1]


def test_ranges() -> None:
    assert is_range(Regions.above(1, closed=True)) and is_range(Regions(True)) and is_range(Regions(nan=True))
    assert is_range(Regions.above(1.0, closed=True, nan=True)) and is_range(Regions.points([1]))
    assert not is_range(Regions.points([1.0], nan=True)) and not is_range(Regions.points([1, 3]))
    assert not is_range(Regions(True, null=True)) and is_range(NOTHING)
