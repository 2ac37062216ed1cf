"""Why two rows satisfy a join or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eddyline.errors import EddylineError
from eddyline.execute.reading.batch import Columns
from eddyline.execute.why import Why
from eddyline.execute.why_pair import BranchWhy, BranchWords, Pair, PairWhy, Part, is_joined_time
from eddyline.functions.evaluate import Evaluation
from eddyline.join.keys import same_values
from eddyline.model.catalog import Stream
from eddyline.model.expression import Column
from eddyline.model.join import Branch, NormalJoin, source_columns, virtual_column
from eddyline.model.roles import StemKey
from eddyline.normalize.joins.explain import of_source
from eddyline.sql.render import render, render_joined
from eddyline.standing.one_row import attributes_read, decided, one_row, subjects_of, value_of


def why_of_pair(join: NormalJoin, streams: Mapping[str, Stream], given: object) -> PairWhy:
    """Why two tuples, given by alias, each as a mapping or as a batch of one row, satisfy a join or not."""
    rows = rows_by_alias(join, given)
    first, second = (source_row(join, source, streams, row) for source, row in enumerate(rows))
    return judged_pair(join, streams, (first, second))


def rows_by_alias(join: NormalJoin, given: object) -> Pair:
    """The rows of both sources; an `EddylineError` where they are not given so."""
    aliases = {source.alias.lower(): number for number, source in enumerate(join.sources)}
    names = [str(name) for name in given] if isinstance(given, Mapping) else []
    if not any(name.lower() in aliases for name in names):
        raise EddylineError(
            f'query "{join.id}" joins {join.stream}, so that one row does not decide', hint=_form(join)
        )
    assert isinstance(given, Mapping), "it has names"
    rows: dict[int, Any] = {}
    for name, row in given.items():
        source = aliases.get(str(name).lower())
        if source is None:
            raise EddylineError(f'query "{join.id}" has no source "{name}"', hint=_form(join))
        if source in rows:
            alias = join.sources[source].alias
            raise EddylineError(f'two rows are given for "{alias}" of query "{join.id}"', hint=_form(join))
        rows[source] = row
    for number, source_ in enumerate(join.sources):
        if number not in rows:
            raise EddylineError(
                f'no row is given for "{source_.alias}" of query "{join.id}"', hint=_form(join)
            )
    return rows[0], rows[1]


def source_row(join: NormalJoin, source: int, streams: Mapping[str, Stream], row: Any) -> Columns:
    """What a join reads of a tuple of one of its sources, given as a mapping or as a batch of one row."""
    stream = streams[join.sources[source].stream]
    return one_row(stream, columns_of_source(join, source, stream), row)


def columns_of_source(join: NormalJoin, source: int, stream: Stream) -> dict[str, None]:
    """The columns of one source that decide about pairs."""
    assert stream.event_time is not None, "it is joined"
    used = {stream.event_time: None}
    for branch in join.branches:
        used |= attributes_read(subjects_of(branch.sides[source]))
        used |= attributes_read(part.expressions[source] for part in branch.keys)
        if branch.residual is not None:
            used |= dict.fromkeys(source_columns(branch.residual, join.sources[source].alias))
    return used


def judged_pair(join: NormalJoin, streams: Mapping[str, Stream], rows: tuple[Columns, Columns]) -> PairWhy:
    """The verdict on two tuples, of which the columns are there that `columns_of_source` names."""
    pair = OnePair(join, streams, rows)
    branches = [pair.judged(branch) for branch in join.branches]
    held = [n for n, branch in enumerate(branches) if branch.holds][:1]
    decisive = [join.branches[n] for n in held] or join.branches
    reasons = dict.fromkeys(
        reason
        for branch in decisive
        for source in (0, 1)
        for reason in pair.side(branch, source).reasons
        if reason.holds == bool(held)
    )
    return PairWhy(bool(held), tuple(reasons), render, tuple(branches))


@dataclass(frozen=True, slots=True)
class OnePair:
    """Two tuples, of which what is asked about can be worked out of the columns at hand."""

    join: NormalJoin
    streams: Mapping[str, Stream]
    rows: tuple[Columns, Columns]

    def judged(self, branch: Branch) -> BranchWhy:
        """The verdict of one branch."""
        words = BranchWords(self.join, branch, self.streams)
        parts = [part for source in (0, 1) for part in words.side(source, self.side(branch, source).reasons)]
        parts += self.keys(branch)
        parts.append(words.time((self.event_time(0), self.event_time(1))))
        if branch.residual is not None:
            parts.append(words.residual(value_of(branch.residual, self._virtual())))
        return BranchWhy(tuple(parts))

    def side(self, branch: Branch, source: int) -> Why:
        """The verdict on one of the tuples."""
        return decided(branch.sides[source], self.evaluation(source))

    def keys(self, branch: Branch) -> Iterator[Part]:
        """Every part of the key."""
        words, evaluations = (
            BranchWords(self.join, branch, self.streams),
            (self.evaluation(0), self.evaluation(1)),
        )
        for number, part in enumerate(branch.keys):
            both = list(zip(part.expressions, evaluations, strict=True))
            left, right = ([evaluation.values(expression)] for expression, evaluation in both)
            key = StemKey("", part.expressions[:1], (part.null_safe,))
            first, second = (value_of(expression, evaluation) for expression, evaluation in both)
            yield words.key(number, (first, second), bool(same_values(key, left, right)[0]))

    def null_keys(self, branch: Branch, source: int) -> Iterator[Part]:
        """The parts of one of the tuples' keys that are NULL and so have no equal."""
        for part in branch.keys:
            expression = part.expressions[source]
            if not part.null_safe and value_of(expression, self.evaluation(source)) is None:
                name = render_joined(of_source(expression, self.join.sources[source]))
                yield Part("key", False, f"{name} is NULL, which equals nothing")

    def event_time(self, source: int) -> int | None:
        """The event time of one of the tuples."""
        times = self.streams[self.join.sources[source].stream].times
        assert times is not None, "joined streams have event times"
        found: int | None = value_of(Column(times.column, times.type), self.evaluation(source))
        return found

    def evaluation(self, source: int) -> Evaluation:
        """Values of one of the tuples."""
        return Evaluation(self.rows[source], time_zone=self.join.time_zone, rows=1)

    def _virtual(self) -> Evaluation:
        """Both as one tuple of the virtual source."""
        columns = {
            virtual_column(source.alias, name): values
            for source, row in zip(self.join.sources, self.rows, strict=True)
            for name, values in row.items()
        }
        return Evaluation(columns, time_zone=self.join.time_zone, rows=1)


