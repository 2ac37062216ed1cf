"""What one row finds among all rows of the stream that it is joined with: how many are left after each check.

The rows are complete: nothing is late, and nothing came before the query.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.execute.reading.batch import ColumnReader, Columns
from eddyline.execute.why import decide
from eddyline.execute.why_pair import BranchWords
from eddyline.execute.why_partners import Nearest, PartnersWhy, RoleWhy, shown_tuple
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.arrays import numbers, validity
from eddyline.functions.evaluate.odd_text import ordered_values
from eddyline.join.keys import same_values
from eddyline.join.partners import CHECKS, Check, Nearness, Passed, nearest, passed_checks
from eddyline.join.payload import BatchColumns
from eddyline.model.arrays import Flags
from eddyline.model.event_time import LONGEST, longest
from eddyline.model.expression import Column
from eddyline.model.join import Branch, virtual_column
from eddyline.model.roles import StemKey
from eddyline.runtime.embedded.sources import FileRows
from eddyline.sql.render import render
from eddyline.standing.one_pair import RowOfJoin, columns_of_source
from eddyline.standing.one_row import attributes_read, one_row, subjects_of

Places = npt.NDArray[np.int64]


class PairVerdicts:
    """Judges the rows of a source by one row of the partner stream, which has an event time, and keeps count."""

    def __init__(self, row: RowOfJoin, source: str) -> None:
        self._row = row
        self._roles = [
            _RoleVerdicts(row, branch, side, source) for branch in row.join.branches for side in row.rows
        ]
        self._pairs = 0

    def judge(self, piece: FileRows, itself: int | None = None) -> None:
        """Take in some rows; the one that is the row itself, if it is among them, is left out: `why` looks at that pair."""
        others = np.arange(piece.batch.num_rows) != (-1 if itself is None else itself)
        if not others.all():
            rows = piece.rows[others]
            piece = FileRows(piece.batch.filter(pa.array(others)), piece.file, piece.first, rows)
        for side in self._row.rows:
            found = [role.judge(piece) for role in self._roles if role.side == side]
            if found:  # a pair that several branches find is one
                self._pairs += int(np.count_nonzero(np.any(found, axis=0)))

    def why(self) -> PartnersWhy:
        """The verdict, when all rows are judged."""
        itself = self._row.itself()
        pairs = self._pairs + (itself is not None and itself.matched)
        return PartnersWhy(pairs, None, tuple([role.why() for role in self._roles]), itself)


class _RoleVerdicts:
    """The same for the row as one source of one branch."""

    def __init__(self, row: RowOfJoin, branch: Branch, side: int, source: str) -> None:
        self._row, self._branch, self.side, self._source = row, branch, side, source
        self._stream = row.streams[row.join.sources[1 - side].stream]
        self._used = columns_of_source(row.join, 1 - side, self._stream)
        self._reader = ColumnReader(self._stream, self._used)
        self._fails = row.fails(branch, side)
        self._left = np.zeros(len(CHECKS) + 1, np.int64)
        self._nearest: tuple[Nearness, pa.RecordBatch, str] | None = None

    def judge(self, piece: FileRows) -> Flags:
        """Which of some rows are joined with the row."""
        columns, rows = self._reader.read(piece.batch)
        partners = _Partners(self._row, self._branch, self.side, columns, rows)
        passed = partners.passed()
        positions = self._left[0] + np.arange(rows)
        self._left += [np.count_nonzero(passed >= check) for check in range(len(self._left))]
        for found in nearest(passed, partners.outside, partners.distance, positions):
            if self._nearest is None or found < self._nearest[0]:
                name = f"row {piece.rows[found.place] + 1} of {piece.file}"
                self._nearest = found, piece.batch.slice(found.place, 1), name
        is_partner: Flags = (passed == len(CHECKS)) & (not self._fails)
        return is_partner

    def why(self) -> RoleWhy:
        """The verdict, when all rows are judged."""
        words = BranchWords(self._row.join, self._branch, self._row.streams)
        is_missed = not self._left[-1] and not any(part.kind == "key" for part in self._fails)
        return RoleWhy(
            words,
            self.side,
            f"row of {self._source}",
            self._fails,
            tuple(self._left.tolist()),
            self._missed() if is_missed else None,
        )

    def _missed(self) -> Nearest | None:
        """The nearest row, and all that it lacks."""
        if self._nearest is None:
            return None
        _, batch, name = self._nearest
        columns = one_row(self._stream, self._stream.schema.names, batch)
        pair = self._row.paired(self.side, columns)
        judged = pair.judged(self._branch)
        lacks = [part for part in judged.parts if not part.holds and part not in self._fails]
        shown = BatchColumns(self._stream, columns, pair.evaluation(1 - self.side))
        return Nearest(f"{name}: {shown_tuple(self._stream, shown)}", lacks)


class _Partners:
    """Rows of the partner stream, as a row sees them that is one source of one branch.

    outside, distance       how far their event times lie outside of the window, and from that of the row
    """

    def __init__(self, row: RowOfJoin, branch: Branch, side: int, columns: Columns, rows: int) -> None:
        self._row, self._branch, self._side = row, branch, side
        self._columns, self._rows = columns, rows
        self._evaluation = Evaluation(columns, time_zone=row.join.time_zone, rows=rows)
        self._own = row.paired(side, {}).evaluation(side)
        difference, has_time = self._differences()
        low, high = branch.window.low, branch.window.high
        outside = np.maximum(np.maximum(low - difference, difference - high), 0)
        self.outside = np.where(has_time, outside, LONGEST)
        self.distance = np.where(has_time, np.abs(difference), LONGEST)

    def passed(self) -> Passed:
        """How many checks each of them passes."""
        checks: tuple[Check, ...] = (
            self._have_same_key,
            lambda places: self.outside[places] == 0,
            lambda places: np.ones(len(places), np.bool_),
            self._satisfy_side,
            self._satisfy_residual,
        )
        return passed_checks(self._rows, checks)

    def _differences(self) -> tuple[Places, Flags]:
        """Event times of source 1 less those of source 0, and which rows have one that is joined."""
        times = self._row.streams[self._row.join.sources[1 - self._side].stream].times
        own = self._row.event_time
        assert times is not None and own is not None, "both are joined"
        column = self._evaluation.values(Column(times.column, times.type))
        values, valid = numbers(column).astype(np.int64), validity(column)
        furthest = longest(times.type)
        joined = (values > -furthest) & (values < furthest) & (True if valid is None else valid)
        difference = np.where(joined, values, own) - own
        return (difference if self._side == 0 else -difference), joined

    def _have_same_key(self, places: Places) -> Flags:
        keys = self._branch.keys
        theirs = [self._evaluation.values(part.expressions[1 - self._side]) for part in keys]
        repeated = pa.array(np.zeros(len(places), np.int64))
        own = [self._own.values(part.expressions[self._side]).take(repeated) for part in keys]
        key = StemKey(
            self._row.stream.name,
            tuple([part.expressions[self._side] for part in keys]),
            tuple([part.null_safe for part in keys]),
        )
        return same_values(key, own, [values.take(pa.array(places)) for values in theirs])

    def _satisfy_side(self, places: Places) -> Flags:
        predicate = self._branch.sides[1 - self._side]
        subjects = subjects_of(predicate)
        some = self._evaluation.some(pa.array(places), attributes_read(subjects))
        values = [ordered_values(some.values(subject), subject.type) for subject in subjects]
        rows = zip(*values, strict=True) if values else iter([()] * len(places))
        verdicts = [decide(predicate, dict(zip(subjects, row, strict=True)), render) for row in rows]
        return np.array([verdict.matched for verdict in verdicts], np.bool_)

    def _satisfy_residual(self, places: Places) -> Flags:
        residual, sources = self._branch.residual, self._row.join.sources
        if residual is None:
            return np.ones(len(places), np.bool_)
        columns = {}
        repeated = pa.array(np.zeros(len(places), np.int64))
        for name, values in self._columns.items():
            columns[virtual_column(sources[1 - self._side].alias, name)] = values.take(pa.array(places))
        for name, values in self._row.rows[self._side].items():
            columns[virtual_column(sources[self._side].alias, name)] = values.take(repeated)
        evaluation = Evaluation(columns, time_zone=self._row.join.time_zone, rows=len(places))
        return np.array([value is True for value in evaluation.values(residual).to_pylist()], np.bool_)
