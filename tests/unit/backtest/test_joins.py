"""Back-tests of joins against brute force: counts over time, first, last and sample pairs, coverage, overlap."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Query, QuerySet, Stream
from eddyline.backtest import Backtest, Settings, prepare
from eddyline.backtest.as_json import as_json
from eddyline.backtest.check import check
from eddyline.backtest.expectations import parse_toml
from eddyline.backtest.junit import to_junit
from eddyline.backtest.prepare import PreparedBacktest
from eddyline.backtest.report import to_html
from eddyline.backtest.values import FiringVerdict, Pair, QueryResult
from eddyline.model.join import NormalJoin
from eddyline.queryset import join_replay
from eddyline.runtime.embedded.backtest import History, run
from eddyline.runtime.embedded.backtest.fetch import fetch_row
from eddyline.runtime.embedded.joins import kept_rows
from eddyline.runtime.embedded.sources import FileRows
from tests.unit.backtest.histories import START, pieces

SCHEMA = pa.schema(
    {"at": pa.timestamp("us"), "symbol": pa.string(), "price": pa.float64(), "note": pa.list_(pa.int64())}
)
QUOTES = Stream("quotes", SCHEMA, event_time="at", lateness="0 seconds")
TRADES = Stream(
    "trades",
    pa.schema({"symbol": pa.string(), "done": pa.timestamp("us"), "price": pa.float64()}),
    "done",
    "0 s",
)
SOON = "t.done BETWEEN q.at AND q.at + INTERVAL 30 SECONDS"
TESTED = [
    Query("soon", f"SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE {SOON}"),
    Query(
        "dearer", f"SELECT * FROM trades t JOIN quotes q USING (symbol) WHERE {SOON} AND t.price > q.price"
    ),
    Query(
        "again",
        "SELECT a.at FROM quotes a, quotes b WHERE a.symbol = b.symbol AND a.at BETWEEN b.at - INTERVAL 20 SECONDS "
        "AND b.at + INTERVAL 10 SECONDS",
    ),
    Query("cheap", "SELECT * FROM quotes WHERE price < 20"),
    Query(
        "silent", f"SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE {SOON} AND q.price < 0"
    ),
    Query(
        "impossible",
        f"SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE {SOON} AND t.done < q.at",
    ),
    Query("mirror", "SELECT 1 FROM quotes a JOIN quotes b USING (symbol) WHERE a.at = b.at"),
]
EXISTING = [
    Query(
        "soon",
        f"SELECT 1 AS one FROM quotes q JOIN trades t ON q.symbol = t.symbol WHERE {SOON} AND t.price < 50",
    ),
    Query("acme", "SELECT * FROM quotes WHERE symbol = 'ACME'"),
    Query(
        "twice", "SELECT 1 FROM quotes a JOIN quotes b USING (symbol) WHERE b.at = a.at AND a.price < b.price"
    ),
]
Places = tuple[int, int]


def quotes(rows: int = 300, seed: int = 5) -> pa.RecordBatch:
    rng = np.random.default_rng(seed)
    times = START + rng.integers(0, 600, rows) * 1_000_000
    columns = [
        pa.array(times, pa.timestamp("us"), mask=rng.random(rows) < 0.05),
        pa.array(rng.choice(["ACME", "BOLT", "ZETA"], rows)),
        pa.array(np.round(rng.random(rows) * 100, 2)),
        pa.array([[row] for row in range(rows)]),
    ]
    return pa.record_batch(columns, schema=SCHEMA)


def trades(rows: int = 200, seed: int = 6) -> pa.RecordBatch:
    given = quotes(rows, seed)
    columns = [given.column(name) for name in ("symbol", "at", "price")]
    return pa.RecordBatch.from_arrays(columns, schema=TRADES.schema)


def outcome(size: int = 1000, settings: Settings | None = None) -> tuple[Backtest, PreparedBacktest]:
    prepared = prepare(TESTED, [QUOTES, TRADES], existing=EXISTING)
    histories = [
        History("quotes", pieces(quotes(), size, "quotes.csv"), "quotes.csv"),
        History(
            "trades",
            [*pieces(trades().slice(0, 150), size, "a.csv"), *pieces(trades().slice(150), size, "b.csv")],
        ),
    ]
    return run(prepared, histories, settings=settings or Settings()), prepared


BATCHES = {"quotes": quotes(), "trades": trades()}
TIMES = {
    "quotes": quotes().column("at").cast(pa.int64()).to_pylist(),
    "trades": trades().column("done").cast(pa.int64()).to_pylist(),
}


def pairs_of(queries: Sequence[Query]) -> dict[str, list[tuple[int, Places]]]:
    """By query its pairs, first the time of the later row, then row numbers in the order of FROM, as they arrive."""
    compiled = QuerySet.build(queries, streams=[QUOTES, TRADES])
    found = compiled.join(BATCHES)
    pairs = {}
    for query in queries:
        normal = compiled.standing().normal_form(compiled.number(query.id))
        if isinstance(normal, NormalJoin):
            names = [source.stream for source in normal.sources]
            rows = list(zip(*(rows.tolist() for rows in found.rows(query.id)), strict=True))
            keys = [[(TIMES[n][row], n, row) for n, row in zip(names, pair, strict=True)] for pair in rows]
            order = sorted(
                range(len(rows)), key=lambda i: (max(keys[i]), min(keys[i]), keys[i][0] < keys[i][1])
            )
            pairs[query.id] = [(max(keys[i])[0], rows[i]) for i in order]
    return pairs


def places(pair: object) -> Places:
    """The row numbers of a pair that a report shows, from 0."""
    assert isinstance(pair, Pair)
    first, second = pair.rows.values()
    return tuple([row.number - 1 + (150 if row.file == "b.csv" else 0) for row in (first, second)])  # type: ignore[return-value]


def joins_of(found: Backtest) -> list[QueryResult]:
    return [query for query in found.queries if query.is_join]


def test_counts_over_time_first_and_last() -> None:
    found, _ = outcome()
    expected = pairs_of(TESTED)
    tracks = {track.stream: track for track in found.joins}
    assert list(tracks) == ["quotes JOIN trades", "quotes JOIN quotes"]
    assert [track.rows for track in found.joins] == [500, 300] and found.rows == 500
    assert len(joins_of(found)) == 6
    for query in joins_of(found):
        pairs, track = expected[query.id], tracks[query.stream]
        buckets = [(time - track.scale.start) // track.scale.width for time, _ in pairs]
        assert (
            list(query.counts)
            == np.bincount(np.array(buckets, np.int64), minlength=len(track.rows_over)).tolist()
        )
        assert (query.matches, query.off_axis, query.rows) == (len(pairs), 0, track.rows)
        if pairs:
            assert (places(query.first), places(query.last)) == (pairs[0][1], pairs[-1][1])
    assert sum(tracks["quotes JOIN trades"].rows_over) == 500 - sum(
        times.count(None) for times in TIMES.values()
    )
    assert tracks["quotes JOIN trades"].off_axis == sum(times.count(None) for times in TIMES.values())
    assert (tracks["quotes JOIN trades"].scale.column, tracks["quotes JOIN quotes"].scale.column) == (
        "at, done",
        "at",
    )
    verdicts = {query.id: query.verdict for query in found.queries}
    assert verdicts["silent"] is FiringVerdict.NEVER and verdicts["impossible"] is FiringVerdict.IMPOSSIBLE
    assert verdicts["soon"] is FiringVerdict.FIRES


def test_both_rows_of_a_pair_are_shown_by_alias() -> None:
    found, _ = outcome()
    dearer = next(query for query in found.queries if query.id == "dearer")
    assert isinstance(dearer.first, Pair)
    trade, quote = dearer.first.rows["t"], dearer.first.rows["q"]
    assert list(dearer.first.rows) == ["t", "q"]
    assert trade.file in ("a.csv", "b.csv") and quote.file == "quotes.csv"
    assert list(trade.values) == TRADES.schema.names and list(quote.values) == QUOTES.schema.names
    assert quote.values["note"] == f"[{quote.number - 1}]"
    assert dearer.first.at == max(trade.at, quote.at) and trade.values["price"] > quote.values["price"]


@pytest.mark.parametrize("size", [1, 7, 100])
def test_neither_pieces_nor_slices_change_anything(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = outcome()
    monkeypatch.setattr(join_replay, "MOST_ROWS", 3 * size)
    monkeypatch.setattr(kept_rows, "IN_MEMORY", 5_000)
    assert outcome(size)[0] == expected


def test_first_and_last_are_not_among_the_samples() -> None:
    found, _ = outcome(settings=Settings(samples=2000))
    for query in joins_of(found):
        shown = [places(pair) for pair in (query.first, *query.samples, query.last) if pair is not None]
        assert len(set(shown)) == len(shown) == query.matches


def test_samples_are_pairs_beside_the_ends_and_other_queries_do_not_change_them() -> None:
    found, _ = outcome(settings=Settings(samples=4))
    expected = pairs_of(TESTED)
    for query in joins_of(found):
        ends = {places(end) for end in (query.first, query.last) if end is not None}
        others = {pair for _, pair in expected[query.id]} - ends
        assert len(query.samples) == min(4, len(others))
        assert {places(sample) for sample in query.samples} <= others
        assert len({places(sample) for sample in query.samples}) == len(query.samples)
    alone = prepare(TESTED[:1], [QUOTES, TRADES])
    histories = [
        History("quotes", pieces(quotes(), 50, "quotes.csv")),
        History(
            "trades",
            [FileRows(trades().slice(0, 150), "a.csv", 0), FileRows(trades().slice(150), "b.csv", 0)],
        ),
    ]
    [soon] = run(alone, histories, settings=Settings(samples=4)).queries
    assert soon.samples == found.queries[0].samples


def canonical(queries: Sequence[Query]) -> dict[str, set[Places]]:
    """Pairs in the order of the streams, whatever FROM says."""
    turned = {"dearer"}
    return {
        id: {pair[::-1] if id in turned else pair for _, pair in pairs}  # type: ignore[misc]
        for id, pairs in pairs_of(queries).items()
    }


def test_coverage_and_overlap() -> None:
    found, _ = outcome()
    tested, existing = canonical(TESTED), canonical(EXISTING)
    results = {query.id: query for query in found.queries}
    assert (found.existing, [track.existing for track in found.joins]) == (3, [1, 1])
    assert results["soon"].covered == len(tested["soon"] & existing["soon"]) and results["soon"].replaces
    assert results["dearer"].covered == len(tested["dearer"] & existing["soon"])
    assert results["again"].covered == len(tested["again"] & existing["twice"])
    assert results["mirror"].covered == len(tested["mirror"] & existing["twice"]) > 0
    for query in joins_of(found):
        for overlap in query.overlaps:
            other = (tested if overlap.is_new else existing)[overlap.query]
            assert (overlap.shared, overlap.of_other) == (len(tested[query.id] & other), len(other))
    shared = {(q.id, o.query, o.is_new) for q in joins_of(found) for o in q.overlaps}
    for (one, mine), (other, theirs) in product(tested.items(), tested.items()):
        is_one_lane = results[one].stream == results[other].stream and one != other
        assert ((one, other, True) in shared) == (is_one_lane and bool(mine & theirs))


def test_reports() -> None:
    found, prepared = outcome()
    expectations = parse_toml(
        """
        [soon]
        min = 1
        max = 3
        match = [
            { q = { symbol = "A", at = "2026-01-05 09:30:00" }, t = { symbol = "A", done = "2026-01-05 09:30:30" } },
            { q = { symbol = "A", at = "2026-01-05 09:30:00" }, t = { symbol = "A", done = "2026-01-05 09:30:31" } },
        ]
        no_match = [{ q = { symbol = "A" }, t = { symbol = "A" } }, { price = 3.0 }, { q = {} }]
        [cheap]
        min = 1
        """
    )
    found = check(found, prepared, expectations, fetch=fetch_row)
    soon = found.queries[0]
    said = [(each.kind, each.passed, each.message) for each in found.checks]
    assert said[0] == (
        "min",
        True,
        f'query "soon" matched {soon.matches} pairs, and at least 1 were expected',
    )
    assert said[1][1] is False and found.checks[1].expected == "matches at most 3 pairs"
    assert said[2][:2] == ("match", True) and "does not match" not in said[2][2]
    assert (
        said[3][:2] == ("match", False)
        and "does not match the pair" in said[3][2]
        and "31 seconds" in said[3][2]
    )
    assert said[4][:2] == ("no_match", True)
    assert said[5][:2] == ("no_match", False) and "so that one row does not decide" in said[5][2]
    assert 'no row is given for "t"' in said[6][2]
    document = json.loads(json.dumps(as_json(found)))
    assert [joined["stream"] for joined in document["joins"]] == ["quotes JOIN trades", "quotes JOIN quotes"]
    assert list(document["joins"][0]) == ["stream", "rows", "existing", "exact_overlaps", "axis"]
    first = document["queries"][0]["first"]
    assert (
        document["queries"][0]["is_join"]
        and list(first) == ["at", "rows"]
        and list(first["rows"]) == ["q", "t"]
    )
    assert list(first["rows"]["q"]) == ["file", "number", "at", "values"]
    page = to_html(found)
    for part in ("q.symbol", "t.done", "Pairs that match", "When they fire: quotes JOIN trades"):
        assert part in page
    assert isinstance(soon.first, Pair)
    there = [f"{row.file}:{row.number}" for row in soon.first.rows.values()]
    assert ", ".join(there) in page
    assert "matches at most 3 pairs" in to_junit(found)


def test_joins_that_are_refused() -> None:
    known = Stream("orders", SCHEMA, "at", "0 s")
    joins = [
        Query("other", "SELECT * FROM quotes q JOIN orders o ON q.symbol = o.symbol AND q.at = o.at"),
        Query("unbound", "SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol"),
        TESTED[0],
    ]
    prepared = prepare(joins, [QUOTES, TRADES], existing=joins, others=[known])
    assert [(each.id, each.existing) for each in prepared.refused] == [
        ("other", False), ("unbound", False), ("unbound", True),
    ]  # fmt: skip
    assert prepared.refused[0].message == 'there is no history of its stream "orders"'
    prepared = prepare(joins[2:], [QUOTES, TRADES], refusing_joins="do it elsewhere")
    assert prepared.joins is None and "hint: do it elsewhere" in prepared.refused[0].text
