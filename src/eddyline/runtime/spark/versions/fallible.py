"""The queries of one stream in whose conditions something failed.

Tasks count the rows of each distinct expression once, by its place in `Fallible.expressions`, which every process finds
in the same order; the driver gives them to the queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from eddyline.standing.version import Version


class Fallible:
    """What can fail in the conditions of the queries over a stream, and who has it."""

    def __init__(self, standing: Version, stream: str) -> None:
        self._standing, self._stream = standing, stream
        self.expressions = standing.fallible(stream)

    def by_query(self, rows: Mapping[int, int]) -> Counter[int]:
        """Failures by dense id, from the rows that failed by place in `expressions`."""
        failed = {self.expressions[place]: count for place, count in rows.items()}
        columns, found = self._standing.table.columns, Counter[int]()
        if not failed:
            return found
        queries = self._standing.of_stream(self._stream)
        lists = columns["fallible"][queries]
        for number in self._standing.counted.get(self._stream, ()):
            count = sum(failed.get(part, 0) for part in columns.shared.fallibles[number])
            if count:
                found.update(dict.fromkeys(queries[lists == number].tolist(), count))
        return found
