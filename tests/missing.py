"""What a test needs and does not find: it is skipped, but not in continuous integration, which has to have everything."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Skip the test with the reason; fail it where CI is set."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; continuous integration has to run this test")
    # The only skip that there is: on a laptop without a server or data the other tests are worth a run. Nothing is lost by it,
    # for where CI is set the same test fails instead.
    pytest.skip(reason)
