"""What goes with the queries of a compiled version: revision, state, destination, SELECT list, what can fail.

By query number of the set, in pages of `ROWS` numbers that versions share: a change writes the pages that it touches.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.model.catalog import Stream
from eddyline.model.codec import decode_expression, encode_expression
from eddyline.model.query import Output
from eddyline.project.select_list import SelectList
from eddyline.queryset import QuerySet
from eddyline.runtime.spark.versions.fallible import Fallible
from eddyline.runtime.spark.versions.lexicon import read_texts
from eddyline.standing.files import pages_of, read_manifest, root_of
from eddyline.standing.pages import Page, joined, open_page
from eddyline.standing.stream_json import unpack_stream
from eddyline.storage.local import LocalStorage

if TYPE_CHECKING:
    from eddyline.runtime.spark.transport.shipping import Shipment

PARTS: Final = ("table", "destinations", "projections", "fallibles")
ROWS: Final = 16_384  # numbers of a page
MAX_OPEN: Final = 4  # versions that a process keeps open

Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]

_open: OrderedDict[str, Deliverables] = OrderedDict()
_opening: Final = Lock()


class Deliverables:
    """What goes with each query number of a version; what belongs to removed numbers means nothing.

    `revision`, `number` (the registry's), `shadow`, `destination` (a place in `destinations`), `projection` (a place
    in `projections`) and `fallible` (the place of a list) are arrays by query number, and so are `ids`. All is read when
    it is first asked for.
    """

    def __init__(self, folder: Path) -> None:
        manifest = read_manifest(folder)
        self._manifest = manifest
        self._notes: Mapping[str, Any] = manifest["notes"]
        storage = LocalStorage(root_of(folder, manifest))

        def opened(names: Iterable[Page]) -> list[pa.Table]:
            return [open_page(storage, page.name) for page in names]

        self._queries = opened(pages_of(manifest))
        self._table, self._destinations, self._projections, self._fallibles = (
            opened(named(self._notes[part])) for part in PARTS
        )
        self._fallible_in: dict[str, Fallible] = {}
        self.version: int = self._notes["registry"]["version"]
        self.time_zone: str = manifest["time_zone"]
        self.size: int = manifest["size"]

    @cached_property
    def streams(self) -> dict[str, Stream]:
        """The streams of the version by name."""
        return {data["name"]: unpack_stream(data) for data in self._manifest["streams"]}

    @cached_property
    def ids(self) -> pa.Array:
        """The query's id."""
        return pa.concat_arrays([*joined(self._queries, "id").chunks, pa.array([], pa.string())])

    @cached_property
    def revision(self) -> Integers:
        """Which text of the query it is, counted from one."""
        return self._column("revision", np.int32)

    @cached_property
    def number(self) -> Integers:
        """The number that the registry gave to this text of the query."""
        return self._column("number", np.int64)

    @cached_property
    def shadow(self) -> Flags:
        """Whether its matches are counted and not delivered."""
        return self._column("shadow", np.int8).astype(np.bool_)

    @cached_property
    def destination(self) -> Integers:
        """Where its results go: a place in `destinations`."""
        return self._column("destination", np.int32)

    @cached_property
    def projection(self) -> Integers:
        """What it selects: a place in `projections`."""
        return self._column("projection", np.int32)

    @cached_property
    def fallible(self) -> Integers:
        """Which parts of its condition can fail: the place of a list of them."""
        return self._column("fallible", np.int32)

    def fallible_in(self, stream: str, queries: QuerySet) -> Fallible:
        """What can fail in the conditions of the queries over a stream; `queries` are those of the version."""
        found = self._fallible_in.get(stream)
        if found is None:
            texts = [text or "" for text in read_texts(self._fallibles)]
            found = self._fallible_in[stream] = Fallible(stream, texts, self.fallible, queries.numbers)
        return found

    @cached_property
    def destinations(self) -> list[str | None]:
        """The distinct destinations; None for queries that name none."""
        return read_texts(self._destinations)

    @cached_property
    def projections(self) -> Sequence[SelectList]:
        """The distinct SELECT lists."""
        texts = read_texts(self._projections)
        return Projections([text or "" for text in texts], self.streams, self.time_zone)

    @property
    def problems(self) -> dict[str, str]:
        """The queries that are left out of the version, and why."""
        return dict(self._notes["problems"])

    def _column(self, name: str, kind: type) -> npt.NDArray[Any]:
        pieces = [np.asarray(piece) for piece in joined(self._table, name).chunks]
        return np.concatenate([*pieces, np.empty(0, kind)]).astype(kind, copy=False)


class Projections(Sequence[SelectList]):
    """SELECT lists, each made when it is first wanted."""

    def __init__(self, texts: Sequence[str], streams: Mapping[str, Stream], time_zone: str) -> None:
        self._texts = texts
        self._streams = streams
        self._time_zone = time_zone
        self._made: dict[int, SelectList] = {}

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> SelectList: ...

    @overload
    def __getitem__(self, place: slice) -> list[SelectList]: ...

    def __getitem__(self, place: int | slice) -> SelectList | list[SelectList]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = int(place)
        if place not in self._made:
            stream, outputs = decode_outputs(self._texts[place])
            self._made[place] = SelectList(place, self._streams[stream], outputs, self._time_zone)
        return self._made[place]


def encode_outputs(stream: str, outputs: Iterable[Output]) -> str:
    """A SELECT list over a stream as a text."""
    return json.dumps([stream, [[output.name, encode_expression(output.expression)] for output in outputs]])


@lru_cache(maxsize=65_536)  # versions share most of their lists
def decode_outputs(text: str) -> tuple[str, tuple[Output, ...]]:
    """The stream and the SELECT list that `encode_outputs` wrote."""
    stream, outputs = json.loads(text)
    return stream, tuple([Output(name, decode_expression(data)) for name, data in outputs])


def named(pages: Iterable[Sequence[Any]]) -> list[Page]:
    """Pages as a manifest names them."""
    return [Page(*page) for page in pages]


def open_deliverables(shipment: Shipment | str | Path) -> Deliverables:
    """What goes with a compiled version that was shipped, or that lies in a folder; the newest few stay open."""
    if isinstance(shipment, str | Path):
        return Deliverables(Path(shipment).absolute())
    with _opening:
        found = _open.get(shipment.key)
        if found is None:
            found = _open[shipment.key] = Deliverables(shipment.path().absolute())
            while len(_open) > MAX_OPEN:
                _open.popitem(last=False)
        _open.move_to_end(shipment.key)
        return found
