"""Tests that share a server or a Spark run in one process: a pytest that pytest-xdist does not know splits them in silence."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("number", [1])
def test_the_tests_of_a_file_run_in_one_process(request: pytest.FixtureRequest, number: int) -> None:
    if getattr(request.config.option, "loadgroup", False):
        assert request.node.nodeid.endswith("@tests/architecture/test_groups.py")
