"""The switch that rewrites the expected halves of golden files: `make golden`."""

from __future__ import annotations

import pytest

# So that a file that differs is shown line by line: pytest does so by itself in test modules alone.
pytest.register_assert_rewrite("tests.golden.golden_cases")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write what was found as what is expected")


@pytest.fixture
def rewrite_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--rewrite-golden", default=False))
