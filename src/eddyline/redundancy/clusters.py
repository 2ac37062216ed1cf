"""Redundant queries and those that they are compared with, as clusters: whatever is connected stands together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eddyline.redundancy.values import ComparedQuery, ComparedSet


@dataclass(frozen=True, slots=True)
class Node:
    """Queries that are satisfied by the same rows, and what covers them.

    The first of the queries is the one to keep. `covers` are numbers of nodes of the cluster, the tightest first; `more`
    counts the covers that are not among them. `depth` is 0 where nothing covers it, else one more than that of its deepest
    cover.
    """

    queries: tuple[str, ...]
    covers: tuple[int, ...] = ()
    more: int = 0
    depth: int = 0

    @property
    def first(self) -> str:
        """The query that stands for all of them."""
        return self.queries[0]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Queries that are connected by being the same or by covering each other.

    Invariant: a node comes after all its covers, so that no node covers itself by way of others.
    """

    nodes: tuple[Node, ...]

    @property
    def size(self) -> int:
        """How many queries it has."""
        return sum(len(node.queries) for node in self.nodes)

    @property
    def redundant(self) -> int:
        """How many of them could go, while every row is still matched by one that stays."""
        return self.size - sum(not node.covers for node in self.nodes)

    def kept_instead(self) -> list[str]:
        """For each node the query that stays and matches whatever those of the node match."""
        kept: list[str] = []
        for node in self.nodes:
            kept.append(kept[node.covers[0]] if node.covers else node.first)
        return kept


def clusters(compared: ComparedSet) -> list[Cluster]:
    """All clusters, those first of which most could go."""
    nodes = _nodes(compared)
    covers = _covers(compared, nodes)
    found = [_cluster(members, nodes, covers, compared.found.more) for members in _components(nodes, covers)]
    return sorted(found, key=lambda cluster: -cluster.redundant)


def _nodes(compared: ComparedSet) -> list[tuple[str, ...]]:
    """Groups of queries that are the same, the one to keep in front; queries in no relation are none of them."""
    groups: dict[str, list[str]] = {}
    equal: set[str] = set()
    for query, relation, other in compared.rows():
        if relation == "equivalent" and other is not None:
            groups.setdefault(other, [other]).append(query)
            equal.add(query)
        elif relation == "implied" and other is not None:
            for id in (query, other):
                groups.setdefault(id, [id])
    kept = [group for leader, group in groups.items() if leader not in equal]
    return [tuple(_to_keep_first(group, compared.queries)) for group in kept]


def _to_keep_first(group: Sequence[str], queries: Mapping[str, ComparedQuery]) -> list[str]:
    """One in shadow delivers nothing, so it is not the one to keep if another is not."""
    return sorted(group, key=lambda id: not queries[id].delivers)


def _covers(compared: ComparedSet, nodes: Sequence[tuple[str, ...]]) -> list[list[int]]:
    number = {id: number for number, ids in enumerate(nodes) for id in ids}
    covers: list[list[int]] = [[] for _ in nodes]
    for query, relation, other in compared.rows():
        if relation == "implied" and other is not None:
            one, cover = number[query], number[other]
            if one != cover and cover not in covers[one]:
                covers[one].append(cover)
    return covers


def _components(nodes: Sequence[tuple[str, ...]], covers: Sequence[Sequence[int]]) -> list[list[int]]:
    """The numbers of nodes that are connected, by union and find."""
    leader = list(range(len(nodes)))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    for number, its in enumerate(covers):
        for cover in its:
            leader[find(number)] = find(cover)
    together: dict[int, list[int]] = defaultdict(list)
    for number in range(len(nodes)):
        together[find(number)].append(number)
    return list(together.values())


def _cluster(
    members: Sequence[int],
    nodes: Sequence[tuple[str, ...]],
    covers: Sequence[Sequence[int]],
    more: Mapping[str, int],
) -> Cluster:
    kept = _without_cycles(members, covers)
    place = {number: place for place, number in enumerate(kept)}
    made: list[Node] = []
    for number, its in kept.items():
        depth = max((made[place[cover]].depth + 1 for cover in its), default=0)
        others = sum(more.get(id, 0) for id in nodes[number])
        made.append(Node(nodes[number], tuple(place[cover] for cover in its), others, depth))
    return Cluster(tuple(made))


def _without_cycles(members: Sequence[int], covers: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """Nodes with their covers, after all of these.

    Queries that cover each other in a circle are the same, but if the way back was not decided (the time for a pair was up, or
    somebody interrupted the search) nobody has noticed. Then not all of them may go: one does without its covers in the circle.
    """
    covered_by: dict[int, list[int]] = defaultdict(list)
    waits_for = {number: len(covers[number]) for number in members}
    for number in members:
        for cover in covers[number]:
            covered_by[cover].append(number)
    ready = [number for number in members if not waits_for[number]]
    ordered: dict[int, list[int]] = {}
    in_circles = iter(members)
    while len(ordered) < len(members):
        if not ready:
            ready.append(next(number for number in in_circles if number not in ordered))
        number = ready.pop()
        if number in ordered:
            continue
        ordered[number] = [cover for cover in covers[number] if cover in ordered]
        for covered in covered_by[number]:
            waits_for[covered] -= 1
            if not waits_for[covered]:
                ready.append(covered)
    return ordered
