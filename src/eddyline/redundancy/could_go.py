"""Queries that could go: why each, which query still matches its rows, and what to look at before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eddyline.redundancy.clusters import Cluster
from eddyline.redundancy.values import ComparedQuery, ComparedSet


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query that could go because of another one, which may go, too: `kept` stays, and matches all its rows.

    Both are None for one that is never true.
    """

    query: str
    reason: str  # "never true", "the same as" or "covered by"
    other: str | None = None
    kept: str | None = None
    look_first: tuple[str, ...] = ()


def could_go(compared: ComparedSet, clusters: Sequence[Cluster]) -> list[Candidate]:
    """All that could go together: those that nobody would miss first, then the same ones, then the covered ones."""
    rows = compared.rows()
    never = [Candidate(query, "never true") for query, relation, _ in rows if relation == "never true"]
    same: list[Candidate] = []
    covered: list[Candidate] = []
    for cluster in clusters:
        for node, kept in zip(cluster.nodes, cluster.kept_instead(), strict=True):
            same += [
                _candidate(compared, query, "the same as", node.first, kept) for query in node.queries[1:]
            ]
            if node.covers:
                cover = cluster.nodes[node.covers[0]].first
                covered.append(_candidate(compared, node.first, "covered by", cover, kept))
    return [*never, *_easy_first(same), *_easy_first(covered)]


def _easy_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: len(candidate.look_first))


def _candidate(compared: ComparedSet, query: str, reason: str, other: str, kept: str) -> Candidate:
    # whoever drops only duplicates looks at the other one
    judged_by = other if reason == "the same as" else kept
    differences = _differences(compared.queries[query], compared.queries[judged_by])
    return Candidate(query, reason, other, kept, differences)


def _differences(goes: ComparedQuery, stays: ComparedQuery) -> tuple[str, ...]:
    """Who would notice that one goes although the other stays."""
    told = []
    if goes.delivers and not stays.delivers:
        told.append("the one that stays is in shadow and delivers nothing")
    if goes.destination != stays.destination:
        told.append(
            f"delivers to {goes.destination or 'nobody'}, the other to {stays.destination or 'nobody'}"
        )
    if goes.owner != stays.owner:
        told.append(f"belongs to {goes.owner or 'nobody'}, the other to {stays.owner or 'nobody'}")
    return tuple(told)
