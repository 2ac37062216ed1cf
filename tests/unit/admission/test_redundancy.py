"""Queries that are the same as others or covered by others, at every way in: noted, refused, put in shadow, aliases."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.admission import Admission, IfImplied, IfSame, redundant
from eddyline.admission.listener import Nobody
from eddyline.model.query_state import Verdict
from eddyline.registry import Budget, Change, Drop, Edit, Put, Set, State

FIELDS = {"symbol": pa.string(), "price": pa.float64(), "ts": pa.int64()}
QUOTES, TRADES = (ed.Stream(name, pa.schema(FIELDS), "ts", 10) for name in ("quotes", "trades"))
CHEAP = "SELECT symbol FROM quotes WHERE price < 10 AND symbol = 'A'"
ALSO = "SELECT symbol FROM quotes WHERE symbol = 'A' AND NOT price >= 10"
OTHER_LIST = "SELECT * FROM quotes WHERE symbol = 'A' AND price < 10"
WIDE = "SELECT symbol FROM quotes WHERE price < 10"
WIDER = "SELECT symbol FROM quotes WHERE price < 100"
TREE = "SELECT symbol FROM quotes WHERE price < 5 OR (price < 10 AND symbol <> 'B')"  # covered by WIDE
NEVER = "SELECT symbol FROM quotes WHERE price < 1 AND price > 3"
JOIN = "SELECT q.price FROM quotes q JOIN trades t USING (symbol) WHERE t.ts BETWEEN q.ts AND q.ts + 5"
SAME_JOIN = "SELECT t.price FROM trades t JOIN quotes q USING (symbol) WHERE t.ts BETWEEN q.ts AND q.ts + 5"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[ed.Registry]:
    with ed.Registry.open(tmp_path / "eddyline.db") as opened:
        opened.change([], streams=[QUOTES, TRADES])
        yield opened


@pytest.fixture(params=["few", "many"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are compared one by one, or all at once: with the same outcome."""
    monkeypatch.setattr(redundant, "FEW", 100 if request.param == "few" else 0)


def enter(
    registry: ed.Registry,
    edits: Iterable[Edit],
    if_same: IfSame | None = "warn",
    if_implied: IfImplied | None = "warn",
    **more: object,
) -> Change:
    admission = Admission(if_same=if_same, if_implied=if_implied, **more)  # type: ignore[arg-type]
    edits = list(edits)
    return registry.change(edits, check=admission.of(registry, edits), all_or_nothing=False)


def refused(change: Change) -> dict[str | None, str]:
    return {problem.query: problem.message for problem in change.refused}


def test_without_rules_nobody_looks(registry: ed.Registry) -> None:
    change = enter(registry, [Put("a", CHEAP), Put("b", CHEAP), Put("n", NEVER)], None, None)
    assert change.added == ("a", "b", "n") and change.notes == {}


def test_warn(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP, destination="desk")])
    change = enter(
        registry,
        [
            Put("twin", ALSO, destination="desk"),
            Put("query", ALSO),
            Put("rows", OTHER_LIST),
            Put("wide", WIDE),
            Put("n", NEVER),
        ],
    )
    assert change.notes == {
        "twin": 'it is the same query as "cheap", for the same destination',
        "query": 'it is the same query as "cheap"',
        "rows": 'it matches the same rows as "cheap"',
        "n": "no tuple can ever match",
    }
    assert change.added == ("twin", "query", "rows", "wide", "n")
    change = enter(registry, [Put("tree", TREE), Put("narrow", f"{WIDE} AND symbol = 'B'")])
    assert change.notes == dict.fromkeys(["tree", "narrow"], 'every row it matches is also matched by "wide"')
    assert {str(entry.state) for entry in registry.entries()} == {"enabled"}
    assert {entry.same_as for entry in registry.entries()} == {None}


def test_refuse(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP)])
    edits = [Put("again", ALSO), Put("wide", WIDE), Put("wider", WIDER), Put("tree", TREE)]
    change = enter(registry, edits, "refuse", "warn")
    assert refused(change) == {"again": 'it is the same query as "cheap", for the same destination'}
    assert "--if-same warn" in str(change.refused[0].hint)
    assert change.added == ("wide", "wider", "tree")
    change = enter(registry, [Put("again", ALSO), Put("b", f"{WIDE} AND symbol = 'B'")], "warn", "refuse")
    assert refused(change)["b"].startswith('every row it matches is also matched by "wide" and 1 other')
    assert "again" in refused(change), "what covers the first covers the second"


