"""The oracle has every canonical operation, and takes NULL as the table says."""

from __future__ import annotations

from eddyline.functions.operations import OPERATIONS
from eddyline.reference.operations import LAZY, STRICT, TOLERANT


def test_every_operation_has_one_meaning() -> None:
    assert sorted([*LAZY, *STRICT, *TOLERANT]) == sorted(OPERATIONS)


def test_strictness_is_that_of_the_table() -> None:
    assert set(STRICT) == {name for name, operation in OPERATIONS.items() if operation.strict}
