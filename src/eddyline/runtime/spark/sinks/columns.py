"""Whether an output has selected values as columns or as text: settled once for a folder, with its first rows.

The file `_columns.json` holds it: a folder that has typed columns today has them tomorrow, whatever queries come.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Final

from eddyline.errors import DeliveryError, SinkError
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.sinks.base import Lists
from eddyline.runtime.spark.sinks.storage import OutputFolder
from eddyline.runtime.spark.sinks.typed import TypedList, typed_list

COLUMNS: Final = "_columns.json"
FLAT: Final = frozenset({"csv"})  # formats that have no nested columns
_log = logging.getLogger(__name__)


class OutputColumns:
    """The columns of one output; what is settled does not change, so it is read once."""

    def __init__(self, storage: OutputFolder, settings: SinkSettings) -> None:
        self._storage = storage
        self._settings = settings
        self._settled: tuple[TypedList | None] | None = None

    def for_lists(self, lists: Lists) -> TypedList | None:
        """The typed columns for what queries select, None where it is to come as text; nothing is written.

        The numbers of the list are those SELECT lists that have just these columns.
        """
        known = _known(self._settings, lists)
        settled = self._read()
        typed = choose(self._settings, known) if settled is None else settled[0]
        if typed is None:
            return None
        numbers = tuple(number for number, of in known.items() if typed.same(of))
        return replace(typed, numbers=numbers, beside_payload=self._settings.columns == "auto")

    def settle(self, typed: TypedList | None) -> None:
        """Write down what the first rows come in, if that was not done; a `DeliveryError` if it was, otherwise.

        Rows were made for the columns that `for_lists` gave. Where another source was first with others, they have to be
        made again: written as they are, some would have neither columns nor text.
        """
        if self._read() is None:
            content = json.dumps({"columns": None if typed is None else typed.to_json()})
            self._storage.put_if_absent(COLUMNS, content.encode())
        settled = self._read()
        assert settled is not None, "columns that were just written"
        fits = typed is None if settled[0] is None else settled[0].same(typed)
        if not fits:
            raise DeliveryError(
                f"the columns of {self._storage.address} were settled by another source meanwhile",
                hint="the batch is made again for these columns",
            )

    def _read(self) -> tuple[TypedList | None] | None:
        if self._settled is not None:
            return self._settled
        content = self._storage.read(COLUMNS)
        if content is None:
            return None
        try:
            found = json.loads(content)["columns"]
            self._settled = (None if found is None else TypedList.of_json(found),)
        except (ValueError, KeyError, TypeError):
            raise SinkError(f"{self._storage.address}/{COLUMNS} is damaged") from None
        return self._settled


def choose(settings: SinkSettings, known: dict[int, TypedList | None]) -> TypedList | None:
    """Typed columns where all queries of the sink share one SELECT list, or, where asked for, those of the first list."""
    if settings.columns == "payload" or not known:
        return None
    first = known[min(known)]
    if first is None and settings.columns == "typed":
        _log.warning('sink "%s" has payloads: its first SELECT list has types that files lose', settings.name)
    if first is None or settings.columns == "typed":
        return first
    return first if all(first.same(of) for of in known.values()) else None


def _known(settings: SinkSettings, lists: Lists) -> dict[int, TypedList | None]:
    nested = settings.format not in FLAT
    return {number: typed_list(schema, nested=nested) for number, schema in lists.items()}