def test_who_is_refused_covers_nobody(registry: ed.Registry) -> None:
    """A chain: the widest stands, wherever it is in the change, and is who the others are refused for."""
    edits = [Put("cheap", CHEAP), Put("wide", WIDE), Put("wider", WIDER), Put("tree", TREE)]
    change = enter(registry, edits, "warn", "refuse")
    assert change.added == ("wider",)
    assert set(refused(change)) == {"cheap", "wide", "tree"}
    for message in refused(change).values():
        assert message == 'every row it matches is also matched by "wider"'


def test_who_is_refused_otherwise_covers_nobody(registry: ed.Registry) -> None:
    def no_wide(candidate: ed.admission.Candidate) -> None:
        if candidate.entry.id == "wide":
            raise ed.QueryError("not this one")

    edits = [Put("cheap", CHEAP), Put("wide", WIDE), Put("typo", "SELECT * FROM quotes WHERE prise < 3")]
    change = enter(registry, edits, "refuse", "refuse", policies=[no_wide])
    assert change.added == ("cheap",) and set(refused(change)) == {"wide", "typo"}
    change = enter(
        registry,
        [Put("x", WIDE), Put("y", f"{WIDE} AND symbol = 'B'")],
        "refuse",
        "refuse",
        budgets=[Budget("query", "x", nanoseconds=0)],
    )
    assert change.added == ("y",) and "would cost" in refused(change)["x"]


def test_an_id_that_is_taken_covers_nobody(registry: ed.Registry) -> None:
    enter(registry, [Put("a", f"{WIDE} AND symbol = 'C'")])
    change = enter(registry, [Put("a", WIDE, new=True), Put("b", CHEAP)], "refuse", "refuse")
    assert change.added == ("b",) and refused(change) == {"a": "the id is taken already"}


def test_shadow(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP), Put("wide", WIDE)])
    change = enter(registry, [Put("again", ALSO), Put("tree", TREE)], "shadow", "warn")
    assert change.notes["again"] == 'put in shadow: it is the same query as "cheap", for the same destination'
    states = {entry.id: str(entry.state) for entry in registry.entries()}
    assert states == {"cheap": "enabled", "wide": "enabled", "again": "shadow", "tree": "enabled"}
    change = enter(registry, [Put("other", f"{TREE} OR price < 4"), Put("third", ALSO)], "warn", "shadow")
    assert change.notes["third"].startswith("put in shadow: ")
    assert registry.entries_by_id(["third"])["third"].state is State.SHADOW


def test_shadows_are_named_as_such(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP, state=State.SHADOW)])
    assert enter(registry, [Put("b", ALSO)]).notes == {
        "b": 'it is the same query as "cheap" (in shadow), for the same destination'
    }


def test_alias(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP)])
    change = enter(
        registry, [Put("b", ALSO, destination="desk"), Put("c", "SELECT * FROM trades"), Put("d", OTHER_LIST)],
        "alias",
    )  # fmt: skip
    assert change.notes["b"] == 'let in as an alias: it is the same query as "cheap"'
    found = {entry.id: (entry.same_as, entry.destination, str(entry.state)) for entry in registry.entries()}
    assert found == {
        "cheap": (None, None, "enabled"),
        "b": ("cheap", "desk", "enabled"),
        "c": (None, None, "enabled"),
        "d": ("cheap", None, "enabled"),
    }
    enter(registry, [Put("b", WIDE)], "alias")
    assert registry.entries_by_id(["b"])["b"].same_as is None


def test_an_alias_is_delivered_under_its_own_id(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP), Put("b", ALSO)], "alias")
    engine = ed.Engine(registry=registry)
    engine.sync()
    given = engine.push("quotes", pa.record_batch({"symbol": ["A"], "price": [1.0], "ts": [1]}))
    assert sorted(id for table in given for id in table["query"].to_pylist()) == ["b", "cheap"]


def test_the_first_of_a_change_stands(registry: ed.Registry) -> None:
    change = enter(registry, [Put("b", ALSO), Put("a", CHEAP), Put("c", CHEAP)], "refuse")
    assert change.added == ("b",)
    assert refused(change) == dict.fromkeys(
        ["a", "c"], 'it is the same query as "b", for the same destination'
    )


def test_disabled_and_leaving_queries_do_not_count(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP, state=State.DISABLED)])
    assert enter(registry, [Put("a", ALSO)], "refuse").notes == {}
    assert enter(registry, [Drop("a"), Put("b", ALSO)], "refuse").added == ("b",)
    assert enter(registry, [Set("b", state=State.DISABLED), Put("c", ALSO)], "refuse").added == ("c",)
    assert enter(registry, [Put("c", WIDER), Put("d", ALSO)], "refuse", None).added == ("d",)
    assert enter(registry, [Put("e", ALSO, state=State.DISABLED)], "refuse").added == ("e",)


