"""Functions that Spark carries to its workers, which say what is wrong where a worker does not have this package.

Spark takes along the code of a function made inside another one, and what it holds: here only bytes and texts. So it
arrives everywhere, and the names of this package are looked up only when it runs.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa


def carried_rows(
    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` takes, to run a function of this package or a partial of one."""
    run = _carried(function)

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run(batches)  # type: ignore[no-any-return]

    return rows


def carried_column(function: Callable[..., Iterator[pa.Array]], arguments: int) -> Callable[..., Any]:
    """What `arrow_udf` takes; it goes by the annotations, which differ for one column and for several."""
    run = _carried(function)

    def of_one(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        return run(batches)  # type: ignore[no-any-return]

    def of_several(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        return run(batches)  # type: ignore[no-any-return]

    return of_one if arguments == 1 else of_several


def _carried(function: Callable[..., Any]) -> Callable[[Any], Any]:
    content = pickle.dumps(function)

    def run(batches: Any) -> Any:
        import pickle
        import sys

        where = f"the Python of the Spark workers ({sys.executable})"
        hint = (
            "hint: install there the eddyline that the driver has, with its dependencies, or use --py-files"
        )
        try:
            import eddyline  # noqa: F401
        except ImportError as error:
            raise ImportError(f"{where} cannot import eddyline: {error}\n{hint}") from None
        try:
            function = pickle.loads(content)
        except (ImportError, AttributeError) as error:
            raise ImportError(f"{where} has another eddyline than the driver: {error}\n{hint}") from None
        return function(batches)

    return run
