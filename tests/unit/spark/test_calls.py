"""Calls that only Spark can compute: who of a version has them, and which ones nobody needs any more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from eddyline.delivery.router import Router
from eddyline.model import types as t
from eddyline.model.expression import Expression
from eddyline.project.account import QueryAccounts
from eddyline.registry import Drop, Put, Registry
from eddyline.runtime.spark.functions import pin_text
from eddyline.runtime.spark.pipeline.batch.calls import Callers
from eddyline.runtime.spark.pipeline.batch.quarantine import failures
from eddyline.runtime.spark.pipeline.batch.summary import Summary
from eddyline.runtime.spark.pipeline.batch.version_plan import VersionPlan
from eddyline.runtime.spark.versions import Versions
from eddyline.sql.spark_only.spark_text import SparkText
from tests.unit.spark.registries import QUOTES


class Sounds:
    """Knows two functions of Spark."""

    functions = ("soundex", "ascii")
    judges = False

    def call(self, name: str, arguments: Sequence[Expression]) -> t.DataType | None:
        return t.STRING if name in self.functions else None

    def expression(self, piece: SparkText) -> t.DataType:
        raise AssertionError("no text is left to Spark here")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    found = Registry.open(tmp_path / "registry.db")
    found.declare(QUOTES, author="ann")
    found.change(
        [
            Put("one", "SELECT soundex(symbol) AS s FROM quotes WHERE soundex(symbol) = 'S1' AND price > 1"),
            Put("two", "SELECT price FROM quotes WHERE ascii(symbol) = '83'"),
            Put("plain", "SELECT price FROM quotes WHERE price > 3"),
        ],
        author="ann",
    )
    return found


def plan_of(versions: Versions, version: int) -> VersionPlan:
    return VersionPlan(
        versions.shipment(version), versions.queries(version), versions.table(version), Router(())
    )


def test_calls_of_removed_queries(registry: Registry, tmp_path: Path) -> None:
    """A query that is gone leaves no call behind, though the compiled set still asks for its value."""
    versions = Versions(registry, tmp_path / "sets", resolver=Sounds())
    callers = Callers(Sounds())
    before = plan_of(versions, versions.current())
    assert callers.idle(before, "quotes") == set()
    assert [caller.query.id for caller in callers.of(before, "quotes")] == ["one", "two"]
    registry.change([Drop("two"), Drop("plain")], author="ann")
    after = plan_of(versions, versions.current())
    assert len(after.externals("quotes")) == 2
    assert callers.idle(after, "quotes") == {"ascii(symbol)"}
    registry.change([Put("three", "SELECT ascii(symbol) AS a FROM quotes")], author="ann")
    assert callers.idle(plan_of(versions, versions.current()), "quotes") == set(), "SELECT lists count too"


def test_failures_by_query(registry: Registry, tmp_path: Path) -> None:
    """What counts as NULL in a condition does for every row, in a SELECT list for every match."""
    versions = Versions(registry, tmp_path / "sets", resolver=Sounds())
    plan = plan_of(versions, versions.current())
    context = cast(Any, SimpleNamespace(callers=Callers(Sounds())))
    source = cast(Any, SimpleNamespace(stream=QUOTES))
    calls = {pin_text(call): call for call in plan.externals("quotes")}
    one, two = (plan.queries.number(id) for id in ("one", "two"))
    summary = Summary(
        rows=10, unreadable=2, accounts=QueryAccounts.of(np.array([one]), matches=3, delivered=3)
    )
    assert failures(context, plan, source, {calls["soundex(symbol)"]: "?"}, summary) == {one: 8 + 3, two: 0}
    assert failures(context, plan, source, dict.fromkeys(calls.values(), "?"), summary) == {one: 11, two: 8}
    assert failures(context, plan, source, {}, summary) == {}
