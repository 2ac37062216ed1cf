"""Pairs of tuples as rows of the virtual source, made for one SELECT list at a time: the columns that it reads, no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from eddyline.model.arrays import Flags, Integers
from eddyline.model.roles import Roles, role_row
from eddyline.project.select_list import SelectList


class Pairs(Protocol):
    """Pairs that a step of the join stage has found, each with the join that it satisfies."""

    @property
    def row(self) -> Integers:
        """The batch's row that completed each pair, ascending."""

    @property
    def query(self) -> Integers:
        """The dense id of the join."""

    @property
    def positions(self) -> tuple[Integers, Integers]:
        """The tuple of source 0 and that of source 1: how many came before it in its stream."""

    def columns(self, source: int, stream: str, names: Sequence[str], which: Integers) -> list[pa.Array]:
        """Columns of the tuples of one source, for some of the pairs."""


@dataclass(frozen=True, eq=False)
class PairRows:
    """Distinct pairs as rows, numbered in the order in which they are found.

    first    for each row, where among the found pairs it stands first
    """

    pairs: Pairs
    roles: Roles
    first: Integers

    @staticmethod
    def of(pairs: Pairs, roles: Roles) -> tuple[PairRows, Integers]:
        """The rows, and for each found pair which of them it is."""
        starts: Flags = np.ones(len(pairs.query), np.bool_)
        if len(starts):
            starts[1:] = False
            for values in (pairs.row, *pairs.positions):
                starts[1:] |= values[1:] != values[:-1]
        return PairRows(pairs, roles, np.flatnonzero(starts)), np.cumsum(starts) - 1

    def batch(self, select: SelectList, rows: Integers, query: int) -> pa.RecordBatch:
        """What a SELECT list of a join reads of some rows; `query` is the dense id of a join that has this list."""
        which = self.first[rows]
        names = select.stream.schema.names
        read = select.every_column
        arrays: dict[str, pa.Array] = {}
        for source, (stream, own) in enumerate(
            zip(self._streams(query), _by_source(names, read), strict=True)
        ):
            columns = self.pairs.columns(source, stream, [column for column, _ in own], which)
            arrays |= {name: values for (_, name), values in zip(own, columns, strict=True)}
        if not arrays:  # it reads nothing, and still has one result for every pair
            arrays = {names[0]: pa.nulls(len(rows), select.stream.schema.field(0).type)}
        return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))

    def _streams(self, query: int) -> tuple[str, str]:
        """The streams of a join; all of its branches have the same."""
        first, second = (self.roles.stem[role_row(query, 0, side)] for side in (0, 1))
        return self.roles.stems[first].stream, self.roles.stems[second].stream


def _by_source(names: list[str], read: Iterable[str]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """For each source the columns that are read: what the stream calls them, and what the virtual source does."""
    first = names[0].partition(".")[0]
    found: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
    for name in read:
        alias, _, column = name.partition(".")
        found[alias != first].append((column, name))
    return found
