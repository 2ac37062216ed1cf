"""Segments as files: one for each, mapped into memory, so that arrays stay on disk until they are used.

    magic | length of the head | head: JSON, with type, shape and place of every array | arrays, aligned

Measured: a segment of a few queries has some 60 arrays; on disk for sure as one file they take 2 ms, as 60 files 200 ms.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.errors import FileError
from eddyline.index.asc import assemble
from eddyline.index.cutting import Cutting, Offsets
from eddyline.index.direct import Direct
from eddyline.index.edges import Edges
from eddyline.index.hull import Hull
from eddyline.index.keyed import KeyedIndex, KeyedTable
from eddyline.index.pattern_groups import Derived, PatternGroup
from eddyline.index.program import Conjunctions, Program, Steps
from eddyline.index.rowwise import RowwiseIndex
from eddyline.index.segment import Segment
from eddyline.index.sliced import Ranges, Shelf, SlicedIndex, Tables
from eddyline.model.codec import decode_expression, decode_value, encode_expression, encode_value
from eddyline.model.expression import Call
from eddyline.model.sequence import Sequence

FORMAT: Final = 6
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

    sliced, keyed = _unpack_sliced(head["sliced"], get), _unpack_keyed(head["keyed"], get)
    rowwise = None if head["rowwise"] is None else _unpack_rowwise(head["rowwise"], get)
    return Segment(head["stream"], head["size"], sliced, keyed, rowwise)


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


def _describe(segment: Segment, put: Callable[[npt.NDArray[Any]], str]) -> dict[str, Any]:
    """A segment as JSON, its arrays put away under the names that `put` gives them."""
    return {
        "format": FORMAT,
        "stream": segment.stream,
        "size": segment.size,
        "sliced": _pack_sliced(segment.sliced, put),
        "keyed": _pack_keyed(segment.keyed, put),
        "rowwise": None if segment.rowwise is None else _pack_rowwise(segment.rowwise, put),
    }


def _pack_cutting(cutting: Cutting, put: Any) -> Any:
    by_value = isinstance(cutting.constants, tuple)
    constants = [encode_value(v) for v in cutting.constants] if by_value else put(cutting.constants)
    by_offset = isinstance(cutting, Offsets)
    return [encode_expression(cutting.subject), by_value, constants, cutting.points_only, by_offset]


def _unpack_cutting(data: Any, get: Any) -> Cutting:
    subject, by_value, constants, points_only, by_offset = data
    values = tuple([decode_value(v) for v in constants]) if by_value else get(constants)
    return (Offsets if by_offset else Cutting)(decode_expression(subject), values, points_only)


def _pack_arrays(value: Any, names: tuple[str, ...], put: Any) -> dict[str, str]:
    return {name: put(getattr(value, name)) for name in names}


_EDGES: Final = ("rows", "tops", "slots", "targets", "uppers", "lowers")
_RANGES: Final = ("rows", "lows", "spans", "slots")
_TABLES: Final = ("rows", "offsets", "slots", "bits")
_STEPS: Final = ("targets", "lefts", "rights", "flips", "emits")
_DIRECT: Final = ("arities", "firsts", "sizes", "offsets", "rows", "lows", "spans")
_DERIVED: Final = ("targets", "hits", "nulls", "flags")
_KEYED: Final = ("packed", "starts", "results", "bounds", "leasts", "minima")


def _pack_sliced(index: SlicedIndex, put: Any) -> Any:
    program = index.program
    return {
        "cuttings": [_pack_cutting(cutting, put) for cutting in index.cuttings],
        "shelves": [
            {
                "subjects": shelf.subjects,
                "edges": _pack_arrays(shelf.edges, _EDGES, put),
                "ranges": _pack_arrays(shelf.ranges, _RANGES, put),
                "firsts": shelf.ranges.firsts,
                "tables": _pack_arrays(shelf.tables, _TABLES, put),
            }
            for shelf in index.shelves
        ],
        "patterns": [
            [[encode_expression(call) for call in group.calls], put(group.slots)] for group in index.patterns
        ],
        "derived": _pack_arrays(index.derived, _DERIVED, put),
        "hulls": [[hull.subject, put(hull.alive)] for hull in index.hulls],
        "conditions": index.conditions,
        "slots": program.slots,
        "steps": _pack_arrays(program.steps, _STEPS, put),
        "groups": [[group.arity, group.first, put(group.operands)] for group in program.groups],
        "always": program.always,
        "direct": _pack_arrays(program.direct, _DIRECT, put),
        "order": put(program.order),
        "numbers": put(index.numbers),
    }


def _unpack_sliced(data: Any, get: Any) -> SlicedIndex:
    shelves = tuple(
        [
            Shelf(
                tuple(shelf["subjects"]),
                Edges(**{name: get(file) for name, file in shelf["edges"].items()}),
                Ranges(**{name: get(file) for name, file in shelf["ranges"].items()}, firsts=shelf["firsts"]),
                Tables(**{name: get(file) for name, file in shelf["tables"].items()}),
            )
            for shelf in data["shelves"]
        ]
    )
    program = Program(
        data["slots"],
        Steps(**{name: get(file) for name, file in data["steps"].items()}),
        tuple([Conjunctions(arity, first, get(file)) for arity, first, file in data["groups"]]),
        (data["always"][0], data["always"][1]),
        Direct(**{name: get(file) for name, file in data["direct"].items()}),
        get(data["order"]),
    )
    cuttings = tuple([_unpack_cutting(cutting, get) for cutting in data["cuttings"]])
    patterns = tuple([PatternGroup(_calls(calls), get(slots)) for calls, slots in data["patterns"]])
    derived = Derived(**{name: get(file) for name, file in data["derived"].items()})
    numbers = get(data["numbers"])
    hulls = tuple([Hull(subject, get(alive)) for subject, alive in data["hulls"]])
    return SlicedIndex(cuttings, shelves, patterns, derived, hulls, data["conditions"], program, numbers)


def _calls(data: list[Any]) -> tuple[Call, ...]:
    return tuple([call for call in map(decode_expression, data) if isinstance(call, Call)])


def _pack_keyed(index: KeyedIndex, put: Any) -> Any:
    return {
        "keys": [_pack_cutting(cutting, put) for cutting in index.keys],
        "checks": [_pack_cutting(cutting, put) for cutting in index.checks],
        "tables": [[t.keys, t.checks, t.columns, _pack_arrays(t, _KEYED, put)] for t in index.tables],
        "repeated": put(index.repeated),
    }


def _unpack_keyed(data: Any, get: Any) -> KeyedIndex:
    tables = []
    for keys, checks, columns, arrays in data["tables"]:
        sides = tuple([(check, above) for check, above in columns])
        loaded = {name: get(file) for name, file in arrays.items()}
        tables.append(KeyedTable(tuple(keys), tuple(checks), sides, **loaded))
    keys, checks = (tuple([_unpack_cutting(c, get) for c in data[name]]) for name in ("keys", "checks"))
    return KeyedIndex(keys, checks, tuple(tables), get(data["repeated"]))


def _pack_rowwise(index: RowwiseIndex, put: Any) -> Any:
    ascs = index.ascs
    qubs = np.array([asc.qub for asc in ascs.ascs], np.uint64)
    return {
        "cuttings": [_pack_cutting(cutting, put) for cutting in ascs.cuttings],
        "qubs": put(qubs),
        "table": put(ascs.table),
        "numbers": put(ascs.numbers),
        "sequence": index.sequence.subjects,
        "rest": _pack_sliced(index.rest, put),
        "most_rows": index.most_rows,
    }


def _unpack_rowwise(data: Any, get: Any) -> RowwiseIndex:
    cuttings = tuple([_unpack_cutting(cutting, get) for cutting in data["cuttings"]])
    ascs = assemble(cuttings, get(data["qubs"]), get(data["table"]), get(data["numbers"]))
    rest = _unpack_sliced(data["rest"], get)
    return RowwiseIndex(ascs, Sequence(tuple(data["sequence"])), rest, data["most_rows"])
