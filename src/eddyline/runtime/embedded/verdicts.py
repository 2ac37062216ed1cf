"""Why rows match a query or not, for whole batches: the verdict on each row, and how often each condition failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from eddyline.execute.reading.batch import ColumnReader
from eddyline.execute.why import Reason, Why, decide
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.evaluate.odd_text import ordered_values
from eddyline.model.catalog import Stream
from eddyline.model.expression import columns_of as attributes_of
from eddyline.model.predicate import Condition, conditions_of
from eddyline.model.query import NormalQuery
from eddyline.normalize.explain import show, show_regions
from eddyline.sql.render import render


class Verdicts:
    """Judges rows of a stream by one query, and keeps count.

    >>> from eddyline.compile import Compiler
    >>> from eddyline.model.query import Query
    >>> quotes = Stream("quotes", pa.schema([("price", pa.float64())]))
    >>> query = Compiler([quotes]).compile(Query("cheap", "SELECT * FROM quotes WHERE price < 10"))
    >>> verdicts = Verdicts(query, quotes)
    >>> [(why.matched, words(why.reasons[0])) for why in verdicts.judge(pa.record_batch({"price": [50.0]}))]
    [(False, 'price is 50.0, which is not in (-inf, 10.0)')]
    """

    def __init__(self, query: NormalQuery, stream: Stream) -> None:
        self._query = query
        self.conditions = tuple(dict.fromkeys(conditions_of(query.predicate)))
        self._subjects = tuple(dict.fromkeys(condition.subject for condition in self.conditions))
        used = dict.fromkeys(name for subject in self._subjects for name in sorted(attributes_of(subject)))
        self._reader = ColumnReader(stream, used)
        self.rows = 0
        self.matched = 0
        self.failed: Counter[Condition] = Counter()  # rows in which a condition does not hold
        self.decided: Counter[Condition] = Counter()  # rows that do not match and whose verdict names it

    def judge(self, batch: pa.RecordBatch) -> Iterator[Why]:
        """The verdict on every row."""
        columns, rows = self._reader.read(batch)
        evaluation = Evaluation(columns, time_zone=self._query.time_zone, rows=rows)
        columns_of_values = [
            ordered_values(evaluation.values(subject), subject.type) for subject in self._subjects
        ]
        for row in range(rows):
            values = {s: column[row] for s, column in zip(self._subjects, columns_of_values, strict=True)}
            why = decide(self._query.predicate, values, render)
            self.rows += 1
            self.matched += why.matched
            for condition in self.conditions:
                self.failed[condition] += values[condition.subject] not in condition.regions
            if not why.matched:
                self.decided.update(reason.condition for reason in why.reasons)
            yield why


def words(reason: Reason) -> str:
    """A reason as people say it."""
    verb = "is in" if reason.holds else "is not in"
    subject = reason.condition.subject
    value = "NULL" if reason.value is None else show(reason.value, subject.type)
    return (
        f"{render(subject)} is {value}, which {verb} {show_regions(reason.condition.regions, subject.type)}"
    )


def describe(condition: Condition) -> str:
    """A condition as people say it."""
    kind = condition.subject.type
    return f"{render(condition.subject)} in {show_regions(condition.regions, kind)}"


def as_json(reason: Reason) -> dict[str, object]:
    """A reason for machines; the value as SQL writes it."""
    subject = reason.condition.subject
    return {
        "subject": render(subject),
        "type": str(subject.type),
        "value": None if reason.value is None else show(reason.value, subject.type),
        "regions": show_regions(reason.condition.regions, subject.type),
        "holds": reason.holds,
    }
