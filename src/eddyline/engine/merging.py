"""Merging of pieces beside everything else, so that there are few of them and no push waits.

    level    0        1          2            3
    size     < 16     < 256      < 4,096      < 65,536 ...       one piece per level, except while a merge is under way

A piece is merged with those that are not of a higher level, again and again as the sum grows; so a query is compiled at
most about 16 times on each level, and there are log k levels. A piece that is more dead than alive is compiled anew.
"""

from __future__ import annotations

import logging
import pickle
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from eddyline.engine.building import Builder, Job
from eddyline.engine.live import LiveSet
from eddyline.engine.members import Integers
from eddyline.engine.pieces import OPEN, Piece, build_piece, ready, settings_for
from eddyline.model.query import Query

FAN: Final = 16
FAR: Final = 64  # queries from which on another process is worth the way
Where = Literal["thread", "process"]
log = logging.getLogger("eddyline.engine")


@dataclass(frozen=True, slots=True)
class Plan:
    """Pieces of one stream that become one."""

    stream: str
    pieces: tuple[Piece, ...]


class Merging:
    """Merges what is due, in a thread that lives as long as something is."""

    def __init__(self, live: LiveSet, where: Where = "thread") -> None:
        self._live = live
        self._builder = Builder() if where == "process" else None
        self._thread: threading.Thread | None = None
        self._one = threading.Lock()  # one merge at a time
        self._broken: set[int] = set()  # pieces whose merge failed: not tried again
        self.paused = False

    def close(self) -> None:
        """Let go of the other process."""
        if self._builder is not None:
            self._builder.close()

    def wake(self) -> None:
        """Start merging if anything is due; the caller holds the lock of the set."""
        if self.paused or self._thread is not None or self._due() is None:
            return
        self._thread = threading.Thread(target=self._run, name="eddyline-merging", daemon=True)
        self._thread.start()

    def merge(self, *, everything: bool = False) -> None:
        """Merge in this thread what is due, or all pieces of a stream into one."""
        with self._one:
            while (plan := self._taken(everything)) is not None:
                self._carry_out(plan)

    def _run(self) -> None:
        while True:
            with self._one:
                with self._live.lock:
                    plan = self._taken(everything=False)
                    if plan is None:
                        self._thread = None
                        return
                try:
                    self._carry_out(plan)
                except Exception:  # the set goes on as it is, only slower
                    self._broken.update(id(piece) for piece in plan.pieces)
                    log.exception("merging %d pieces of stream %s failed", len(plan.pieces), plan.stream)

    def _taken(self, everything: bool) -> Plan | None:
        with self._live.lock:
            plan = self._all() if everything else self._due()
            for piece in plan.pieces if plan else ():
                piece.taken = True
            return plan

    def _due(self) -> Plan | None:
        for stream, pieces in self._live.state.pieces.items():
            chosen = choose([piece for piece in pieces if id(piece) not in self._broken])
            if chosen:
                return Plan(stream, chosen)
        return None

    def _all(self) -> Plan | None:
        for stream, pieces in self._live.state.pieces.items():
            if len(pieces) > 1 or any(piece.dead for piece in pieces):
                return Plan(stream, pieces)
        return None

    def _carry_out(self, plan: Plan) -> None:
        """Build the one piece, then put it into the place of the others; who was removed meanwhile is dead in it."""
        live = self._live
        live.gate.wait()
        try:
            merged, dropped = self._merged(plan)
        except BaseException:
            for piece in plan.pieces:
                piece.taken = False
            raise
        with live.lock:
            state = live.state
            kept = [piece for piece in state.pieces[plan.stream] if piece not in plan.pieces]
            if merged is not None:
                merged.dead = state.table.dead(merged.slots)
                kept.insert(_place(kept, merged), merged)
            live.publish(replace(state, pieces={**state.pieces, plan.stream: tuple(kept)}), [dropped])

    def _merged(self, plan: Plan) -> tuple[Piece | None, Integers]:
        """The one piece, or None if nobody is alive, and the slots that are not in it."""
        live = self._live
        if self._builder is not None and sum(map(len, plan.pieces)) >= FAR:
            try:
                return self._merged_elsewhere(plan, self._builder)
            except (OSError, EOFError, pickle.PickleError) as error:
                log.warning("merging goes on in this process, since the other one failed: %s", error)
                self._builder = None
        with live.gate.compiling():
            members, queries, dropped = live.alive(plan.pieces, live.new_compiler())
        if not members:
            return None, dropped
        return build_piece(plan.stream, members, queries, live.settings, live.gate, plan.pieces), dropped

    def _merged_elsewhere(self, plan: Plan, builder: Builder) -> tuple[Piece | None, Integers]:
        live = self._live
        found = [(piece, *live.living(piece)) for piece in plan.pieces]
        dropped = np.concatenate([piece.slots[~living] for piece, _, living in found])
        members = sorted([m for _, own, _ in found for m in own], key=lambda member: member.slot)
        if not members:
            return None, dropped
        job = Job(
            tuple(live.streams.values()),
            live.time_zone,
            settings_for(len(members), live.settings),
            plan.stream,
            [Query(member.id, member.sql) for member in members],
        )
        slots = np.array([member.slot for member in members], np.int64)
        return ready(builder.build(job), slots, live.gate, live.settings, None, plan.pieces), dropped


def choose(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces to merge next; none if there is nothing to gain."""
    closed = [piece for piece in pieces[:-1] if not piece.taken]
    closed += [piece for piece in pieces[-1:] if len(piece) >= OPEN and not piece.taken]
    closed.sort(key=len)
    for start, piece in enumerate(closed):
        chosen, total = [piece], len(piece) - piece.dead
        for other in closed[start + 1 :]:
            if level(len(other)) > level(total):
                break
            chosen.append(other)
            total += len(other) - other.dead
        if len(chosen) > 1 or 2 * piece.dead > len(piece):
            return tuple(chosen)
    return ()


def level(size: int) -> int:
    """On which level a piece of a size stands.

    >>> [level(size) for size in (1, 15, 16, 255, 256, 5_000)]
    [0, 0, 1, 1, 2, 3]
    """
    found = 0
    while size >= OPEN * FAN**found:
        found += 1
    return found


def _place(kept: Sequence[Piece], merged: Piece) -> int:
    """Large pieces stand first, the youngest stays last."""
    return sum(1 for piece in kept[:-1] if len(piece) > len(merged)) if kept else 0
