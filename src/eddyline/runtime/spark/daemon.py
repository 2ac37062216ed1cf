"""Spark's daemon for Python workers, with Eddyline loaded: what it forks need not import or load anything any more.

Spark runs this as a program where `spark.python.daemon.module` names it. The daemon must have no thread of its own when
it forks, so nothing here starts one: Arrow's pools are kept at one thread, which is the one that calls, and the session
sets the variables (`WARM`) that keep allocators and linear algebra from starting theirs.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

import pyarrow as pa


def warm() -> None:
    """Import what workers need, and have the compiled kernels in memory."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    import pyspark.worker  # noqa: F401

    from eddyline.queryset import warming
    from eddyline.runtime.spark.dataframe import worker  # noqa: F401

    warming.warm()


def main() -> None:
    """Warm up, then serve Spark as its own daemon does."""
    from pyspark.daemon import manager

    with redirect_stdout(sys.stderr):  # Spark reads the daemon's port from its output
        try:
            warm()
        except Exception as error:  # the workers will say it again where somebody can see it
            print(f"eddyline: workers start cold: {error!r}", file=sys.stderr)  # noqa: T201
    manager()


if __name__ == "__main__":
    main()
