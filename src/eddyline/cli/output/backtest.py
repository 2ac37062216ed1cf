"""A back-test in a terminal: a table of the queries with small charts, then whatever deserves a look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eddyline.backtest.report.charts import merged
from eddyline.backtest.values import Backtest, FiringVerdict, Pair, QueryResult, Row, Track
from eddyline.cli.output.terminal import Printer
from eddyline.pages.numbers import counted, percent

_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_COLUMNS: Final = 16
_LINES: Final = 60
_FEW: Final = 10
_VERDICTS: Final = {
    FiringVerdict.FIRES: "",
    FiringVerdict.NEVER: "never fires",
    FiringVerdict.IMPOSSIBLE: "can never fire",
    FiringVerdict.EVERYTHING: "fires on everything",
}


def show(found: Backtest, output: Printer) -> None:
    """Everything that fits; the reports have the rest."""
    for track in found.streams:
        _show_track(track, output)
    if found.queries:
        output.line()
        _show_queries(found, output)
    _show_overlaps(found, output)
    for refusal in found.refused[:_FEW]:
        output.heading(f"refused{', existing' if refusal.existing else ''}")
        output.line(refusal.text)
    _more(len(found.refused), _FEW, "refused queries", output)
    _show_rejects(found, output)
    _show_checks(found, output)


def _show_track(track: Track, output: Printer) -> None:
    files = f", {counted(track.files, 'file')}" if track.files != 1 else ""
    text = f"{track.stream}: {counted(track.rows, 'row')} from {track.source}{files}"
    if track.rows and track.scale.kind != "row":
        text += f"; {track.scale.column} from {track.scale.labels[0]} to {track.scale.labels[-1]}"
    output.line(text, "bold")


def _show_queries(found: Backtest, output: Printer) -> None:
    names = ["query", "over time", "matches", "share", "first", "last", "covered", "note"]
    lines = [_line(query) for query in found.queries[:_LINES]]
    if not found.existing:
        names, lines = [n for n in names if n != "covered"], [[*line[:6], *line[7:]] for line in lines]
    output.table(names, lines, right=(2, 3, 6) if found.existing else (2, 3))
    _more(len(found.queries), _LINES, "queries", output)


def _line(query: QueryResult) -> list[str]:
    covered = "-" if query.covered is None or not query.matches else percent(query.covered, query.matches)
    notes = [_VERDICTS[query.verdict], "replaces" if query.replaces else ""]
    return [
        query.id,
        chart(query.counts),
        f"{query.matches:,}",
        percent(query.matches, query.rows),
        _at(query.first),
        _at(query.last),
        covered,
        ", ".join(text for text in notes if text),
    ]


def _at(row: Row | Pair | None) -> str:
    return "-" if row is None else row.at.partition(".")[0] or "no time"


def chart(counts: Sequence[int]) -> str:
    """Counts as a line of blocks; what is there is seen.

    >>> chart([0, 1, 100])
    ' ▁█'
    """
    columns = merged(counts, _COLUMNS)
    most = max(columns, default=0) or 1
    return "".join(_BLOCKS[-(-count * (len(_BLOCKS) - 1) // most)] for count in columns)


def _show_overlaps(found: Backtest, output: Printer) -> None:
    """The existing query that has most of each query's matches."""
    rows = [
        (query.id, overlap.query, f"{overlap.shared:,}", percent(overlap.shared, query.matches))
        for query in found.queries
        for overlap in [o for o in query.overlaps if not o.is_new][:1]
    ]
    if rows:
        output.heading("matches that an existing query has already")
        output.table(("query", "existing", "shared", "of its matches"), rows[:_LINES], right=(2, 3))
        _more(len(rows), _LINES, "queries", output)


def _show_rejects(found: Backtest, output: Printer) -> None:
    if not found.rejected:
        return
    output.heading(f"{counted(found.rejected, 'row')} could not be read; the first:")
    for track in found.streams:
        for reject in track.rejects:
            output.line(f"  {reject}")


def _show_checks(found: Backtest, output: Printer) -> None:
    if not found.checks:
        return
    held = len(found.checks) - len(found.failed)
    output.heading(f"{held} of {counted(len(found.checks), 'expectation')} held")
    for check in found.failed[:_LINES]:
        output.line(f"  {check.message}", "red")
        output.line(f"    {check.place}")
    _more(len(found.failed), _LINES, "failed ones", output)


def _more(count: int, limit: int, what: str, output: Printer) -> None:
    if count > limit:
        output.line(f"and {count - limit:,} more {what}; --json and --report have all of them")
