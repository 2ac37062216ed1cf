"""Settings of the whole interpreter, for processes that are ours: commands, benchmarks, the process that merges.

A library leaves the process of its users as it is; nothing here is called by it.
"""

from __future__ import annotations

import gc
from typing import Final

RARELY: Final = (100_000, 50, 50)


def collect_rarely() -> None:
    """Let the garbage collector look for cycles a hundred times less often.

    What compiling makes stays, and hardly any of it refers back to itself. Measured: 4,000 queries are compiled and
    indexed in 0.27 s instead of 0.36 s, with the collector switched off in 0.25 s.
    """
    gc.set_threshold(*RARELY)
