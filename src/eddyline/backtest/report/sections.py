"""The parts of the page: each takes what was found and gives a piece of it, or None where there is nothing to tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eddyline.backtest.report import charts
from eddyline.backtest.report.frame import LINES, anchors, link, listed
from eddyline.backtest.values import (
    Backtest,
    ExpectationResult,
    FiringVerdict,
    Overlap,
    Pair,
    QueryResult,
    RefusedQuery,
    Row,
    Track,
)
from eddyline.pages.markup import Markup, join, tag
from eddyline.pages.numbers import counted, percent
from eddyline.pages.parts import left_out, section, sortable, table, tile

_OVERLAPS: Final = 25
_SMALL: Final = 0.05  # of either query's matches: less in common is left out of the page
_CHECKS: Final = 500
_PILLS: Final = {
    FiringVerdict.FIRES: ("fires", "good"),
    FiringVerdict.NEVER: ("never fires", "warn"),
    FiringVerdict.IMPOSSIBLE: ("can never fire", "bad"),
    FiringVerdict.EVERYTHING: ("fires on everything", "warn"),
}


def head(found: Backtest) -> Markup:
    """What was tested on what, and how it went."""
    sources = [
        f"{counted(track.rows, 'row')} of {track.stream}"
        + (f" from {track.source}" if track.source else "")
        + _span(track)
        for track in found.streams
    ]
    tested = counted(len(found.queries), "query", "queries")
    told = tag(
        "div",
        tag("h1", "Back-test"),
        tag("p", f"{tested} over {'; '.join(sources) or 'nothing'}", class_="soft"),
    )
    return tag("header", told, _badge(found))


def _span(track: Track) -> str:
    if track.scale.kind == "row" or not track.scale.labels:
        return ""
    return f", {track.scale.labels[0]} to {track.scale.labels[-1]}"


def _badge(found: Backtest) -> Markup:
    if found.failed:
        text = f"{len(found.failed)} of {counted(len(found.checks), 'expectation')} failed"
        return tag("div", text, class_="badge bad")
    if not found.passed:
        refused = sum(not refusal.existing for refusal in found.refused)
        return tag("div", f"{counted(refused, 'query', 'queries')} refused", class_="badge bad")
    if not found.checks:
        return tag("div", "nothing was expected", class_="badge plain")
    return tag("div", f"{counted(len(found.checks), 'expectation')} held", class_="badge good")


def tiles(found: Backtest) -> Markup:
    """The figures that one looks for first."""
    never, everything = (
        len(found.of(FiringVerdict.NEVER, FiringVerdict.IMPOSSIBLE)),
        len(found.of(FiringVerdict.EVERYTHING)),
    )
    refused = sum(not refusal.existing for refusal in found.refused)
    shown = [
        tile(f"{found.rows:,}", "rows read"),
        tile(f"{len(found.queries):,}", "queries under test"),
        tile(f"{found.matches:,}", "matches"),
        tile(f"{never:,}", "never fire", "warn" if never else ""),
        tile(f"{everything:,}", "fire on everything", "warn" if everything else ""),
    ]
    if found.existing:
        covered = sum(query.covered or 0 for query in found.queries)
        shown.append(tile(percent(covered, found.matches), "of matches covered already"))
    if refused:
        shown.append(tile(f"{refused:,}", "refused", "bad"))
    if found.rejected:
        shown.append(tile(f"{found.rejected:,}", "rows rejected", "bad"))
    return tag("div", *shown, class_="tiles")


def checks(found: Backtest) -> Markup | None:
    """Expectations: the failed ones, and behind a fold those that held."""
    if not found.checks:
        return None
    held = [check for check in found.checks if check.passed]
    failed = (
        tag("div", tag("div", _checks(found.failed), class_="scroll"), class_="card")
        if found.failed
        else None
    )
    summary = tag("summary", tag("span", f"{counted(len(held), 'expectation')} held", class_="good id"))
    folded = tag("details", summary, tag("div", _checks(held), class_="inside scroll")) if held else None
    return section("Expectations", failed, folded, card=False)


def _checks(checks: Sequence[ExpectationResult]) -> Markup:
    lines = [
        tag(
            "tr",
            tag("td", "✓" if check.passed else "✗", class_=f"mark {'good' if check.passed else 'bad'}"),
            tag("td", check.query, class_="id"),
            tag("td", check.message),
            tag("td", check.place, class_="soft time"),
        )
        for check in checks[:_CHECKS]
    ]
    shown = table(("", "query", "what came of it", "where it is written"), lines)
    return join(shown, left_out(len(checks), _CHECKS, "expectations"))


def queries(found: Backtest) -> Markup | None:
    """The table of all queries."""
    if not found.queries:
        return None
    names = anchors(found)
    lines = [_query_line(query, found, names) for query in listed(found)]
    kinds = (
        ("query", "text"),
        ("over time", ""),
        ("matches", "number"),
        ("share", "number"),
        ("first", "text"),
        ("last", "text"),
    )
    covered = (("covered", "number"),) if found.existing else ()
    shown = sortable((*kinds, *covered, ("", "text")), lines)
    fewer = left_out(len(found.queries), LINES, "queries; the JSON report has all of them")
    return section("Queries", shown, fewer)


def _query_line(query: QueryResult, found: Backtest, names: dict[str, str]) -> Markup:
    text, kind = _PILLS[query.verdict]
    cells = [
        tag("td", link(query.id, names), class_="id"),
        tag("td", charts.spark(query.counts, query.id)),
        tag("td", f"{query.matches:,}", class_="number", data_value=query.matches),
        tag("td", percent(query.matches, query.rows), class_="number", data_value=query.share),
        tag("td", _short(query.first), class_="time"),
        tag("td", _short(query.last), class_="time"),
    ]
    if found.existing:
        compared = query.covered is not None and query.matches
        share = (query.covered or 0) / query.matches if compared else -1
        shown = percent(query.covered or 0, query.matches) if compared else "–"
        cells.append(tag("td", shown, class_="number", data_value=share))
    replaces = tag("span", "replaces", class_="pill plain") if query.replaces else None
    cells.append(tag("td", tag("span", text, class_=f"pill {kind}"), " " if replaces else None, replaces))
    return tag("tr", *cells)


def _short(row: Row | Pair | None) -> str:
    """Where a row, or the later one of a pair, stands, without fractions of a second."""
    return "–" if row is None else row.at.partition(".")[0] or "no time"


def overlaps(found: Backtest) -> Markup | None:
    """Which matches others have already, the most first."""
    trivial = {query.id for query in found.of(FiringVerdict.EVERYTHING)}
    pairs = [
        (query, overlap)
        for query in found.queries
        for overlap in query.overlaps
        if _is_telling(query, overlap) and not (overlap.is_new and overlap.query in trivial)
    ]
    pairs.sort(key=lambda pair: (pair[1].is_new, -pair[1].shared / pair[0].matches))
    if not pairs:
        return None
    lines = [
        tag(
            "tr",
            tag("td", query.id, class_="id"),
            tag("td", overlap.query, class_="id"),
            tag("td", tag("span", "under test" if overlap.is_new else "existing", class_="pill plain")),
            tag(
                "td",
                ("≈ " if overlap.estimated else "") + f"{overlap.shared:,}",
                class_="number",
                data_value=overlap.shared,
            ),
            tag(
                "td",
                percent(overlap.shared, query.matches),
                class_="number",
                data_value=overlap.shared / query.matches,
            ),
            tag("td", charts.share_bar(overlap.shared, query.matches)),
            tag(
                "td",
                percent(overlap.shared, overlap.of_other),
                class_="number",
                data_value=overlap.shared / max(1, overlap.of_other),
            ),
        )
        for query, overlap in pairs[:_OVERLAPS]
    ]
    names = (
        ("query", "text"),
        ("has matches in common with", "text"),
        ("", "text"),
        ("shared", "number"),
        ("of its matches", "number"),
        ("", ""),
        ("of the other's", "number"),
    )
    note = (
        "A query whose matches another one has nearly all of may not be needed. Existing queries come first."
    )
    if any(overlap.estimated for _, overlap in pairs):
        note += " ≈ was counted on some of the rows, because very many queries match each."
    if not all(track.exact_overlaps for track in found.tracks):
        note += " There were too many pairs to keep: the smallest were given up."
    shown = sortable(names, lines)
    return section(
        "Overlap",
        tag("p", note, class_="note"),
        tag("div", tag("div", shown, class_="scroll"), class_="card"),
        left_out(len(pairs), _OVERLAPS, "pairs, the largest"),
        card=False,
    )


def _is_telling(query: QueryResult, overlap: Overlap) -> bool:
    return overlap.shared >= _SMALL * min(query.matches, overlap.of_other)


def refused(found: Backtest) -> Markup | None:
    """Queries that were left out."""
    if not found.refused:
        return None
    return section(
        "Refused",
        *(_refusal(refusal) for refusal in found.refused[:LINES]),
        left_out(len(found.refused), LINES, "queries"),
        card=False,
    )


def _refusal(refusal: RefusedQuery) -> Markup:
    kind = tag("span", "existing", class_="pill plain") if refusal.existing else None
    return tag(
        "div",
        tag("p", tag("span", refusal.id, class_="id"), " ", kind),
        tag("pre", refusal.text),
        class_="card",
    )


def rejected(found: Backtest) -> Markup | None:
    """Rows that could not be read."""
    if not found.rejected:
        return None
    lines = [
        tag(
            "tr",
            tag("td", reject.place, class_="time"),
            tag("td", reject.reason),
            tag("td", _text(reject.text), class_="mono"),
        )
        for track in found.streams
        for reject in track.rejects
    ]
    note = f"{counted(found.rejected, 'row')} could not be read, and no query saw them. The first ones:"
    shown = tag("div", table(("where", "why", "text"), lines), class_="scroll")
    return section(
        "Rejected rows", tag("p", note, class_="note"), tag("div", shown, class_="card"), card=False
    )


def _text(data: bytes) -> str:
    return data[:200].decode("utf-8", "replace")