def test_a_query_is_not_compared_with_itself(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP)])
    change = enter(registry, [Put("cheap", ALSO)], "refuse", "refuse")
    assert change.changed == ("cheap",) and not change.notes
    assert enter(registry, [Put("cheap", ALSO)], "refuse", "refuse").unchanged == ("cheap",)


def test_joins_by_their_digests(registry: ed.Registry) -> None:
    enter(registry, [Put("j", JOIN)])
    empty = JOIN.replace("q.ts + 5", "q.ts - 5")
    change = enter(
        registry, [Put("k", SAME_JOIN), Put("l", JOIN), Put("m", JOIN.replace("5", "6")), Put("e", empty)]
    )
    assert change.notes == {
        "k": 'it matches the same rows as "j"',
        "l": 'it is the same query as "j", for the same destination',
        "e": "no pair can ever match",
    }


def test_joins_by_proof(registry: ed.Registry) -> None:
    enter(registry, [Put("j", JOIN)])
    narrower, never = JOIN.replace("5", "3"), f"{JOIN} AND q.price > 3 AND t.price < 3 AND q.price < t.price"
    change = enter(registry, [Put("k", narrower), Put("never", never)], if_implied="refuse")
    assert refused(change) == {"k": 'every row it matches is also matched by "j"'}
    assert change.notes == {"never": "no pair can ever match"}


def test_a_stream_joined_with_itself_the_other_way_round(registry: ed.Registry) -> None:
    """It has the pairs the other way round: other results, which nobody else delivers."""
    text = "SELECT a.price FROM quotes a JOIN quotes b ON a.symbol = b.symbol AND a.ts = b.ts AND {}"
    one, other = text.format("a.price < b.price"), text.format("b.price < a.price")
    enter(registry, [Put("one", one)])
    edits = [Put("other", other), Put("narrower", f"{other} AND a.price > 3")]
    change = enter(registry, edits, "refuse", "refuse")
    assert change.added == ("other",) and "narrower" in refused(change)
    assert not ed.implies(other, one, streams=[QUOTES])


def test_very_many_joins_are_compared_by_digests(
    registry: ed.Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redundant, "JOINS_IN_PASSING", 5)
    told: list[str] = []
    monkeypatch.setattr(Nobody, "note", lambda _, text: told.append(text))
    narrower = [JOIN.replace("5", str(n)) for n in (1, 2, 3)]
    enter(registry, [Put("wide", WIDE), Put("j", JOIN)])
    change = enter(registry, [*(Put(f"j{n}", text) for n, text in enumerate(narrower)), Put("cheap", CHEAP)])
    assert set(change.notes) == {"cheap"} and "so many joins" in told[0]
    change = enter(registry, [*(Put(f"k{n}", text) for n, text in enumerate(narrower))], if_implied="shadow")
    assert set(change.notes) == {"k0", "k1", "k2"} and len(told) == 1, "where it matters they are compared"


def test_digests_of_other_declarations_are_not_believed(registry: ed.Registry) -> None:
    """A join window that changes with the change: the registered join is another one then."""
    open_join = "SELECT q.price FROM quotes q JOIN trades t USING (symbol)"
    stated = f"{open_join} WHERE t.ts BETWEEN q.ts - 5 AND q.ts + 5"
    compiler = ed.Compiler([QUOTES, TRADES], join_window=5)
    registry.change([Put("j", open_join)], join_window=5, check=compiler.check)
    edits = [Put("k", stated)]
    for window, expected in ((7, {}), (5, {"k": 'it is the same query as "j"'})):
        compiler = ed.Compiler([QUOTES, TRADES], join_window=window)
        check = Admission(if_same="warn").of(registry, edits, compiler)
        assert {
            id: note.partition(",")[0] for id in "k" if (note := check(ed.Query("k", stated)).note)
        } == expected


def test_what_was_registered_without_digests(registry: ed.Registry) -> None:
    registry.change([Put("j", JOIN), Put("cheap", CHEAP)])
    change = enter(registry, [Put("k", JOIN), Put("again", ALSO)])
    assert set(change.notes) == {"k", "again"}


def test_a_new_stream_and_a_redeclared_one(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP)])
    fields = pa.schema([("symbol", pa.string()), ("price", pa.float32()), ("ts", pa.int64())])
    streams = [
        ed.Stream("quotes", fields, "ts", 10),
        ed.Stream("news", pa.schema([("urgency", pa.int8())])),
        TRADES,
    ]
    urgent = "SELECT * FROM news WHERE urgency > 3"
    edits = [Put("again", ALSO), Put("n", urgent), Put("m", urgent)]
    check = Admission(if_same="warn", if_implied="warn").of(registry, edits, ed.Compiler(streams))
    change = registry.change(edits, streams=streams, check=check)
    assert change.notes == {
        "again": 'it is the same query as "cheap", for the same destination',
        "m": 'it is the same query as "n", for the same destination',
    }


