"""What a batch came to, as its tasks count it: numbers that add up."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eddyline.project.account import QueryAccounts, nothing, together
from eddyline.runtime.spark.feedback.tally import SegmentTally
from eddyline.runtime.spark.feedback.tally import together as all_segments


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Counts of a task or of a whole batch; queries and expressions by number, sinks by name.

    It travels as text: the accounts of queries in Arrow's format, then, on a line of its own, all else as JSON.

    >>> one = Summary(rows=3, accounts=QueryAccounts.of(np.array([7]), matches=2), sinks=Counter(results=2))
    >>> both = total([one.packed(), one.packed()])
    >>> both.rows, both.accounts.matches.tolist(), both.sinks
    (6, [4], Counter({'results': 4}))
    """

    rows: int = 0
    unreadable: int = 0
    matched_rows: int = 0
    accounts: QueryAccounts = field(default_factory=nothing)
    # rows in which a part of conditions failed, by its place
    failed: Counter[int] = field(default_factory=Counter)
    sinks: Counter[str] = field(default_factory=Counter)  # result rows
    reasons: Counter[str] = field(default_factory=Counter)  # of dead letters
    blocks: Counter[str] = field(default_factory=Counter)  # rows of files that several tasks read, see `Keys`
    newest: int | None = None  # the latest event time, in microseconds since 1970
    working: float = 0.0  # seconds of workers' processors
    # what is told of their tuples, by name
    segments: Mapping[str, SegmentTally] = field(default_factory=dict)

    def packed(self) -> str:
        """All of it as text, which `total` takes back."""
        counts = {name: dict(getattr(self, name)) for name in ("failed", *_BY_NAME)}
        segments = {name: tally.as_json() for name, tally in self.segments.items()}
        plain = {name: getattr(self, name) for name in (*_PLAIN, "newest")}
        accounts = b64encode(self.accounts.to_ipc()).decode()
        return f"{accounts}\n{json.dumps({**plain, **counts, 'segments': segments})}"

    @classmethod
    def of(cls, text: str) -> Summary:
        """What `packed` gave."""
        accounts, _, others = text.partition("\n")
        found = json.loads(others)
        counts: dict[str, Any] = {name: found[name] for name in (*_PLAIN, "newest")}
        counts["failed"] = Counter({int(place): rows for place, rows in found["failed"].items()})
        for name in _BY_NAME:
            counts[name] = Counter(found[name])
        segments = {name: SegmentTally.of(tally) for name, tally in found["segments"].items()}
        return cls(accounts=QueryAccounts.of_ipc(b64decode(accounts)), segments=segments, **counts)

    def with_failures(self, *failures: Mapping[int, int]) -> Summary:
        """With more operations that counted as NULL, by query."""
        counted = [sorted((query, times) for query, times in found.items() if times) for found in failures]
        pairs = [np.array(found, np.int64).reshape(-1, 2).T for found in counted]
        more = [QueryAccounts.of(query, failures=times) for query, times in pairs]
        return replace(self, accounts=self.accounts.plus(*more))


_PLAIN = ("rows", "unreadable", "matched_rows", "working")
_BY_NAME = ("sinks", "reasons", "blocks")


def total(summaries: Iterable[str]) -> Summary:
    """The sum of the summaries of all tasks."""
    tasks = [Summary.of(packed) for packed in summaries]
    sums: dict[str, Any] = {name: sum(getattr(task, name) for task in tasks) for name in _PLAIN}
    sums["newest"] = max((task.newest for task in tasks if task.newest is not None), default=None)
    for name in ("failed", *_BY_NAME):
        sums[name] = sum((getattr(task, name) for task in tasks), Counter())
    segments: dict[str, SegmentTally] = {}
    for task in tasks:
        segments = all_segments(segments, task.segments)
    return Summary(accounts=together(task.accounts for task in tasks), segments=segments, **sums)
