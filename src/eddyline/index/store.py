"""Segments as folders: one `.npy` file an array, opened memory-mapped, and a description in JSON with checksums.

segment/
    segment.json      subjects, shape of the program, name, size and checksum of every array
    sliced.0.npy ...
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
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

FORMAT: Final = 5
_HEAD: Final = "segment.json"


def save_segment(segment: Segment, folder: Path, numbers: npt.NDArray[Any]) -> None:
    """Write a segment into a folder of its own, with what its queries are called, the description last."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, int] = {}

    def put(array: npt.NDArray[Any]) -> str:
        name = f"{len(files)}.npy"
        np.save(folder / name, array, allow_pickle=False)
        files[name] = zlib.crc32((folder / name).read_bytes())
        return name

    head = {**describe(segment, put), "numbers": put(numbers), "files": files}
    (folder / _HEAD).write_text(json.dumps(head), encoding="utf-8")


def load_segment(folder: Path, *, verify: bool = True) -> tuple[Segment, npt.NDArray[Any]]:
    """Open a segment, and what its queries are called; its arrays stay on disk until they are used. Without `verify` they are not read through first."""
    try:
        head = json.loads((folder / _HEAD).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(
            f"{folder.name} is not a segment: {error}", hint="save the query set again"
        ) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        found = head.get("format") if isinstance(head, dict) else None
        raise FileError(
            f"{folder.name} has segment format {found}, not {FORMAT}", hint="save the query set again"
        )
    for name, checksum in head["files"].items() if verify else ():
        _check(folder / name, checksum)

    def get(name: str) -> npt.NDArray[Any]:
        # Copy-on-write, not read-only: kernels are compiled for writable arrays.
        return np.asarray(np.load(folder / name, mmap_mode="c", allow_pickle=False))

    return described(head, get), get(head["numbers"])


def describe(segment: Segment, put: Callable[[npt.NDArray[Any]], str]) -> dict[str, Any]:
    """A segment as JSON, its arrays put away under the names that `put` gives them."""
    return {
        "format": FORMAT,
        "stream": segment.stream,
        "size": segment.size,
        "sliced": _pack_sliced(segment.sliced, put),
        "keyed": _pack_keyed(segment.keyed, put),
        "rowwise": None if segment.rowwise is None else _pack_rowwise(segment.rowwise, put),
    }


def described(head: dict[str, Any], get: Callable[[str], npt.NDArray[Any]]) -> Segment:
    """The segment that `describe` put away."""
    sliced, keyed = _unpack_sliced(head["sliced"], get), _unpack_keyed(head["keyed"], get)
    rowwise = None if head["rowwise"] is None else _unpack_rowwise(head["rowwise"], get)
    return Segment(head["stream"], head["size"], sliced, keyed, rowwise)


def _check(path: Path, checksum: int) -> None:
    try:
        found = zlib.crc32(path.read_bytes())
    except OSError as error:
        raise FileError(
            f"{path.parent.name}/{path.name} is missing", hint="save the query set again"
        ) from error
    if found != checksum:
        raise FileError(f"{path.parent.name}/{path.name} is damaged", hint="save the query set again")


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
