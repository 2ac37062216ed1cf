"""A set whose queries were compared: what is known of each, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eddyline.relations import Redundancies


@dataclass(frozen=True, slots=True)
class ComparedQuery:
    """A query, and what a registry or a file says of it."""

    id: str
    sql: str
    state: str | None = None
    owner: str | None = None
    destination: str | None = None

    @property
    def delivers(self) -> bool:
        """Whether its matches reach anybody: those of a query in shadow are only counted."""
        return self.state != "shadow"


@dataclass(frozen=True, slots=True)
class Figures:
    """How many queries and pairs are what; a query that is redundant for two reasons counts for both."""

    queries: int
    redundant: int
    groups: int
    same: int
    covered: int
    never_true: int
    undecided: int
    uncompared: int


@dataclass(frozen=True, slots=True)
class ComparedSet:
    """Queries by id in their order, and what was found among them."""

    queries: Mapping[str, ComparedQuery]
    found: Redundancies

    def rows(self) -> list[tuple[str, str, str | None]]:
        """Query, relation and other query of each finding."""
        columns = self.found.table.select(["query", "relation", "other"]).to_pydict()
        return list(zip(*columns.values(), strict=True))

    def figures(self) -> Figures:
        """What there is, in numbers."""
        by_relation: dict[str, set[str]] = {"equivalent": set(), "implied": set(), "never true": set()}
        groups = set()
        for query, relation, other in self.rows():
            by_relation[relation].add(query)
            if relation == "equivalent":
                groups.add(other)
        return Figures(
            queries=len(self.queries),
            redundant=len(set().union(*by_relation.values())),
            groups=len(groups),
            same=len(by_relation["equivalent"]),
            covered=len(by_relation["implied"]),
            never_true=len(by_relation["never true"]),
            undecided=len(self.found.unknown),
            uncompared=len(self.found.uncompared),
        )
