"""Small automata with sets of positions as bits of one number, for texts that lead beyond the states that were made."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from eddyline.functions.java_regex.automaton import Automaton, bits

MOST_POSITIONS: Final = 64
MOST_GUARDS: Final = 8  # each is asked at every step, and takes 16 KB


class Words(NamedTuple):
    """follows[g, i, byte]: what follows, under guard g, any of the positions from 8i on that are bits of `byte`.

    readers[c]: the positions that read class c. finals[g]: those where a match may end under guard g.
    """

    follows: npt.NDArray[np.uint64]
    readers: npt.NDArray[np.uint64]
    finals: npt.NDArray[np.uint64]


NONE: Final = Words(np.empty((0, 0, 256), np.uint64), np.empty(0, np.uint64), np.empty(0, np.uint64))


def words(automaton: Automaton) -> Words:
    """The automaton in words; NONE if it is too large."""
    positions, guards = len(automaton.members), len(automaton.guards)
    if positions > MOST_POSITIONS or guards > MOST_GUARDS:
        return NONE
    successors = np.zeros((guards, positions), np.uint64)
    for position, (first, last) in enumerate(pairwise(automaton.edge_starts.tolist())):
        for edge in range(first, last):
            successors[automaton.edge_guards[edge], position] |= np.uint64(1 << int(automaton.targets[edge]))
    follows = np.zeros((guards, (positions + 7) // 8, 256), np.uint64)
    for position in range(positions):
        table, bit = follows[:, position // 8], 1 << position % 8
        table[:, bit : 2 * bit] = table[:, :bit] | successors[:, position, np.newaxis]
    readers = np.concatenate([bits(list(column)) for column in automaton.members.T > 0])
    finals = np.concatenate([bits(list(automaton.accepts == guard)) for guard in range(guards)])
    return Words(follows, readers, finals)
