"""What a registry keeps and gives back, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from eddyline.errors import ConflictError, QueryError, RefusedError, RegistryError, SchemaError
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.query import Query
from eddyline.registry import Budget, Drop, Entry, Put, Registry, Set, State, Verdict

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
TRADES = Stream(
    "trades", pa.schema([("at", pa.timestamp("us", "UTC")), ("amount", pa.decimal128(10, 2))]), "at"
)
CHEAP = "SELECT * FROM quotes WHERE price < 10"
DEAR = "SELECT * FROM quotes WHERE price > 90"


@pytest.fixture
def registry(place: str) -> Iterator[Registry]:
    with Registry.open(place) as opened:
        yield opened


def ids(entries: list[Entry]) -> list[str]:
    return [entry.id for entry in entries]


def test_new_registry_is_empty(registry: Registry) -> None:
    assert registry.version == 0
    assert registry.entries() == [] and registry.streams() == [] and registry.versions() == []
    assert registry.budgets() == [] and registry.counters() == {}
    assert registry.entry("cheap") is None and registry.history("cheap") == []


def test_put_gives_revision_and_number(registry: Registry) -> None:
    change = registry.change([Put("a", CHEAP), Put("b", DEAR)], author="ann", reason="first")
    assert change.version == 1 and change.added == ("a", "b")
    assert registry.entries() == [Entry("a", CHEAP, 1, 0), Entry("b", DEAR, 1, 1)]


def test_everything_is_kept(place: str) -> None:
    metadata = {"ticket": "OPS-7", "nested": {"list": [1, 2.5, None, True, "é\x00\ud800"]}}
    put = Put(
        "größe/1 „x“",
        f"  {CHEAP}\n ",
        State.SHADOW,
        ["b", 'q"%_', "a", "b"],
        "ann's team",
        "kafka://t?x=%20",
        metadata,
    )
    with Registry.open(place) as registry:
        registry.change(
            [put], author="Ann É", reason="because\nof it", check=lambda _: Verdict(spark_only=True)
        )
    with Registry.open(place) as registry:
        assert registry.entry("größe/1 „x“") == Entry(
            "größe/1 „x“",
            CHEAP,
            1,
            0,
            State.SHADOW,
            ("a", "b", 'q"%_'),
            "ann's team",
            "kafka://t?x=%20",
            metadata,
            True,
        )
        (version,) = registry.versions()
    assert (version.number, version.author, version.reason) == (1, "Ann É", "because\nof it")
    assert (version.added, version.changed, version.removed) == (1, 0, 0)
    assert timedelta(0) <= datetime.now(UTC) - version.at < timedelta(minutes=1)


def test_new_text_is_a_new_revision_and_number(registry: Registry) -> None:
    registry.change([Put("a", CHEAP, tags=["x"], owner="ann"), Put("b", CHEAP)])
    change = registry.change([Put("a", DEAR)])
    assert change.changed == ("a",)
    assert registry.entry("a") == Entry("a", DEAR, 2, 2, tags=("x",), owner="ann")


def test_numbers_are_never_given_again(registry: Registry) -> None:
    registry.change([Put("a", CHEAP)])
    registry.change([Drop("a")])
    registry.change([Put("b", CHEAP)])
    registry.change([Put("a", CHEAP)])
    assert [(e.id, e.revision, e.number) for e in registry.entries()] == [("b", 1, 1), ("a", 2, 2)]


def test_other_changes_keep_revision_and_number(registry: Registry) -> None:
    registry.change([Put("a", CHEAP, owner="ann")])
    registry.change([Set("a", state=State.DISABLED, tags=["t"], destination="out", metadata={"k": 1})])
    registry.change([Put("a", CHEAP, owner=None)])
    assert registry.entry("a") == Entry("a", CHEAP, 1, 0, State.DISABLED, ("t",), None, "out", {"k": 1})
    assert registry.version == 3


def test_nothing_different_makes_no_version(registry: Registry) -> None:
    registry.change([Put("a", CHEAP, tags=["x"])])
    change = registry.change([Put("a", CHEAP), Set("a", tags=["x"])])
    assert (change.version, change.unchanged, change.changed) == (1, ("a",), ())
    assert registry.change([]).version == 1
    assert registry.change([Put("b", DEAR), Drop("b")]).version == 1


def test_edits_of_one_change_follow_each_other(registry: Registry) -> None:
    registry.change([Put("a", CHEAP, tags=["old"])])
    registry.change([Drop("a"), Put("a", DEAR), Set("a", owner="ann")])
    assert registry.entry("a") == Entry("a", DEAR, 2, 1, owner="ann")
    assert registry.version == 2


@pytest.mark.parametrize("edit", [Drop("cheep"), Set("cheep", owner="x")])
def test_unknown_ids_are_refused_with_a_guess(registry: Registry, edit: Drop | Set) -> None:
    registry.change([Put("cheap", CHEAP)])
    with pytest.raises(RefusedError) as caught:
        registry.change([Set("cheap", owner="y"), edit])
    assert str(caught.value).split("\n") == [
        "1 of 2 edits are refused, so nothing was changed",
        '  query "cheep": it is not registered',
        '  hint: did you mean "cheap"?',
    ]
    assert registry.version == 1


def refuse_dear(query: Query) -> Verdict:
    if query.sql == DEAR:
        raise QueryError("too dear", hint="earn more")
    return Verdict(note="looked at", state=State.SHADOW) if query.id == "odd" else Verdict()


def test_refused_at_the_door(registry: Registry) -> None:
    edits = [Put("a", CHEAP), Put("b", DEAR), Put("odd", CHEAP)]
    with pytest.raises(RefusedError) as caught:
        registry.change(edits, check=refuse_dear)
    assert [(p.query, p.message, p.hint) for p in caught.value.problems] == [("b", "too dear", "earn more")]
    assert registry.version == 0
    change = registry.change(edits, check=refuse_dear, all_or_nothing=False)
    assert change.added == ("a", "odd") and [problem.query for problem in change.refused] == ["b"]
    assert change.notes == {"odd": "looked at"}
    assert registry.entries(state="shadow") == [Entry("odd", CHEAP, 1, 1, State.SHADOW)]


def test_only_refusals_make_no_version(registry: Registry) -> None:
    change = registry.change([Put("b", DEAR)], check=refuse_dear, all_or_nothing=False)
    assert change.version == 0 and len(change.refused) == 1


def test_base_refuses_lost_updates(registry: Registry) -> None:
    registry.change([Put("a", CHEAP)], base=0)
    with pytest.raises(ConflictError, match="made for version 0, and the registry is at version 1"):
        registry.change([Put("a", DEAR)], base=0)
    assert registry.change([Put("a", DEAR)], base=1).version == 2


def test_streams_that_change_while_queries_are_checked(registry: Registry) -> None:
    def declare_meanwhile(_: Query) -> Verdict:
        registry.declare(TRADES)
        return Verdict()

    registry.declare(QUOTES)
    with pytest.raises(ConflictError, match="streams changed while"):
        registry.change([Put("a", CHEAP)], check=declare_meanwhile)
    assert registry.entries() == []


def test_filters(registry: Registry) -> None:
    registry.change(
        [
            Put("a", CHEAP, tags=["fx", "eu"], owner="ann"),
            Put("b", DEAR, tags=["fx"], owner="bob", state=State.DISABLED),
            Put("c%", CHEAP, tags=["fx2", 'f"x'], destination="Topic_1", metadata={"why": "Ünï"}),
        ]
    )
    assert ids(registry.entries(tags=["fx"])) == ["a", "b"]
    assert ids(registry.entries(tags=["fx", "eu"])) == ["a"]
    assert ids(registry.entries(tags=["FX"])) == []
    assert ids(registry.entries(tags=['f"x'])) == ["c%"]
    assert ids(registry.entries(owner="bob")) == ["b"]
    assert ids(registry.entries(state=State.DISABLED)) == ["b"]
    assert ids(registry.entries(search="PRICE <")) == ["a", "c%"]
    assert ids(registry.entries(search="%")) == ["c%"]
    assert ids(registry.entries(search="topic_")) == ["c%"]
    assert ids(registry.entries(tags=["fx"], owner="ann", search="quotes", state="enabled")) == ["a"]


def test_every_version_can_be_read(registry: Registry) -> None:
    registry.change([Put("a", CHEAP)])
    registry.change([Put("b", DEAR), Set("a", owner="ann")])
    registry.change([Drop("a")])
    assert [ids(registry.entries(version)) for version in range(4)] == [[], ["a"], ["a", "b"], ["b"]]
    assert registry.entry("a", 1) == Entry("a", CHEAP, 1, 0)
    assert registry.entry("a", 2) == Entry("a", CHEAP, 1, 0, owner="ann")
    assert registry.entry("a", 3) is None
    for version in (4, -1):
        with pytest.raises(RegistryError, match=f"there is no version {version}"):
            registry.entries(version)


def test_history(registry: Registry) -> None:
    registry.change([Put("a", CHEAP)], author="ann", reason="one")
    registry.change([Put("b", CHEAP)])
    registry.change([Put("a", DEAR)], author="bob", reason="two")
    registry.change([Drop("a")], author="eve", reason="three")
    registry.change([Put("a", CHEAP)], author="ann", reason="four")
    steps = registry.history("a")
    assert [(s.version.number, s.what, s.version.author, s.version.reason) for s in steps] == [
        (1, "added", "ann", "one"),
        (3, "changed", "bob", "two"),
        (4, "removed", "eve", "three"),
        (5, "added", "ann", "four"),
    ]
    assert [s.entry and (s.entry.sql, s.entry.revision) for s in steps] == [
        (CHEAP, 1),
        (DEAR, 2),
        None,
        (CHEAP, 3),
    ]


def test_diff(registry: Registry) -> None:
    registry.change([Put("a", CHEAP), Put("b", CHEAP), Put("c", CHEAP)], streams=[QUOTES])
    registry.change([Put("a", DEAR), Drop("b"), Put("d", DEAR)], streams=[TRADES])
    registry.change([Set("c", owner="ann")])
    registry.change([Set("c", owner=None)])
    found = registry.diff(1, 4)
    assert ids(list(found.added)) == ["d"] and ids(list(found.removed)) == ["b"]
    assert [(old.sql, new.sql) for old, new in found.changed] == [(CHEAP, DEAR)]
    assert found.streams == ((None, TRADES),)
    back = registry.diff(4, 1)
    assert ids(list(back.added)) == ["b"] and ids(list(back.removed)) == ["d"]
    assert [(old.sql, new.sql) for old, new in back.changed] == [(DEAR, CHEAP)]
    assert back.streams == ((TRADES, None),)
    assert registry.diff(2, 2).changed == () and len(registry.diff(0, 4).added) == 3


def test_rollback_is_a_new_version(registry: Registry) -> None:
    registry.change([Put("a", CHEAP, tags=["x"]), Put("b", CHEAP), Put("c", CHEAP)], streams=[QUOTES])
    registry.change([Put("a", DEAR), Drop("b"), Put("d", DEAR), Set("c", owner="ann")], streams=[TRADES])
    change = registry.rollback(1, author="eve")
    assert (change.version, change.added, change.removed) == (3, ("b",), ("d",))
    assert set(change.changed) == {"a", "c"}
    assert registry.entry("a") == Entry("a", CHEAP, 3, 5, tags=("x",))
    assert registry.entry("b") == Entry("b", CHEAP, 2, 6)
    assert registry.entry("c") == Entry("c", CHEAP, 1, 2)
    assert registry.streams() == [QUOTES]
    assert registry.versions()[-1].reason == "back to version 1"
    assert registry.rollback(3).version == 3
    assert registry.rollback(0).version == 4 and registry.entries() == []
    with pytest.raises(RegistryError, match="no version 9"):
        registry.rollback(9)


def test_streams(registry: Registry) -> None:
    assert registry.declare(QUOTES, author="ann", reason="new").version == 1
    assert registry.declare(QUOTES).version == 1
    assert registry.declare(TRADES).version == 2
    assert registry.streams() == [QUOTES, TRADES]
    assert registry.streams()[1].event_time == "at"
    assert registry.streams(1) == [QUOTES] and registry.streams(0) == []


def test_changed_streams_need_a_check_of_all_queries(registry: Registry) -> None:
    registry.change([Put("a", CHEAP), Put("b", DEAR)], streams=[QUOTES])
    wider = Stream("Quotes", QUOTES.schema.append(pa.field("volume", pa.int64())))
    with pytest.raises(RegistryError, match='"Quotes" is declared with other columns'):
        registry.declare(wider)
    with pytest.raises(RefusedError, match="too dear"):
        registry.declare(wider, check=refuse_dear)
    assert registry.streams() == [QUOTES]
    assert registry.declare(wider, check=lambda _: Verdict()).version == 2
    assert registry.streams() == [wider] and registry.streams(1) == [QUOTES]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (pa.timestamp("us", "UTC"), {}),
        (pa.timestamp("us", "UTC"), {"lateness": "90 s", "ahead": "36 hours", "idle": timedelta(seconds=5)}),
        (pa.timestamp("ns"), {"lateness": "0 seconds"}),
        (pa.date32(), {"lateness": "2 weeks", "ahead": "1 day"}),
        (pa.int64(), {"lateness": 500, "idle": "1 minute"}),
        (pa.uint16(), {"lateness": "7"}),
    ],
)
def test_event_times_are_kept(place: str, kind: pa.DataType, said: dict[str, object]) -> None:
    stream = Stream("ticks", pa.schema([("at", kind), ("price", pa.float64())]), "at", **said)
    with Registry.open(place) as registry:
        registry.declare(stream)
    with Registry.open(place) as registry:
        assert registry.streams() == [stream]
        assert registry.streams()[0].times == stream.times
        assert registry.declare(stream).version == 1


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"event_time": None}, "another event time"),
        ({"event_time": "other"}, "another event time"),
        ({"lateness": "5 minutes"}, "other lengths for lateness"),
        ({"lateness": None, "idle": "1 hour"}, "other lengths for lateness and idle"),
        ({"ahead": "1 minute"}, "other lengths for ahead"),
        ({"name": "Trades"}, "another spelling of its name"),
    ],
)
def test_another_event_time_needs_a_check_too(
    registry: Registry, said: dict[str, object], problem: str
) -> None:
    schema = TRADES.schema.append(pa.field("other", pa.date32()))
    trades = Stream("trades", schema, "at", None if "event_time" in said else "10 seconds")
    registry.declare(trades)
    other = replace(trades, **said)
    with pytest.raises(RegistryError, match=f'"{other.name}" is declared with {problem}\n'):
        registry.declare(other)
    change = registry.declare(other, check=lambda _: Verdict())
    assert (change.version, change.streams) == (2, ((trades, other),))
    assert registry.streams() == [other] and registry.streams(1) == [trades]
    assert registry.diff(1, 2).streams == ((trades, other),)
    back = registry.rollback(1)
    assert (back.version, back.streams) == (3, ((other, trades),)) and registry.streams() == [trades]
    assert registry.declare(trades).streams == ()


def test_join_window_is_versioned(registry: Registry) -> None:
    assert registry.join_window() is None and registry.join_window(0) is None
    assert registry.set_join_window("300 s", author="ann", reason="for all joins").version == 1
    assert registry.join_window() == "5 minutes" and registry.join_window(0) is None
    assert registry.versions()[0].reason == "for all joins"
    assert registry.set_join_window(timedelta(minutes=5)).version == 1
    registry.change([Put("a", CHEAP)], streams=[QUOTES])
    registry.declare(TRADES)
    assert registry.join_window() == "5 minutes"
    change = registry.change([Put("b", DEAR)], join_window="1 hour", check=lambda _: Verdict())
    assert (change.version, change.added) == (4, ("b",))
    assert [registry.join_window(version) for version in range(5)] == [None, *3 * ["5 minutes"], "1 hour"]
    assert registry.diff(1, 3).join_window is None
    assert registry.diff(3, 4).join_window == ("5 minutes", "1 hour")
    assert registry.diff(4, 0).join_window == ("1 hour", None)
    assert registry.rollback(3).version == 5 and registry.join_window() == "5 minutes"
    assert registry.rollback(0).version == 6 and registry.join_window() is None
    with pytest.raises(RegistryError, match="there is no version 7"):
        registry.join_window(7)


def test_rollback_to_another_join_window_alone(registry: Registry) -> None:
    registry.set_join_window(5)
    registry.set_join_window(None, check=lambda _: Verdict())
    assert registry.rollback(1).version == 3 and registry.join_window() == 5
    assert registry.rollback(1).version == 3


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("10 minutes", "10 minutes"),
        ("1 week", "7 days"),
        (timedelta(seconds=90), "1 minute 30 seconds"),
        ("0 s", "0 seconds"),
        (100, 100),
        (" 100 ", 100),
        (0, 0),
    ],
)
def test_join_windows_are_kept(place: str, given: Length, kept: Length) -> None:
    with Registry.open(place) as registry:
        registry.set_join_window(given)
    with Registry.open(place) as registry:
        assert registry.join_window() == kept and type(registry.join_window()) is type(kept)
        assert registry.set_join_window(given).version == 1


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("soon", "join_window 'soon' is no length of time\nhint: write it as"),
        ("", "join_window '' is no length of time"),
        ("2 months", "months and years differ in length; give days"),
        (-5, "join_window -5 is negative"),
        (timedelta(seconds=-5), "is negative"),
        (2**62, "is too long"),
        (True, "join_window True is no length of time"),
        (2.5, "join_window 2.5 is no length of time"),
    ],
)
def test_what_is_no_join_window(registry: Registry, given: Any, problem: str) -> None:
    with pytest.raises(SchemaError) as caught:
        registry.set_join_window(given)
    assert problem in str(caught.value) and registry.version == 0


def test_another_join_window_needs_a_check_of_all_queries(registry: Registry) -> None:
    registry.change([Put("a", CHEAP), Put("b", DEAR)], streams=[QUOTES])
    assert registry.set_join_window("5 minutes").version == 2  # the first one hurts nobody
    for other in ("10 minutes", None):
        with pytest.raises(RegistryError, match="the join window is 5 minutes\nhint: hand in a check"):
            registry.set_join_window(other)
        with pytest.raises(RefusedError) as caught:
            registry.set_join_window(other, check=refuse_dear)
        assert str(caught.value).split("\n")[:2] == [
            "1 of the registered queries would be refused, so nothing was changed",
            '  query "b": too dear',
        ]
    assert registry.version == 2 and registry.join_window() == "5 minutes"
    assert registry.set_join_window(None, check=lambda _: Verdict()).version == 3
    assert registry.join_window() is None


@pytest.mark.parametrize("what", [{"join_window": "1 hour"}, {"streams": [replace(QUOTES, name="Quotes")]}])
def test_registered_queries_that_would_break_refuse_the_whole_change(
    registry: Registry, what: dict[str, Any]
) -> None:
    registry.change([Put("b", DEAR)], streams=[QUOTES], join_window="5 minutes")
    with pytest.raises(RefusedError, match="too dear"):
        registry.change([Put("a", CHEAP)], **what, check=refuse_dear, all_or_nothing=False)
    assert registry.version == 1


def test_join_window_that_changes_while_queries_are_checked(registry: Registry) -> None:
    def set_meanwhile(_: Query) -> Verdict:
        registry.set_join_window("5 minutes")
        return Verdict()

    with pytest.raises(ConflictError, match="the join window changed while the queries were checked"):
        registry.change([Put("a", CHEAP)], check=set_meanwhile)
    assert registry.entries() == []


def test_author_is_the_login_name(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "somebody")
    registry.change([Put("a", CHEAP)])
    assert registry.versions()[0].author == "somebody"
    for bad in ("", "  ", "a\0b"):
        with pytest.raises(RegistryError):
            registry.change([Put("b", CHEAP)], author=bad)


def test_budgets(registry: Registry) -> None:
    registry.set_budget(Budget("query", "a", bytes=1000, over="shadow"))
    registry.set_budget(Budget("owner", "ann", nanoseconds=2.5))
    registry.set_budget(Budget("query", "a", bytes=2000))
    assert registry.budgets() == [Budget("owner", "ann", None, 2.5), Budget("query", "a", 2000)]
    registry.set_budget(Budget("query", "a"))
    assert registry.budgets() == [Budget("owner", "ann", None, 2.5)]


def test_counters_add_up(registry: Registry) -> None:
    registry.add_counters({"a": {"matches": 2, "errors": 0}, "b": {"matches": 1}})
    registry.add_counters({"a": {"matches": 3, "deliveries": 1}, "c": {}})
    registry.add_counters({})
    assert registry.counters() == {"a": {"deliveries": 1, "matches": 5}, "b": {"matches": 1}}
    assert registry.version == 0


def test_many_ids_are_read_as_few(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddyline.registry.reading.CHUNK", 3)
    monkeypatch.setattr("eddyline.registry.writing.BATCH", 4)
    for many in (1_000, 5):
        monkeypatch.setattr("eddyline.registry.reading.MANY", many)
        before = registry.version
        registry.change([Put(f"q{n}", CHEAP) for n in range(10)])
        registry.change([Put(f"q{n}", DEAR, owner="ann") for n in range(0, 10, 2)])
        registry.change([Drop(f"q{n}") for n in range(7)])
        assert ids(registry.entries()) == ["q7", "q9", "q8"]
        registry.rollback(before + 1)
        assert sorted(ids(registry.entries())) == [f"q{n}" for n in range(10)]
        assert all(entry.sql == CHEAP for entry in registry.entries())
        registry.rollback(0)
    top = [registry.history(f"q{n}")[-2].entry for n in range(10)]
    assert [entry.revision for entry in top if entry] == [6, 4, 6, 4, 6, 4, 6, 2, 6, 2]


def test_search_finds_any_text_of_the_metadata(registry: Registry) -> None:
    registry.change([Put("a", CHEAP, metadata={"why": 'größe "x" \\'}), Put("b", DEAR)])
    for text in ("größe", '"x"', "\\", "why"):
        assert ids(registry.entries(search=text)) == ["a"], text


def test_halves_of_characters_are_refused_in_questions_too(registry: Registry) -> None:
    for ask in (registry.entry, registry.history, lambda id: registry.change([Drop(id)])):
        with pytest.raises(RegistryError, match="cannot be asked for"):
            ask("bad\udcff")


def test_two_streams_of_one_name(registry: Registry) -> None:
    with pytest.raises(SchemaError, match='two streams have the name "news" or "News"'):
        registry.change([], streams=[Stream("news", QUOTES.schema), Stream("News", QUOTES.schema)])
