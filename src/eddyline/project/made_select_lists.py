"""The SELECT lists of a standing set's queries, made when they are first wanted."""

from __future__ import annotations

from eddyline.project.select_list import SelectList
from eddyline.standing.rows.columns import Columns
from eddyline.standing.rows.shared import Shared


class MadeSelectLists:
    """SELECT lists by number, which versions of a set have in common; those of one epoch at a time."""

    def __init__(self, time_zone: str) -> None:
        self._time_zone = time_zone
        self._made: tuple[Shared | None, dict[int, SelectList]] = None, {}

    def of(self, columns: Columns, dense: int) -> SelectList:
        """The SELECT list of a query."""
        return self.numbered(columns.shared, int(columns["select"][dense]))

    def numbered(self, shared: Shared, number: int) -> SelectList:
        """The SELECT list of a number."""
        known, made = self._made
        if known is not shared:
            made = {}
            self._made = shared, made
        if number not in made:
            stream, outputs = shared.selections[number]
            made[number] = SelectList(number, stream, outputs, self._time_zone)
        return made[number]
