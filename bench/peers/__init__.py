"""The same queries in Polars, DuckDB and SQLite, on one thread."""

import os

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when polars is imported for the first time
