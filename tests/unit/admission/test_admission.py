"""Queries are let in by the same policies and budgets whoever brings them: an engine, a registry, an engine on one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.admission import Admission, Candidate
from eddyline.model.predicate import ALWAYS
from eddyline.registry import Budget, Put, State, Verdict

QUOTES = ed.Stream("quotes", pa.schema({"symbol": pa.string(), "price": pa.float64()}))
CHEAP = "SELECT symbol FROM quotes WHERE price < 10"
LOUD = "SELECT symbol FROM quotes WHERE symbol RLIKE '[a-z]+[0-9]'"
ROWS = pa.record_batch({"symbol": ["a1", "B"], "price": [5.0, 50.0]})
TIGHT = Budget("query", "loud", nanoseconds=20)
TIGHT_SHADOW = Budget("query", "loud", nanoseconds=20, over="shadow")


def filtered(candidate: Candidate) -> Verdict | None:
    """Refuses what matches everything."""
    if candidate.normal is not None and candidate.normal.predicate == ALWAYS:
        raise ed.QueryError("it has no condition")
    return None


def shadowed(candidate: Candidate) -> Verdict | None:
    """Lets new queries in as shadows."""
    return Verdict(state=State.SHADOW, note="new queries are watched first") if candidate.is_new else None


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[ed.Registry]:
    with ed.Registry.open(tmp_path / "eddyline.db") as opened:
        opened.declare(QUOTES)
        yield opened


def test_an_engine_without_admission_lets_in_what_compiles() -> None:
    engine = ed.Engine(streams=[QUOTES])
    engine.add({"all": "SELECT * FROM quotes", "loud": LOUD})
    assert engine.push("quotes", ROWS).rows == 3


def test_a_policy_refuses_a_whole_change_of_an_engine() -> None:
    engine = ed.Engine(streams=[QUOTES], admission=Admission(policies=[filtered]))
    engine.add("cheap", CHEAP)
    with pytest.raises(ed.QueryError, match='query "all": it has no condition'):
        engine.change(add={"fine": CHEAP, "all": "SELECT * FROM quotes"}, remove=["cheap"])
    with pytest.raises(ed.QueryError, match="it has no condition"):
        engine.replace("cheap", "SELECT * FROM quotes")
    assert (list(engine), engine.version) == (["cheap"], 1)


def test_a_policy_puts_queries_of_an_engine_in_shadow(caplog: pytest.LogCaptureFixture) -> None:
    engine = ed.Engine(streams=[QUOTES], admission=Admission(policies=[shadowed]))
    with caplog.at_level(logging.WARNING, "eddyline.engine"):
        engine.add("cheap", CHEAP)
    assert engine.push("quotes", ROWS).rows == 0
    assert engine.ledger.of("cheap").shadowed == 1
    assert 'query "cheap": new queries are watched first' in "\n".join(caplog.messages)


def test_a_policy_that_disables_refuses_in_an_engine() -> None:
    engine = ed.Engine(
        streams=[QUOTES],
        admission=Admission(policies=[lambda _: Verdict(state=State.DISABLED, note="not yet")]),
    )
    with pytest.raises(ed.QueryError, match='query "cheap": not yet'):
        engine.add("cheap", CHEAP)


def test_budgets_bind_an_engine() -> None:
    engine = ed.Engine(streams=[QUOTES], admission=Admission(budgets=[TIGHT]))
    engine.add({"cheap": CHEAP, "other": LOUD})
    with pytest.raises(ed.QueryError, match=r"it would cost .* and it may cost 20"):
        engine.add("loud", LOUD.replace("a-z", "b-z"))
    engine.add("loud", LOUD)  # what it needs is there already, for the other one
    assert "loud" in engine


def test_a_budget_puts_a_query_of_an_engine_in_shadow() -> None:
    engine = ed.Engine(streams=[QUOTES], admission=Admission(budgets=[TIGHT_SHADOW]))
    engine.add("loud", LOUD)
    assert engine.push("quotes", ROWS).rows == 0
    assert engine.ledger.of("loud").shadowed == 1


@pytest.mark.parametrize("budget", [TIGHT, TIGHT_SHADOW], ids=["refuse", "shadow"])
def test_budgets_of_a_registry_bind_engines_on_it(registry: ed.Registry, budget: Budget) -> None:
    registry.set_budget(budget)
    engine = ed.Engine(registry=registry)
    engine.add("cheap", CHEAP)
    if budget.over == "refuse":
        with pytest.raises(ed.QueryError, match="it would cost"):
            engine.add("loud", LOUD)
        assert "loud" not in engine
    else:
        engine.add("loud", LOUD)
        entry = registry.entry("loud")
        assert entry is not None and entry.state is State.SHADOW
        assert engine.push("quotes", ROWS).rows == 1


def test_owners_budgets_bind_an_engine_that_replaces_a_text(registry: ed.Registry) -> None:
    registry.change([Put("hers", CHEAP, owner="ann")])
    registry.set_budget(Budget("owner", "ann", nanoseconds=20))
    engine = ed.Engine(registry=registry)
    engine.add("loud", LOUD.replace("a-z", "b-z"))  # nobody's
    with pytest.raises(ed.QueryError, match="every query of ann may cost 20"):
        engine.replace("hers", LOUD)
    assert engine["hers"].sql == CHEAP


def test_a_registry_is_changed_through_an_admission(registry: ed.Registry) -> None:
    admission = Admission(policies=[filtered, shadowed], budgets=[TIGHT])
    edits = [
        Put("cheap", CHEAP),
        Put("all", "SELECT * FROM quotes"),
        Put("loud", LOUD),
        Put("typo", "SELECT"),
    ]
    change = registry.change(edits, check=admission.of(registry, edits), all_or_nothing=False)
    assert change.added == ("cheap",)
    assert change.notes == {"cheap": "new queries are watched first"}
    assert [problem.query for problem in change.refused] == ["all", "loud", "typo"]
    again = [Put("cheap", CHEAP, state=State.ENABLED)]
    registry.change(again, check=admission.of(registry, again))  # no new text, so nobody's business
    entry = registry.entry("cheap")
    assert entry is not None and entry.state is State.ENABLED


def test_the_caller_overrules_what_becomes_of_dear_queries(registry: ed.Registry) -> None:
    edits = [Put("loud", LOUD), Put("quiet", LOUD.replace("a-z", "c-z"), state=State.DISABLED)]
    tight = [TIGHT, Budget("query", "quiet", nanoseconds=20)]
    admission = Admission(budgets=tight, over_budget="shadow")
    change = registry.change(edits, check=admission.of(registry, edits))
    assert {id: note.partition(":")[0] for id, note in change.notes.items()} == {
        "loud": "put in shadow",
        "quiet": "left disabled",
    }


def test_policies_see_what_would_stand(registry: ed.Registry) -> None:
    seen: list[Candidate] = []
    registry.change([Put("cheap", CHEAP, owner="ann", tags=["fx"])])
    edits = [Put("cheap", LOUD), Put("odd", "SELECT * FROM quotes WHERE soundex(symbol) = 'A'")]
    registry.change(edits, check=Admission(policies=[lambda c: seen.append(c)]).of(registry, edits))  # type: ignore[func-returns-value]
    cheap, odd = seen
    assert (cheap.entry.owner, cheap.entry.tags, cheap.entry.sql) == ("ann", ("fx",), LOUD)
    assert cheap.before is not None and cheap.before.sql == CHEAP
    assert odd.entry.spark_only and odd.normal is None and odd.before is None
