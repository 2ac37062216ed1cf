"""A Python function that gets every batch as an Arrow table, where the pipeline runs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from eddyline.errors import SinkError
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.values import Batch, PipelineIdentity
from eddyline.runtime.spark.sinks.base import TextSink, delivering
from eddyline.runtime.spark.sinks.shape import columns
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class CallbackSink(TextSink):
    """Calls `function(table, batch)`; a batch may come again, with the same number and the same rows."""

    def __init__(self, settings: SinkSettings) -> None:
        super().__init__(settings)
        self._function: Callable[[Any, Batch], object] | None = None

    def inspect(self, pipeline: PipelineIdentity | None = None) -> None:
        """Refuse a function that is not there."""
        find_function(self._settings.callback, self.name)

    def open(self, pipeline: PipelineIdentity) -> None:
        """Import the function."""
        self._function = find_function(self._settings.callback, self.name)

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Collect a batch and call the function."""
        assert self._function is not None, "a sink is opened before it gets rows"
        with delivering(self._settings, batch):
            table = columns(rows, None).toArrow()
            if table.num_rows:
                self._function(table, batch)
            return int(table.num_rows)


def find_function(named: str | Callable[..., Any] | None, sink: str) -> Callable[..., Any]:
    """The function that `module:function` names, or a `SinkError`.

    >>> find_function("json:dumps", "out").__name__
    'dumps'
    """
    if callable(named):
        return named
    module, _, name = (named or "").partition(":")
    if not module or not name:
        raise SinkError(
            f'sink "{sink}" names no function',
            hint='callback = "module:function", called with table and batch',
        )
    try:
        found: Any = import_module(module)
        for step in name.split("."):
            found = getattr(found, step)
    except Exception as error:  # whatever the module does when it is imported
        raise SinkError(f'the function "{named}" of sink "{sink}" is not there: {error}') from None
    if not callable(found):
        raise SinkError(f'"{named}" of sink "{sink}" is not a function')
    return found  # type: ignore[no-any-return]
