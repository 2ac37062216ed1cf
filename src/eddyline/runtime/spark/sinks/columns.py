"""Whether an output has selected values as columns or as text: settled once for a folder, with its first rows.

The file `_columns.json` holds it: a folder that has typed columns today has them tomorrow, whatever queries come.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Final

from eddyline.errors import SinkError
from eddyline.runtime.spark.pipeline.settings import SinkSettings
from eddyline.runtime.spark.sinks.base import Lists
from eddyline.runtime.spark.sinks.storage import Storage
from eddyline.runtime.spark.sinks.typed import TypedList, typed_list

COLUMNS: Final = "_columns.json"
FLAT: Final = frozenset({"csv"})  # formats that have no nested columns
_log = logging.getLogger(__name__)


def settle(storage: Storage, settings: SinkSettings, lists: Lists | None) -> TypedList | None:
    """The typed columns of an output, None where it has text; chosen and written down with its first rows.

    The numbers of the list are those projections of this batch that have just these columns.
    """
    known = _known(settings, lists or {})
    settled = _read(storage)
    if settled is None:
        chosen = choose(settings, known)
        content = json.dumps({"columns": None if chosen is None else chosen.to_json()})
        storage.write(COLUMNS, content.encode(), new=True)  # where another source was first, its choice holds
        settled = _read(storage)
        assert settled is not None, "columns that were just written"
    typed = settled[0]
    if typed is None:
        return None
    numbers = tuple(number for number, of in known.items() if typed.same(of))
    return replace(typed, numbers=numbers, beside_payload=settings.columns == "auto")


def _read(storage: Storage) -> tuple[TypedList | None] | None:
    content = storage.read(COLUMNS)
    if content is None:
        return None
    try:
        found = json.loads(content)["columns"]
        return (None if found is None else TypedList.of_json(found),)
    except (ValueError, KeyError, TypeError):
        raise SinkError(f"{storage.address}/{COLUMNS} is damaged") from None


def choose(settings: SinkSettings, known: dict[int, TypedList | None]) -> TypedList | None:
    """Typed columns where all queries of the sink share one SELECT list, or, where asked for, those of the first list."""
    if settings.columns == "payload" or not known:
        return None
    first = known[min(known)]
    if first is None and settings.columns == "typed":
        _log.warning('sink "%s" has payloads: its first SELECT list has types that JSON loses', settings.name)
    if first is None or settings.columns == "typed":
        return first
    return first if all(first.same(of) for of in known.values()) else None


def _known(settings: SinkSettings, lists: Lists) -> dict[int, TypedList | None]:
    nested = settings.format not in FLAT
    return {number: typed_list(schema, nested=nested) for number, schema in lists.items()}
