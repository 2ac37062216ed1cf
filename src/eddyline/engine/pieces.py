"""Compiled parts of the set, as the engine keeps them: a few pieces that grow in size, the youngest one open.

A piece is ready to match when it is made: nothing of it is left to be worked out by the first push.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from eddyline.compile import Compiler
from eddyline.config import IndexSettings
from eddyline.engine.gate import Gate
from eddyline.engine.members import Member
from eddyline.execute.placed import Placed
from eddyline.execute.segment import SegmentExecutor
from eddyline.index.segment import Segment, build_segment
from eddyline.model.numbering import Numbering
from eddyline.model.pacing import paced
from eddyline.model.query import NormalQuery, Query

Integers = npt.NDArray[np.signedinteger[Any]]
OPEN: Final = (
    16  # a change takes in the youngest piece while it stays below this size: building 16 takes 1.5 ms
)
SMALL: Final = 256  # so few queries cost a batch little; what would make it less costs more to build
KEEP_QUERIES: Final = 4_096  # smaller pieces keep their normal forms, since they will be merged soon


@dataclass(slots=True, eq=False)
class Piece:
    """A segment, its slots in ascending order, and how many of these are dead.

    `dead` is changed under the lock of changes; `taken` says that a merge will replace the piece.
    """

    placed: Placed
    slots: Integers
    queries: Sequence[NormalQuery] | None = field(repr=False, default=None)
    dead: int = 0
    taken: bool = False

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the stream that its queries read."""
        return self.placed.segment.columns


def build_piece(
    stream: str,
    members: Sequence[Member],
    queries: Sequence[NormalQuery],
    settings: IndexSettings,
    gate: Gate,
    before: Sequence[Piece] = (),
) -> Piece:
    """Compile members of one stream, given with their normal forms; `before` are the pieces that it replaces."""
    order = sorted(range(len(members)), key=lambda i: members[i].slot)
    slots = [members[i].slot for i in order]
    normal = [queries[i] for i in order]
    gate.wait()
    with _turns(gate, len(slots)):
        segment = build_segment(stream, normal, settings_for(len(slots), settings))
    kept = normal if len(slots) < KEEP_QUERIES else None
    return ready(segment, np.array(slots, np.int64), gate, settings, kept, before)


def settings_for(size: int, settings: IndexSettings) -> IndexSettings:
    """The settings for a piece of a size."""
    return replace(settings, rowwise_bytes=0, prefilter="off") if size < SMALL else settings


def ready(
    segment: Segment,
    slots: Integers,
    gate: Gate,
    settings: IndexSettings,
    queries: Sequence[NormalQuery] | None = None,
    before: Sequence[Piece] = (),
) -> Piece:
    """A piece of a segment whose queries have ascending slots; all is made that executors make when they are first asked."""
    executor = SegmentExecutor(segment, settings.order, [piece.placed.executor for piece in before])
    if segment.size >= SMALL:
        gate.wait()
    with _turns(gate, segment.size):
        executor.prepare()
    return Piece(Placed(executor, Numbering.of(slots)), slots, queries)


def _turns(gate: Gate, size: int) -> AbstractContextManager[None]:
    """A small piece is built sooner than a push would end."""
    return gate.compiling() if size > OPEN else nullcontext()


def normal_forms(
    piece: Piece, members: Sequence[Member], alive: npt.NDArray[np.bool_], compiler: Compiler
) -> list[NormalQuery]:
    """The normal forms of the members of a piece that are alive."""
    if piece.queries is not None:
        return [query for query, kept in zip(piece.queries, alive.tolist(), strict=True) if kept]
    return [compiler.compile(Query(member.id, member.sql)) for member in paced(members)]
