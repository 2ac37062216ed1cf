"""Segments as files: one for each, mapped into memory, so that arrays stay on disk until they are used.

    magic | length of the head | head: JSON, with type, shape and place of every array | arrays, aligned

Measured: a segment of a few queries has some 60 arrays; on disk for sure as one file they take 2 ms, as 60 files 200 ms.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.errors import FileError
from eddyline.index.kinds.kind import Put
from eddyline.index.kinds.table import KINDS
from eddyline.index.segment import Segment

FORMAT: Final = 7
_MAGIC: Final = b"EDDYSEG\x02"
_LEAD: Final = struct.Struct("<8sQ")
_ALIGNED: Final = 64
_HINT: Final = "save the query set again"


def pack_segment(segment: Segment) -> bytes:
    """The content of a segment's file; the same for the same queries."""
    arrays: dict[str, tuple[str, tuple[int, ...], int]] = {}
    pieces: list[bytes] = []
    end = 0

    def put(array: npt.NDArray[Any]) -> str:
        nonlocal end
        name = str(len(arrays))
        content = np.ascontiguousarray(array).tobytes()
        arrays[name] = (array.dtype.str, array.shape, end)
        padding = -len(content) % _ALIGNED
        pieces.append(content + bytes(padding))
        end += len(content) + padding
        return name

    head = _describe(segment, put)
    text = json.dumps({**head, "arrays": arrays, "bytes": end}).encode()
    lead = _LEAD.pack(_MAGIC, len(text))
    return b"".join([lead, text, bytes(-(len(lead) + len(text)) % _ALIGNED), *pieces])


def unpack_segment(content: npt.NDArray[np.uint8], name: str) -> Segment:
    """The segment of a file's content; `name` is for messages."""
    head, start = _head(content, name)
    body = content[start : start + head["bytes"]]
    if len(body) != head["bytes"]:
        raise FileError(f"segment {name} is damaged", hint=_HINT)

    def get(array: str) -> npt.NDArray[Any]:
        kind, shape, first = head["arrays"][array]
        dtype = np.dtype(kind)
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        found: npt.NDArray[Any] = body[first : first + size].view(dtype).reshape(shape)
        return found

    packed = head["indexes"]
    indexes = {kind.NAME: kind.unpack(packed[kind.NAME], get) for kind in KINDS if kind.NAME in packed}
    return Segment(head["stream"], head["size"], indexes)


def _head(content: npt.NDArray[np.uint8], name: str) -> tuple[dict[str, Any], int]:
    """The description of a segment, and where its arrays begin."""
    lead = content[: _LEAD.size].tobytes()
    if len(lead) < _LEAD.size or not lead.startswith(_MAGIC):
        raise FileError(f"{name} is not a segment of this version of eddyline", hint=_HINT)
    start = _LEAD.size + _LEAD.unpack(lead)[1]
    try:
        head: dict[str, Any] = json.loads(content[_LEAD.size : start].tobytes())
    except ValueError as error:
        raise FileError(f"segment {name} is damaged", hint=_HINT) from error
    if head["format"] != FORMAT:
        raise FileError(f"segment {name} has format {head['format']}, not {FORMAT}", hint=_HINT)
    return head, start + -start % _ALIGNED


def _describe(segment: Segment, put: Put) -> dict[str, Any]:
    """A segment as JSON, its arrays put away under the names that `put` gives them."""
    found = segment.indexes
    indexes = {kind.NAME: kind.pack(found[kind.NAME], put) for kind in KINDS if kind.NAME in found}
    return {"format": FORMAT, "stream": segment.stream, "size": segment.size, "indexes": indexes}
