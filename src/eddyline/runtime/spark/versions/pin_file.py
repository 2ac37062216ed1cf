"""The pins of a thousand batches of a source: the lines of a log, read on as it grows.

    {"batch": 17, "version": 4, "at": "...", "orders": [{...}]}     pinned, with the orders of its segments
    {"batch": 18, "version": 4, "at": "...", "orders": 17}          with those of batch 17, in the same log
    {"batch": 18, ..., "nulled": ["..."]}                           updated: the last line of a batch holds
    {"batch": 18, ..., "set_aside": [["path", "reason"]]}           the same: without some of its files
    {"batch": 18, ..., "settled": true}                             the same: delivery may have begun
    {"batch": 17, "account": {...}, "committed": "..."}             done

Lines of releases that knew no orders have none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from eddyline.errors import FileError
from eddyline.runtime.spark.versions.orders import Orders, SegmentOrder
from eddyline.storage.storage import Storage


class SetAside(NamedTuple):
    """A file that a batch is evaluated without: its address as Spark's log has it, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Pin:
    """Which version serves a batch, in which orders its segments are evaluated.

    `nulled` is the SQL of calls that only Spark has and that count as NULL in it. `set_aside` are files that it is
    evaluated without. Once it is `settled`, neither changes any more: its results may have been delivered.
    """

    source: str
    batch_id: int
    version: int
    at: datetime
    nulled: tuple[str, ...] = ()
    orders: Orders = ()
    set_aside: tuple[SetAside, ...] = ()
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Served:
    """A batch: its pin, and once it is done when that was and the account of it."""

    pin: Pin
    committed: datetime | None = None
    account: Mapping[str, Any] = field(default_factory=dict)


class PinFile:
    """A thousand batches of a source: the content of a log, read on as it grows."""

    def __init__(self, storage: Storage, name: str, source: str) -> None:
        self._where = f"{storage.address}/{name}"
        self._log = storage.line_log(name)
        self._source = source
        self._same: int | None = None  # the last batch whose line has orders in full
        self.batches: dict[int, Served] = {}

    def read(self) -> None:
        """Read what was written since."""
        for line in self._log.read():
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise FileError(
                    f"{self._where} is damaged: {error!r}", hint="restore the checkpoint from a copy"
                ) from error

    def line(self, pin: Pin) -> dict[str, Any]:
        """A pin as a line; orders that the last one has too are told by its number."""
        line: dict[str, Any] = {"batch": pin.batch_id, "version": pin.version, "at": pin.at.isoformat()}
        more = {"nulled": pin.nulled, "set_aside": pin.set_aside, "settled": pin.settled}
        line |= {name: value for name, value in more.items() if value}
        if pin.orders and self._same is not None and self.batches[self._same].pin.orders == pin.orders:
            return {**line, "orders": self._same}
        return {**line, "orders": [order.as_json() for order in pin.orders]} if pin.orders else line

    def append(self, line: Mapping[str, Any]) -> bool:
        """Write one more line, which lasts once this returns; False if others were first, and have to be read."""
        appended = self._log.append(json.dumps(line).encode())
        if appended:
            self._take(line)
        return appended

    def _take(self, line: Mapping[str, Any]) -> None:
        batch_id = int(line["batch"])
        if "version" in line:
            pin = Pin(
                self._source,
                batch_id,
                int(line["version"]),
                datetime.fromisoformat(line["at"]),
                nulled=tuple(line.get("nulled", ())),
                orders=self._orders(line),
                set_aside=tuple([SetAside(*one) for one in line.get("set_aside", ())]),
                settled=bool(line.get("settled", False)),
            )
            served = self.batches.get(batch_id)
            self.batches[batch_id] = Served(pin) if served is None else replace(served, pin=pin)
        else:
            done = datetime.fromisoformat(line["committed"])
            self.batches[batch_id] = replace(self.batches[batch_id], committed=done, account=line["account"])

    def _orders(self, line: Mapping[str, Any]) -> Orders:
        found = line.get("orders", ())
        if isinstance(found, int):
            return self.batches[found].pin.orders
        if found:
            self._same = int(line["batch"])
        return tuple([SegmentOrder.of(one) for one in found])
