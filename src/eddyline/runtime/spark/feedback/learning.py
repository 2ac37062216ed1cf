"""The orders of all sources of a pipeline, reconsidered by a thread of their own."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from eddyline.config import OrderSettings
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.feedback.source import BatchTold, SourceFeedback
from eddyline.runtime.spark.versions.orders import Orders
from eddyline.runtime.spark.watching.logs import event

log = logging.getLogger("eddyline.pipeline")


class Learning:
    """Learns beside the batches; whatever goes wrong here, they go on in the orders that they have."""

    def __init__(self, settings: OrderSettings, recorded: Callable[[str], Orders]) -> None:
        """`recorded` gives the orders of a source's last batch."""
        self._settings = settings
        self._recorded = recorded
        self._sources: dict[str, SourceFeedback] = {}
        self._busy: dict[str, Future[None]] = {}
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eddyline-order")

    def of(self, source: str) -> SourceFeedback:
        """The orders of a source."""
        with self._lock:
            if source not in self._sources:
                self._sources[source] = SourceFeedback(self._settings, self._recorded(source))
            return self._sources[source]

    def learn(self, source: str, queries: QuerySet, stream: str, told: BatchTold) -> None:
        """Have a batch looked at soon; not at all while an earlier one of the source is."""
        busy = self._busy.get(source)
        if told.orders and (busy is None or busy.done()):
            self._busy[source] = self._thread.submit(self._learn, source, queries, stream, told)

    def wait(self) -> None:
        """Wait until nothing is being reconsidered; only tests need to."""
        for busy in list(self._busy.values()):
            busy.result()

    def close(self) -> None:
        """Let go of the thread; what it is doing is of no use any more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _learn(self, source: str, queries: QuerySet, stream: str, told: BatchTold) -> None:
        try:
            self.of(source).learn(queries, stream, told)
        except Exception as error:
            text = f"orders stay as they are: {type(error).__name__}: {error}"
            event(log, text, level=logging.WARNING, source=source)
