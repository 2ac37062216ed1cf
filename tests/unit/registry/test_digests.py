"""Digests in a registry: entered with the text, found again, right after redeclarations and rollbacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pytest

from eddyline.compile import Compiler
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.normalize.digest import FORMAT
from eddyline.registry import Drop, Edit, Entry, Put, Registry, Set, State, Verdict

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
OTHER = replace(QUOTES, schema=pa.schema([("symbol", pa.string()), ("price", pa.float32())]))
CHEAP, ALSO = "SELECT * FROM quotes WHERE price < 10", "SELECT symbol FROM quotes WHERE NOT price >= 10"
SPARK_ONLY = "SELECT * FROM quotes WHERE soundex(symbol) = 'A000'"


@pytest.fixture
def registry(place: str) -> Iterator[Registry]:
    with Registry.open(place) as opened:
        opened.declare(QUOTES)
        yield opened


def change(registry: Registry, *edits: Edit) -> None:
    registry.change(edits, check=Compiler(registry.streams(), join_window=registry.join_window()).check)


def digest_of(sql: str, *streams: Stream) -> str:
    found = Compiler(streams or [QUOTES]).check(Query("q", sql)).digest
    assert found is not None
    return found


def digests(registry: Registry) -> dict[str, str | None]:
    return {entry.id: entry.digest for entry in registry.entries()}


def test_entered_and_found(registry: Registry) -> None:
    change(registry, Put("a", CHEAP), Put("b", ALSO), Put("c", "SELECT * FROM quotes"), Put("s", SPARK_ONLY))
    cheap = digest_of(CHEAP)
    assert digests(registry) == {"a": cheap, "b": cheap, "c": digest_of("SELECT * FROM quotes"), "s": None}
    assert [entry.id for entry in registry.entries_by_digest([cheap, "none"])] == ["a", "b"]
    change(registry, Set("b", state=State.SHADOW), Put("a", "SELECT * FROM quotes"), Drop("c"))
    assert [entry.id for entry in registry.entries_by_digest([cheap])] == ["b"]
    assert registry.entries_by_id(["a", "x"])["a"].digest == digest_of("SELECT * FROM quotes")


def test_text_without_a_check_has_none(registry: Registry) -> None:
    change(registry, Put("a", CHEAP))
    registry.change([Put("a", ALSO), Put("b", CHEAP), Put("s", SPARK_ONLY, state=State.DISABLED)])
    assert digests(registry) == {"a": None, "b": None, "s": None}
    assert [entry.id for entry in registry.entries_without_digest(FORMAT)] == ["a", "b", "s"]
    version = registry.version
    change(registry, Put("b", CHEAP))  # as it stands: no version, and yet it is known now
    assert registry.version == version and digests(registry)["b"] == digest_of(CHEAP)


def test_found_out_later(registry: Registry) -> None:
    """What a check finds out of others is entered with a change, unless their texts are other ones by then."""
    registry.change([Put("a", CHEAP), Put("b", CHEAP)])
    before = registry.entries()
    registry.change([Put("b", ALSO)])
    found: list[Entry] = []

    def check(query: Query) -> Verdict:
        found.extend(replace(entry, digest=digest_of(entry.sql)) for entry in before)
        return Verdict()

    registry.change([Put("c", CHEAP)], check=check, digested=found)
    assert digests(registry) == {"a": digest_of(CHEAP), "b": None, "c": None}
    assert registry.history("a")[-1].version.number == 2, "no other query by that"


def test_another_format_is_not_known(registry: Registry) -> None:
    change(registry, Put("a", CHEAP))
    assert registry.entries_without_digest(FORMAT) == []
    assert [entry.id for entry in registry.entries_without_digest("02")] == ["a"]


def test_redeclared_stream(registry: Registry) -> None:
    change(registry, Put("a", CHEAP))
    registry.declare(OTHER, check=Compiler([OTHER]).check)
    assert digests(registry) == {"a": digest_of(CHEAP, OTHER)} != {"a": digest_of(CHEAP)}
    assert [step.what for step in registry.history("a")] == ["added"]


def test_rollback_to_other_declarations(registry: Registry) -> None:
    """The digests that there are were made for the streams of now; those of old rows for those of their last day."""
    change(registry, Put("a", CHEAP), Put("b", CHEAP))
    with_both = registry.version
    registry.declare(OTHER, check=Compiler([OTHER]).check)
    change(registry, Drop("b"))
    registry.declare(QUOTES, check=Compiler([QUOTES]).check)
    registry.rollback(with_both)
    assert digests(registry) == {"a": digest_of(CHEAP), "b": None}
    registry.rollback(with_both + 1)
    assert digests(registry) == {"a": None, "b": None}


def test_another_join_window(place: str) -> None:
    streams = [
        Stream(name, pa.schema([("id", pa.int64()), ("ts", pa.int64())]), "ts", 10) for name in ("a", "b")
    ]
    sql = "SELECT * FROM a JOIN b USING (id)"
    with Registry.open(place) as registry:
        first, second = (Compiler(streams, join_window=window) for window in (5, 7))
        registry.change([Put("j", sql)], streams=streams, join_window=5, check=first.check)
        assert digests(registry)["j"] == first.check(Query("j", sql)).digest
        registry.set_join_window(7, check=second.check)
        assert digests(registry)["j"] == second.check(Query("j", sql)).digest


def test_same_as(registry: Registry) -> None:
    def alias(query: Query) -> Verdict:
        return Verdict(same_as="a" if query.id == "b" else None)

    registry.change([Put("a", CHEAP), Put("b", CHEAP)], check=alias)
    assert [entry.same_as for entry in registry.entries()] == [None, "a"]
    registry.change([Set("b", state=State.SHADOW), Put("b", CHEAP, owner="ann")])
    assert registry.entries_by_id(["b"])["b"].same_as == "a", "its text is the same"
    registry.change([Put("b", ALSO)])
    assert registry.entries_by_id(["b"])["b"].same_as is None
    registry.rollback(2)
    assert registry.entries_by_id(["b"])["b"].same_as == "a"
