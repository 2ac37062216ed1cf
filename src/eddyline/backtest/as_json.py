"""A back-test as JSON: a documented shape with a version, which changes when a key changes its meaning or goes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from eddyline.backtest.values import Backtest, Pair, QueryResult, Row, Track

FORMAT: Final = "eddyline.backtest"
VERSION: Final = 1


def as_json(found: Backtest) -> dict[str, Any]:
    """Everything that was found, as one object; `docs/backtest.md` describes it.

    >>> as_json(Backtest(streams=(), queries=()))["passed"]
    True
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "passed": found.passed,
        "rows": found.rows,
        "rejected": found.rejected,
        "matches": found.matches,
        "existing": found.existing,
        "streams": [_track(track) for track in found.streams],
        "joins": [_joined(track) for track in found.joins],
        "queries": [_query(query) for query in found.queries],
        "refused": [asdict(refusal) for refusal in found.refused],
        "checks": [asdict(check) for check in found.checks],
    }


def _track(track: Track) -> dict[str, Any]:
    return {
        "stream": track.stream,
        "source": track.source,
        "files": track.files,
        "rows": track.rows,
        "rejected": track.rejected,
        "rejects": [reject.as_json() for reject in track.rejects],
        "existing": track.existing,
        "exact_overlaps": track.exact_overlaps,
        "axis": _axis(track),
    }


def _joined(track: Track) -> dict[str, Any]:
    return {
        "stream": track.stream,
        "rows": track.rows,
        "existing": track.existing,
        "exact_overlaps": track.exact_overlaps,
        "axis": _axis(track),
    }


def _axis(track: Track) -> dict[str, Any]:
    scale = track.scale
    return {
        "kind": scale.kind,
        "column": scale.column,
        "step": scale.step,
        "width": scale.width,
        "starts": list(scale.labels[:-1]),
        "rows": list(track.rows_over),
        "rows_without": track.off_axis,
    }


def _query(query: QueryResult) -> dict[str, Any]:
    return {
        "id": query.id,
        "sql": query.sql,
        "stream": query.stream,
        "is_join": query.is_join,
        "verdict": str(query.verdict),
        "matches": query.matches,
        "rows": query.rows,
        "share": query.share,
        "counts": list(query.counts),
        "counts_without": query.off_axis,
        "first": _row(query.first),
        "last": _row(query.last),
        "samples": [_row(row) for row in query.samples],
        "covered": query.covered,
        "overlaps": [asdict(overlap) for overlap in query.overlaps],
        "replaces": query.replaces,
    }


def _row(row: Row | Pair | None) -> dict[str, Any] | None:
    return None if row is None else asdict(row)
