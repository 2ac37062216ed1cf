"""What a batch came to, as its tasks count it: numbers that add up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from eddyline.runtime.spark.feedback.tally import SegmentTally, together


@dataclass(slots=True)
class Summary:
    """Counts of a task or of a whole batch; queries and expressions by number, sinks by name.

    >>> one = Summary(rows=3, matches=Counter({7: 2}), sinks=Counter(results=2))
    >>> total([one.text(), one.text()]).matches
    Counter({7: 4})
    """

    rows: int = 0
    unreadable: int = 0
    matched_rows: int = 0
    matches: Counter[int] = field(default_factory=Counter)
    delivered: Counter[int] = field(default_factory=Counter)
    undelivered: Counter[int] = field(default_factory=Counter)  # have no sink, or could not be projected
    failures: Counter[int] = field(default_factory=Counter)  # operations that counted as NULL
    failed: Counter[int] = field(
        default_factory=Counter
    )  # rows, by place of the expression that failed in a condition
    sinks: Counter[str] = field(default_factory=Counter)  # result rows
    reasons: Counter[str] = field(default_factory=Counter)  # of dead letters
    blocks: Counter[str] = field(default_factory=Counter)  # rows of files that several tasks read, see `Keys`
    working: float = 0.0  # seconds of workers' processors
    segments: dict[str, SegmentTally] = field(default_factory=dict)  # what is told of their tuples, by name

    def text(self) -> str:
        """As JSON; `total` takes it back."""
        counts = {name: dict(getattr(self, name)) for name in (*_BY_NUMBER, *_BY_NAME)}
        segments = {name: tally.as_json() for name, tally in self.segments.items()}
        return json.dumps({**{name: getattr(self, name) for name in _PLAIN}, **counts, "segments": segments})

    def plus(self, other: Summary) -> Summary:
        """Both together."""
        names = (*_PLAIN, *_BY_NUMBER, *_BY_NAME)
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Summary(**sums, segments=together(self.segments, other.segments))

    @classmethod
    def of(cls, text: str) -> Summary:
        """What `text` wrote."""
        found = json.loads(text)
        counts: dict[str, Any] = {name: found[name] for name in _PLAIN}
        for name in _BY_NUMBER:
            counts[name] = Counter({int(number): count for number, count in found[name].items()})
        for name in _BY_NAME:
            counts[name] = Counter(found[name])
        segments = {name: SegmentTally.of(tally) for name, tally in found["segments"].items()}
        return cls(**counts, segments=segments)


_PLAIN = ("rows", "unreadable", "matched_rows", "working")
_BY_NUMBER = ("matches", "delivered", "undelivered", "failures", "failed")
_BY_NAME = ("sinks", "reasons", "blocks")


def total(texts: Iterable[str]) -> Summary:
    """The sum of the summaries of all tasks."""
    return reduce(Summary.plus, (Summary.of(text) for text in texts), Summary())
