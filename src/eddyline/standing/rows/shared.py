"""The distinct values that the columns of a set point to, and their form as texts in files."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Final

import pyarrow as pa

from eddyline.functions.evaluate import fallible
from eddyline.model.catalog import Stream
from eddyline.model.codec import decode_expression, encode_expression
from eddyline.model.expression import Expression
from eddyline.model.join import Normal, NormalJoin
from eddyline.model.predicate import conditions_of
from eddyline.model.query import Output
from eddyline.standing.rows.distinct import Distinct, TextForm

Selection = tuple[Stream, tuple[Output, ...]]
Parts = tuple[Expression, ...]
SavedTexts = tuple[int, Callable[[], pa.ChunkedArray]]  # how many there are, and who reads them


def _same(text: str | None) -> str | None:
    return text


def _write_selection(selection: Selection) -> str:
    stream, outputs = selection
    return json.dumps([stream.name, [[o.name, encode_expression(o.expression)] for o in outputs]])


@lru_cache(maxsize=65_536)  # versions that a process has open share most of their lists
def _read_outputs(text: str) -> tuple[str, tuple[Output, ...]]:
    stream, outputs = json.loads(text)
    return stream, tuple([Output(name, decode_expression(data)) for name, data in outputs])


def _read_selection(streams: Mapping[str, Stream], text: str | None) -> Selection:
    assert text is not None, "every query selects something"
    stream, outputs = _read_outputs(text)
    return streams[stream], outputs


def _write_parts(parts: Parts) -> str:
    return json.dumps([encode_expression(part) for part in parts])


@lru_cache(maxsize=65_536)
def _read_parts(text: str | None) -> Parts:
    data: list[Any] = json.loads(text or "[]")
    return tuple([decode_expression(part) for part in data])


_DESTINATION: Final = TextForm(_same, _same)
_SELECTION: Final = TextForm(_write_selection, partial(_read_selection, {}))
_PARTS: Final = TextForm(_write_parts, _read_parts)


@dataclass(frozen=True, slots=True)
class Shared:
    """They only grow, so that all versions of a set share them; who adds to them holds `growing`."""

    destinations: Distinct[str | None] = field(default_factory=lambda: Distinct(_DESTINATION))
    selections: Distinct[Selection] = field(default_factory=lambda: Distinct(_SELECTION))
    fallibles: Distinct[Parts] = field(default_factory=lambda: Distinct(_PARTS))
    growing: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _parts: dict[Expression, Parts] = field(default_factory=dict, repr=False)

    @staticmethod
    def opened(
        streams: Mapping[str, Stream], destinations: SavedTexts, selections: SavedTexts, fallibles: SavedTexts
    ) -> Shared:
        """Those of a set that was saved, with the streams that it has."""
        selection = TextForm(_write_selection, partial(_read_selection, streams))
        return Shared(
            Distinct(_DESTINATION, *destinations),
            Distinct(selection, *selections),
            Distinct(_PARTS, *fallibles),
        )

    def parts(self, query: Normal) -> Parts:
        """The largest parts of a query's conditions that can fail, each once; a join's are those of its roles."""
        if isinstance(query, NormalJoin):
            return ()
        found: dict[Expression, None] = {}
        for condition in conditions_of(query.predicate):
            known = self._parts.get(condition.subject)
            if known is None:
                known = self._parts[condition.subject] = fallible(condition.subject)
            if known:
                found.update(dict.fromkeys(known))
        return tuple(found)
