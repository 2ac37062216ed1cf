"""What a tuple would find among those that an engine keeps for its joins, if it were pushed now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eddyline.engine.joining import Joining
from eddyline.errors import EddylineError
from eddyline.execute.why_pair import BranchWords, Part
from eddyline.execute.why_partners import Nearest, PartnersWhy, RoleWhy, shown_tuple
from eddyline.join.keys import Codes
from eddyline.join.partners import LeftOut, Miss
from eddyline.model.catalog import Stream
from eddyline.model.event_time import length_text
from eddyline.model.join import Branch, NormalJoin
from eddyline.model.roles import Roles, role_row
from eddyline.standing.one_pair import OnePair, RowOfJoin
from eddyline.standing.one_row import attributes_read, subjects_of
from eddyline.standing.version import Version


def why_partners(version: Version, joining: Joining, id: str, stream: str, row: Any) -> PartnersWhy:
    """Which pairs of a join a tuple of a stream, given as a mapping or as a batch of one row, would complete, and why."""
    dense, source = version.table.dense(id), version.stream(stream)
    join = version.normal_form(dense)
    if not isinstance(join, NormalJoin):
        raise EddylineError(f'query "{id}" joins no streams, so that its row decides', hint="why(id, row)")
    roles = version.roles
    assert roles is not None, "there is a join"
    streams = {each.name: each for each in version.compiler.streams}
    question = _Question(joining, roles, dense, RowOfJoin.of(join, streams, source, row))
    joining.follow(version)
    return question.answer()


@dataclass(frozen=True, slots=True)
class _Question:
    """A tuple, and what is known of the join that it is asked about, whose dense id is given."""

    joining: Joining
    roles: Roles
    dense: int
    row: RowOfJoin

    def answer(self) -> PartnersWhy:
        row = self.row
        if row.left_out is not None:
            return PartnersWhy(0, row.left_out, ())
        left_out = self.joining.left_out(row.stream, next(iter(row.rows.values())))
        found = [
            (side, *self._role(number, branch, side))
            for number, branch in enumerate(row.join.branches)
            for side in row.rows
        ]
        roles = tuple([role for _, role, _ in found])
        if left_out is not None:
            return PartnersWhy(0, _left_out_text(left_out, row.stream), roles)
        itself = row.itself()
        # A pair that several branches find is one.
        pairs = len({(side, position) for side, _, positions in found for position in positions.tolist()})
        return PartnersWhy(pairs + (itself is not None and itself.matched), None, roles, itself)

    def _role(self, number: int, branch: Branch, side: int) -> tuple[RoleWhy, Codes]:
        """What the tuple finds in one role, and the positions of the partners that it is joined with."""
        row, role = self.row, role_row(self.dense, number, side)
        words = BranchWords(row.join, branch, row.streams)
        partners = self.joining.state.partners(row.stream, row.rows[side], role, self.roles)
        fails = row.fails(branch, side)
        has_key = not any(part.kind == "key" for part in fails)
        miss = partners.miss if has_key else None
        nearest = None if miss is None else self._nearest(branch, side, words, miss)
        noun = f"kept tuple of {row.join.sources[1 - side].stream}"
        why = RoleWhy(words, side, noun, fails, partners.left, nearest)
        return why, np.empty(0, np.int64) if fails else partners.positions

    def _nearest(self, branch: Branch, side: int, words: BranchWords, miss: Miss) -> Nearest:
        pair = self.row.paired(side, dict(miss.columns))
        stream = self.row.streams[self.row.join.sources[1 - side].stream]
        lacks = self._lacks(branch, side, words, miss, pair)
        return Nearest(shown_tuple(stream, miss.columns, miss.time), lacks)

    def _lacks(self, branch: Branch, side: int, words: BranchWords, miss: Miss, pair: OnePair) -> list[Part]:
        partner = 1 - side
        alias = self.row.join.sources[partner].alias
        match miss.check:
            case "key":
                theirs = [part.expressions[partner] for part in branch.keys]
                if attributes_read(theirs).keys() <= miss.columns.keys():
                    return [part for part in pair.keys(branch) if not part.holds]
                return [Part("key", False, "its key is another one")]
            case "window":
                own = pair.event_time(side)
                return [words.time((own, miss.time) if side == 0 else (miss.time, own))]
            case "standing":
                return [Part("standing", False, "it came before the query was added")]
            case "side":
                if attributes_read(subjects_of(branch.sides[partner])).keys() <= miss.columns.keys():
                    return words.side(partner, pair.side(branch, partner).reasons)
                return [Part("side", False, f"it does not satisfy the conditions on {alias}")]
            case _:
                return [words.residual(miss.residual)]


def _left_out_text(left_out: LeftOut, stream: Stream) -> str:
    times = stream.times
    assert times is not None, "it is joined"
    distance = length_text(left_out.distance, times.type)
    if left_out.reason == "late":
        return f"{times.column} is {distance} below the watermark"
    return f"{times.column} is {distance} further ahead of the clock than the stream allows"
