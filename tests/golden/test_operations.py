"""Every operation on odd values, as Spark evaluates it."""

from __future__ import annotations

import pytest

from eddyline import reference
from tests.comparisons import compared
from tests.golden.operation_facts import FILES, facts, same


@pytest.mark.parametrize("file", FILES)
def test_the_reference_agrees_with_spark(file: str) -> None:
    wrong = []
    for fact in facts(file):
        compared("Spark: recorded operations", 1)
        found = reference.evaluate(fact.call, fact.row, time_zone=fact.time_zone)
        if not same(found, fact.result):
            wrong.append(
                f"{fact.call.function} {fact.row} -> {fact.call.type}: {found!r}, Spark has {fact.result!r}"
            )
    assert not wrong, "\n".join(wrong)