@dataclass(frozen=True, slots=True)
class RowOfJoin:
    """One tuple of a joined stream; `rows` has what is read of it as each source of the join that it can be."""

    join: NormalJoin
    streams: Mapping[str, Stream]
    stream: Stream
    rows: Mapping[int, Columns]

    @staticmethod
    def of(join: NormalJoin, streams: Mapping[str, Stream], stream: Stream, row: Any) -> RowOfJoin:
        """A tuple, given as a mapping or as a batch of one row."""
        sides = [number for number, source in enumerate(join.sources) if source.stream == stream.name]
        if not sides:
            raise EddylineError(
                f'query "{join.id}" does not read stream "{stream.name}"', hint=f"it joins {join.stream}"
            )
        return RowOfJoin(
            join, streams, stream, {side: source_row(join, side, streams, row) for side in sides}
        )

    @property
    def event_time(self) -> int | None:
        """Its event time, in the unit of that."""
        side = next(iter(self.rows))
        return self.paired(side, {}).event_time(side)

    @property
    def left_out(self) -> str | None:
        """Why it is left out of joins for its event time, whatever else comes; None if it is not."""
        time, times = self.event_time, self.stream.times
        assert times is not None, "the stream is joined"
        if is_joined_time(time, times.type):
            return None
        return f"{self.stream.event_time} is {'NULL' if time is None else 'out of range'}"

    def paired(self, side: int, partner: Columns) -> OnePair:
        """The tuple as one of the sources, with another one as the other."""
        own = self.rows[side]
        return OnePair(self.join, self.streams, (own, partner) if side == 0 else (partner, own))

    def fails(self, branch: Branch, side: int) -> tuple[Part, ...]:
        """What a branch asks of the tuple alone and what does not hold: then no partner helps."""
        pair = self.paired(side, {})
        verdict = pair.side(branch, side)
        words = BranchWords(self.join, branch, self.streams)
        return (
            *(() if verdict.matched else words.side(side, verdict.reasons)),
            *pair.null_keys(branch, side),
        )

    def itself(self) -> PairWhy | None:
        """Where a stream is joined with itself, the tuple is a partner of its own, too; the verdict on that pair."""
        if len(self.rows) < 2 or not self.join.branches:
            return None
        return judged_pair(self.join, self.streams, (self.rows[0], self.rows[1]))


def _form(join: NormalJoin) -> str:
    rows = ", ".join(f'"{source.alias}": row' for source in join.sources)
    return f"give a row for each of its sources, by alias: why(id, {{{rows}}})"
