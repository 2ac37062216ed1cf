"""What every kind of index gives, and what a segment asks of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy.typing as npt

from eddyline.config import IndexSettings
from eddyline.index.boxes import Boxes
from eddyline.model.expression import Expression
from eddyline.model.predicate import Predicate

Put: TypeAlias = Callable[[npt.NDArray[Any]], str]
Get: TypeAlias = Callable[[str], npt.NDArray[Any]]


class Index(Protocol):
    """Queries of a segment, compiled for one executor."""

    @property
    def subjects(self) -> Sequence[Expression]:
        """What their conditions speak about; some may be named twice."""
        ...

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        ...


class Kind(Protocol):
    """A module of this folder. `NAME` is also that of the executor, in `execute/kinds/`."""

    NAME: str

    def build(
        self, predicates: Sequence[Predicate], slots: Sequence[int], settings: IndexSettings
    ) -> tuple[Index | None, Sequence[int]]:
        """Compile those of some slots' predicates that it serves best, and give the slots that it leaves to the others."""
        ...

    def boxes(self, index: Any) -> Iterator[Boxes]:
        """Queries that are an AND of one range for each of some subjects, as far as the index can tell."""
        ...

    def pack(self, index: Any, put: Put) -> Any:
        """An index as JSON, its arrays put away under the names that `put` gives them."""
        ...

    def unpack(self, data: Any, get: Get) -> Index:
        """The index that `pack` put away."""
        ...
