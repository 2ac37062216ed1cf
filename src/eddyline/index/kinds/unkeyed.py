"""Queries without a key: by masks of 512 tuples, row by row, or as it is the quickest for a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from eddyline.config import IndexSettings
from eddyline.index.boxes import Boxes
from eddyline.index.kinds.kind import Get, Put
from eddyline.index.kinds.packing import pack_arrays, pack_cutting, unpack_cutting
from eddyline.index.rowwise.asc import assemble
from eddyline.index.rowwise.rowwise import RowwiseIndex, build_rowwise, choose_rowwise
from eddyline.index.sliced.boxes import sliced_boxes
from eddyline.index.sliced.direct import Direct
from eddyline.index.sliced.edges import Edges
from eddyline.index.sliced.hull import Hull
from eddyline.index.sliced.pattern_groups import Derived, PatternGroup
from eddyline.index.sliced.program import Conjunctions, MaskProgram, Steps
from eddyline.index.sliced.sliced import Ranges, Shelf, SlicedIndex, Tables, build_sliced
from eddyline.model.codec import decode_expression, encode_expression
from eddyline.model.expression import Call, Expression
from eddyline.model.predicate import Predicate
from eddyline.model.visit_order import VisitOrder

NAME: Final = "unkeyed"
_EDGES: Final = ("rows", "tops", "slots", "targets", "uppers", "lowers")
_RANGES: Final = ("rows", "lows", "spans", "slots")
_TABLES: Final = ("rows", "offsets", "slots", "bits")
_STEPS: Final = ("targets", "lefts", "rights", "flips", "emits")
_DIRECT: Final = ("arities", "firsts", "sizes", "offsets", "rows", "lows", "spans")
_DERIVED: Final = ("targets", "hits", "nulls", "flags")


@dataclass(frozen=True)
class UnkeyedIndex:
    """Queries as masks, and plain conjunctions as ASCs.

    rowwise               sliced has            a batch goes
    None                  all queries           sliced
    for small batches     all queries           row by row if it is small, else as steering says
    for all batches       the other queries     row by row, and sliced for those
    """

    sliced: SlicedIndex
    rowwise: RowwiseIndex | None = None

    @property
    def subjects(self) -> Sequence[Expression]:
        """What conditions speak about."""
        cuttings = [*self.sliced.cuttings, *(self.rowwise.ascs.cuttings if self.rowwise is not None else ())]
        return [*(cutting.subject for cutting in cuttings), *(group.text for group in self.sliced.patterns)]

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return self.sliced.bytes + (self.rowwise.ascs.bytes if self.rowwise is not None else 0)


def build(
    predicates: Sequence[Predicate], slots: Sequence[int], settings: IndexSettings
) -> tuple[UnkeyedIndex | None, Sequence[int]]:
    """All queries that are left; nothing is made of those that are never true."""
    own = [predicates[slot] for slot in slots]
    if settings.executor == "rowwise":
        rowwise, other = build_rowwise(own, slots)
        sliced = _filtered(build_sliced([predicates[slot] for slot in other], other), settings)
        return UnkeyedIndex(sliced, rowwise), ()
    sliced = _filtered(build_sliced(own, slots, settings.direct), settings)
    index = UnkeyedIndex(sliced, choose_rowwise(own, slots, sliced, settings))
    return index if sliced.program.results else None, ()


def _filtered(index: SlicedIndex, settings: IndexSettings) -> SlicedIndex:
    """With or without what tells rows that match nothing."""
    return replace(index, hulls=()) if settings.prefilter == "off" else index


def boxes(index: UnkeyedIndex) -> Iterator[Boxes]:
    """The sliced queries that are plain boxes."""
    return sliced_boxes(index.sliced)


def pack(index: UnkeyedIndex, put: Put) -> Any:
    """As JSON and arrays."""
    rowwise = None if index.rowwise is None else _pack_rowwise(index.rowwise, put)
    return {"sliced": _pack_sliced(index.sliced, put), "rowwise": rowwise}


def unpack(data: Any, get: Get) -> UnkeyedIndex:
    """What `pack` put away."""
    rowwise = None if data["rowwise"] is None else _unpack_rowwise(data["rowwise"], get)
    return UnkeyedIndex(_unpack_sliced(data["sliced"], get), rowwise)


def _pack_sliced(index: SlicedIndex, put: Put) -> Any:
    program = index.program
    return {
        "cuttings": [pack_cutting(cutting, put) for cutting in index.cuttings],
        "shelves": [
            {
                "subjects": shelf.subjects,
                "edges": pack_arrays(shelf.edges, _EDGES, put),
                "ranges": pack_arrays(shelf.ranges, _RANGES, put),
                "firsts": shelf.ranges.firsts,
                "tables": pack_arrays(shelf.tables, _TABLES, put),
            }
            for shelf in index.shelves
        ],
        "patterns": [
            [[encode_expression(call) for call in group.calls], put(group.slots)] for group in index.patterns
        ],
        "derived": pack_arrays(index.derived, _DERIVED, put),
        "hulls": [[hull.subject, put(hull.alive)] for hull in index.hulls],
        "conditions": index.conditions,
        "slots": program.slots,
        "steps": pack_arrays(program.steps, _STEPS, put),
        "groups": [[group.arity, group.first, put(group.operands)] for group in program.groups],
        "always": program.always,
        "direct": pack_arrays(program.direct, _DIRECT, put),
        "order": put(program.order),
        "numbers": put(index.numbers),
    }


def _unpack_sliced(data: Any, get: Get) -> SlicedIndex:
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
    program = MaskProgram(
        data["slots"],
        Steps(**{name: get(file) for name, file in data["steps"].items()}),
        tuple([Conjunctions(arity, first, get(file)) for arity, first, file in data["groups"]]),
        (data["always"][0], data["always"][1]),
        Direct(**{name: get(file) for name, file in data["direct"].items()}),
        get(data["order"]),
    )
    cuttings = tuple([unpack_cutting(cutting, get) for cutting in data["cuttings"]])
    patterns = tuple([PatternGroup(_calls(calls), get(slots)) for calls, slots in data["patterns"]])
    derived = Derived(**{name: get(file) for name, file in data["derived"].items()})
    numbers = get(data["numbers"])
    hulls = tuple([Hull(subject, get(alive)) for subject, alive in data["hulls"]])
    return SlicedIndex(cuttings, shelves, patterns, derived, hulls, data["conditions"], program, numbers)


def _calls(data: list[Any]) -> tuple[Call, ...]:
    return tuple([call for call in map(decode_expression, data) if isinstance(call, Call)])


def _pack_rowwise(index: RowwiseIndex, put: Put) -> Any:
    ascs = index.ascs
    qubs = np.array([asc.qub for asc in ascs.ascs], np.uint64)
    return {
        "cuttings": [pack_cutting(cutting, put) for cutting in ascs.cuttings],
        "qubs": put(qubs),
        "table": put(ascs.table),
        "numbers": put(ascs.numbers),
        "sequence": index.sequence.subjects,
        "most_rows": index.most_rows,
    }


def _unpack_rowwise(data: Any, get: Get) -> RowwiseIndex:
    cuttings = tuple([unpack_cutting(cutting, get) for cutting in data["cuttings"]])
    ascs = assemble(cuttings, get(data["qubs"]), get(data["table"]), get(data["numbers"]))
    return RowwiseIndex(ascs, VisitOrder(tuple(data["sequence"])), data["most_rows"])
