"""The parts of the page: each takes what was found and gives a piece of it, or None where there is nothing to tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eddyline.pages.markup import Markup, join, tag
from eddyline.pages.numbers import counted, percent
from eddyline.pages.parts import left_out, section, sortable, table, tile
from eddyline.redundancy.clusters import Cluster
from eddyline.redundancy.could_go import Candidate
from eddyline.redundancy.page.cluster_cards import ClusterCard
from eddyline.redundancy.page.texts import condition, excerpt, fitting, name, shortened
from eddyline.redundancy.proofs import Proofs
from eddyline.redundancy.values import ComparedSet, Figures

MOST_CLUSTERS: Final = 60
CLUSTER_BYTES: Final = 3_000_000
MOST_CANDIDATES: Final = 1_000
MOST_NEVER: Final = 100
MOST_PAIRS: Final = 300
MOST_NAMES: Final = 500
_LIST_BYTES: Final = 400_000  # of each of the other lists: with the clusters, less than 5 MB
_PILLS: Final = {"never true": "bad", "the same as": "warn", "covered by": "plain"}
_USUAL: Final = {"owner": None, "destination": None, "state": "enabled"}  # not worth a column


def beside(compared: ComparedSet) -> tuple[str, ...]:
    """What is known of queries besides their texts, and not the same of all."""
    return tuple(
        column
        for column, usual in _USUAL.items()
        if any(getattr(query, column) not in (None, usual) for query in compared.queries.values())
    )


def head(figures: Figures, compared: ComparedSet) -> Markup:
    """What was compared, and what came of it."""
    told = f"{counted(figures.queries, 'query', 'queries')} compared by their conditions"
    title = tag("div", tag("h1", "Redundant queries"), tag("p", told, class_="soft"))
    return tag("header", title, _badge(figures, compared.found.complete))


def _badge(figures: Figures, complete: bool) -> Markup:
    if not complete:
        return tag("div", "interrupted: not all were compared", class_="badge bad")
    if not figures.redundant:
        return tag("div", "nothing is redundant", class_="badge good")
    return tag("div", f"{percent(figures.redundant, figures.queries)} redundant", class_="badge warn")


def tiles(figures: Figures) -> Markup:
    """The figures that one looks for first."""
    shown = [
        tile(f"{figures.queries:,}", "queries"),
        tile(f"{figures.redundant:,}", "redundant", "warn" if figures.redundant else ""),
        tile(f"{figures.groups:,}", "groups of equal queries"),
        tile(f"{figures.covered:,}", "covered by others"),
        tile(f"{figures.never_true:,}", "never true", "bad" if figures.never_true else ""),
        tile(f"{figures.undecided:,}", "pairs undecided"),
        tile(f"{figures.uncompared:,}", "not compared"),
    ]
    return tag("div", *shown, class_="tiles")


def shares(figures: Figures, candidates: Sequence[Candidate]) -> Markup | None:
    """All queries as one bar: those that stay, and those that could go by reason."""
    if not candidates:
        return None
    reasons = {reason: sum(each.reason == reason for each in candidates) for reason in _PILLS}
    parts = [("stay", "good", figures.queries - len(candidates))]
    parts += [
        (reason.removesuffix(" as").removesuffix(" by"), kind, reasons[reason])
        for reason, kind in _PILLS.items()
    ]
    drawn, legend, start = [], [], 0.0
    for told, kind, count in parts:
        width = 100 * count / figures.queries
        if count:
            drawn.append(
                tag("rect", x=round(start, 3), width=round(width, 3), height=1, class_=f"fill-{kind}")
            )
            dot = tag("svg", tag("circle", cx=5, cy=5, r=5, class_=f"fill-{kind}"), viewBox="0 0 10 10")
            legend.append(tag("span", dot, f"{count:,} {told}"))
        start += width
    label = ", ".join(f"{count:,} {told}" for told, _, count in parts)
    frame = {"viewBox": "0 0 100 1", "preserveAspectRatio": "none", "role": "img", "class_": "shares"}
    bar = tag("svg", tag("title", label), *drawn, **frame)
    return tag("div", bar, tag("div", *legend, class_="keys"), class_="card")


def clusters(found: Sequence[Cluster], compared: ComparedSet, proofs: Proofs) -> Markup | None:
    """The clusters one by one, those first of which most could go."""
    if not found:
        return None
    columns = beside(compared)
    cards = (
        ClusterCard(cluster, number, compared.queries, columns).markup(proofs)
        for number, cluster in enumerate(found[:MOST_CLUSTERS])
    )
    shown = list(fitting(cards, MOST_CLUSTERS, CLUSTER_BYTES))
    note = (
        "An arrow leads from a query to the tightest one that covers it: every row that satisfies the one satisfies the "
        "other, too. What is stacked is satisfied by the same rows. Click a box for its SQL and the proof."
    )
    return section(
        "Related queries", tag("p", note, class_="note"), *shown, _rest(found, len(shown)), card=False
    )


def _rest(found: Sequence[Cluster], shown: int) -> Markup | None:
    rest = found[shown:]
    if not rest:
        return None
    queries = sum(cluster.size for cluster in rest)
    clusters, are = ("cluster", "is") if len(rest) == 1 else ("clusters", "are")
    told = f"{len(rest):,} smaller {clusters} with {counted(queries, 'query', 'queries')} {are} not shown"
    goes = sum(cluster.redundant for cluster in rest)
    return tag("p", f"{told}; {goes:,} of these could go. --json has all of them.", class_="note rest")


def candidates(found: Sequence[Candidate], compared: ComparedSet) -> Markup | None:
    """What could go, those first that nobody would miss."""
    if not found:
        return None
    columns = [column for column in beside(compared) if column != "state"]
    lines = list(
        fitting((_candidate(each, compared, columns) for each in found), MOST_CANDIDATES, 2 * _LIST_BYTES)
    )
    names = [("query", "text"), ("why", "text"), ("", ""), ("its rows are still matched by", "text")]
    heads = [*names, *((column, "text") for column in columns)]
    shown = sortable([*heads, ("check before removing", "text")] if columns else heads, lines, "searched")
    note = (
        "All of these could go together, and every row that any of them matches would still be matched. "
        "A covered query is more specific than its cover, so it may be there for a reason. Only conditions are compared: look at "
        "the SELECT lists, too."
    )
    return section(
        "What could go",
        tag("p", note, class_="note"),
        tag("div", tag("div", shown, class_="scroll tall"), class_="card"),
        left_out(len(found), len(lines), "queries that could go (--json has all of them)"),
        card=False,
    )


def _candidate(candidate: Candidate, compared: ComparedSet, columns: Sequence[str]) -> Markup:
    query = compared.queries[candidate.query]
    pill = tag("span", candidate.reason, class_=f"pill {_PILLS[candidate.reason]}")
    other, kept = (None if id is None else name(id) for id in (candidate.other, candidate.kept))
    still = kept or tag("span", "matches no rows", class_="soft")
    cells = [tag("td", name(query.id), class_="id"), tag("td", pill), tag("td", other), tag("td", still)]
    cells += [tag("td", shortened(getattr(query, column) or "–", 40), class_="soft") for column in columns]
    if columns:
        cells.append(tag("td", shortened("; ".join(candidate.look_first), 300)))
    return tag("tr", *cells)


def never_true(compared: ComparedSet, proofs: Proofs) -> Markup | None:
    """Queries that no row satisfies, with the reason."""
    found = [query for query, relation, _ in compared.rows() if relation == "never true"]
    if not found:
        return None
    shown = list(fitting((_never(id, compared, proofs) for id in found), MOST_NEVER, _LIST_BYTES))
    return section("Never true", *shown, left_out(len(found), len(shown), "queries"), card=False)


def _never(id: str, compared: ComparedSet, proofs: Proofs) -> Markup:
    query = compared.queries[id]
    proof = proofs.never_true(query)
    asked = tag("code", shortened(condition(query.sql), 90), class_="right")
    inside = tag(
        "div", tag("pre", excerpt(query.sql)), tag("pre", excerpt(proof), class_="proof"), class_="inside"
    )
    return tag("details", tag("summary", tag("span", name(id), class_="id"), asked), inside)


def undecided(compared: ComparedSet) -> Markup | None:
    """Pairs of which nobody knows, with the reason."""
    found = compared.found.unknown
    if not found:
        return None
    lines = (
        tag(
            "tr",
            tag("td", name(one), class_="id"),
            tag("td", name(other), class_="id"),
            tag("td", shortened(reason, 300)),
        )
        for one, other, reason in found
    )
    shown = list(fitting(lines, MOST_PAIRS, _LIST_BYTES))
    names = [("may be covered", "text"), ("by", "text"), ("why it is not known", "text")]
    return section(
        "Undecided pairs",
        tag("div", sortable(names, shown, "searched"), class_="tall"),
        left_out(len(found), len(shown), "pairs (--json has all of them)"),
    )


def uncompared(compared: ComparedSet) -> Markup | None:
    """Queries that were compared with nobody."""
    found = compared.found.uncompared
    if not found:
        return None
    shown = list(fitting(_uncompared(compared), MOST_NAMES, _LIST_BYTES))
    note = "We could not make a row that satisfies these, and there are too many others to compare each with them."
    return section(
        "Not compared",
        tag("p", note, class_="note"),
        tag("div", table(("query", "condition"), shown), class_="tall"),
        left_out(len(found), len(shown), "queries (--json has all of them)"),
    )


def _uncompared(compared: ComparedSet) -> Iterator[Markup]:
    for id in compared.found.uncompared:
        asked = tag("code", shortened(condition(compared.queries[id].sql), 120))
        yield tag("tr", tag("td", name(id), class_="id"), tag("td", asked))


def nothing(figures: Figures) -> Markup | None:
    """A page without findings says so."""
    if figures.redundant:
        return None
    return join(
        tag("p", "No query is the same as another, covered by another, or never true.", class_="card")
    )