def test_an_engine(caplog: pytest.LogCaptureFixture) -> None:
    engine = ed.Engine(streams=[QUOTES, TRADES], admission=Admission(if_same="warn", if_implied="shadow"))
    with caplog.at_level(logging.WARNING, "eddyline.engine"):
        engine.add({"wide": WIDE, "j": JOIN})
        assert caplog.messages == []
        engine.change(add={"cheap": CHEAP, "k": JOIN}, remove=[])
    assert caplog.messages == [
        'query "cheap": put in shadow: every row it matches is also matched by "wide"',
        'query "k": it is the same query as "j", for the same destination',
    ]
    strict = ed.Engine(streams=[QUOTES], admission=Admission(if_same="refuse"))
    strict.add("cheap", CHEAP)
    with pytest.raises(ed.QueryError, match='query "b": it is the same query as "cheap"'):
        strict.add("b", ALSO)
    strict.change(add={"b": ALSO}, remove=["cheap"])
    strict.replace("b", CHEAP)
    assert list(strict) == ["b"]


def test_an_engine_on_a_registry(registry: ed.Registry) -> None:
    enter(registry, [Put("cheap", CHEAP)])
    engine = ed.Engine(registry=registry, admission=Admission(if_same="alias"))
    engine.add("b", ALSO)
    assert registry.entries_by_id(["b"])["b"].same_as == "cheap"
    engine.change(add={"c": CHEAP}, remove=["cheap", "b"])
    assert registry.entries_by_id(["c"])["c"].same_as is None


def test_wrong_words() -> None:
    with pytest.raises(ed.EddylineError, match=r"if_same must be one of warn, .*, not 'loud'"):
        Admission(if_same="loud")  # type: ignore[arg-type]
    with pytest.raises(ed.EddylineError, match=r"if_implied must be one of .*, not 'alias'"):
        Admission(if_implied="alias")  # type: ignore[arg-type]


LOW, LOWER, HIGH = (f"SELECT * FROM quotes WHERE price {asked}" for asked in ("< 10", "< 5", "> 90"))
SPARK_ONLY = "SELECT * FROM quotes WHERE soundex(symbol) = 'x'"


def disables_a(candidate: ed.Candidate) -> Verdict | None:
    return Verdict(state=State.DISABLED) if candidate.entry.id == "a" else None


@pytest.mark.parametrize(
    ("before", "edits", "policies"),
    [
        ({"a": LOW}, [Put("a", LOW, state=State.DISABLED)], []),
        ({"a": LOW}, [Put("a", HIGH, state=State.DISABLED)], []),
        ({"a": LOW}, [Put("a", SPARK_ONLY)], []),
        ({"a": LOW}, [Put("a", HIGH)], [disables_a]),
        ({"a": LOW}, [Put("a", LOW)], [disables_a]),
        ({}, [Put("a", LOW), Set("a", state=State.DISABLED)], []),
        ({}, [Put("a", LOW), Drop("a")], []),
        ({}, [Put("a", HIGH, new=True), Put("a", LOW, new=True)], []),
        ({"a": LOW}, [Set("a", state=State.DISABLED), Set("a", state=State.ENABLED)], []),
        ({"a": LOW}, [Put("c", LOW), Drop("a")], []),
        ({"a": LOW, "c": HIGH}, [Put("a", HIGH), Put("c", LOW)], []),
        ({"a": LOW, "c": "SELECT * FROM quotes"}, [Put("a", "SELECT * FROM quotes WHERE price < 50")], []),
    ],
)
@pytest.mark.parametrize("text", [LOWER, "SELECT * FROM quotes WHERE NOT price >= 10"])
@pytest.mark.parametrize("first", [False, True])
def test_only_what_stands_after_a_change_counts(
    registry: ed.Registry,
    before: dict[str, str],
    edits: list[Edit],
    policies: list[Callable[[ed.Candidate], Verdict | None]],
    text: str,
    first: bool,
) -> None:
    registry.change([Put(id, sql) for id, sql in before.items()])
    newcomer = Put("b", text)
    change = enter(
        registry, [newcomer, *edits] if first else [*edits, newcomer], "refuse", "refuse", policies=policies
    )
    evaluated = [e for e in registry.entries() if e.state is not State.DISABLED and not e.spark_only]
    covers = [e.id for e in evaluated if e.id != "b" and ed.implies(text, e.sql, streams=[QUOTES])]
    assert ("b" in refused(change)) == bool(covers)
    assert ("b" in change.added) == (not covers)
