"""How many comparisons each judge made, printed at the end of a run: a test that became quicker may have lost some.

One comparison: what one query gives for one batch, against what the judge says.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

_made: Counter[str] = Counter()


def compared(judge: str, count: int) -> None:
    """Count comparisons; call it once they are known to agree, or right before that is asserted."""
    _made[judge] += count


class Comparisons:
    """The plugin that brings the numbers of all processes together and prints them."""

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:  # a process of xdist: what it puts there travels to the one that prints
            output["comparisons"] = dict(_made)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        _made.update(getattr(node, "workeroutput", {}).get("comparisons", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if _made:
            terminalreporter.section("comparisons")
        for judge, count in sorted(_made.items()):
            terminalreporter.write_line(f"{count:10,}  {judge}")
