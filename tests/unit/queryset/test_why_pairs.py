"""Why two rows satisfy a join or not, in words."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from eddyline import EddylineError, QuerySet, SchemaError, Stream

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
SCHEMA = pa.schema([("symbol", pa.string()), ("price", pa.float64()), ("ts", pa.timestamp("us", "UTC"))])
STREAMS = [Stream(name, SCHEMA, "ts", "10 seconds") for name in ("quotes", "Trades")]
SOON = "t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"
SPREAD = f"""SELECT q.symbol FROM quotes q JOIN trades t ON q.symbol = t.symbol
    WHERE {SOON} AND q.price < 10 AND t.price > q.price * 1.01"""


def built(text: str, streams: list[Stream] | None = None) -> QuerySet:
    return QuerySet.build({"spread": text}, streams=streams or STREAMS)


def row(symbol: str | None, price: float | None, second: float | None) -> dict[str, Any]:
    return {
        "symbol": symbol,
        "price": price,
        "ts": None if second is None else NOON + timedelta(seconds=second),
    }


def why(text: str, first: dict[str, Any], second: dict[str, Any], aliases: str = "qt") -> str:
    return str(built(text).why("spread", {aliases[0]: first, aliases[1]: second}))


def test_a_match() -> None:
    assert why(SPREAD, row("A", 5.0, 0), row("A", 6.0, 2)) == (
        "matches, because\n"
        "  q.price is 5.0, which lies in (-inf, 10.0)\n"
        "  q.symbol = t.symbol, both are 'A'\n"
        "  t.ts - q.ts is 2 seconds, within 0 seconds to 5 seconds\n"
        "  (t.price > (q.price * 1.01D)) is true"
    )


def test_what_fails_comes_first() -> None:
    assert why(SPREAD, row("A", 50.0, 0), row("A", 51.0, 7.5)) == (
        "does not match, because\n"
        "  q.price is 50.0, which does not lie in (-inf, 10.0)\n"
        "  t.ts - q.ts is 7 seconds 500 milliseconds, 2 seconds 500 milliseconds outside of 0 seconds to 5 seconds\n"
        "although\n"
        "  q.symbol = t.symbol, both are 'A'\n"
        "  (t.price > (q.price * 1.01D)) is true"
    )


def test_everything_fails() -> None:
    assert why(SPREAD, row("A", None, 0), row("B", 6.0, -2)) == (
        "does not match, because\n"
        "  q.price is NULL, which does not lie in (-inf, 10.0)\n"
        "  q.symbol is 'A' and t.symbol is 'B', which are not equal\n"
        "  t.ts - q.ts is -2 seconds, 2 seconds outside of 0 seconds to 5 seconds\n"
        "  (t.price > (q.price * 1.01D)) is NULL"
    )


def test_nulls_in_keys_and_times() -> None:
    plain = f"SELECT * FROM quotes q JOIN trades t USING (symbol) WHERE {SOON}"
    assert why(plain, row(None, 1.0, None), row(None, 1.0, 2)) == (
        "does not match, because\n"
        "  q.symbol and t.symbol are NULL, which equals nothing\n"
        "  q.ts is NULL, so that the tuple is left out of joins"
    )
    assert why(plain, row("A", 1.0, 0), row(None, 1.0, 2)) == (
        "does not match, because\n"
        "  t.symbol is NULL, which equals nothing\n"
        "although\n"
        "  t.ts - q.ts is 2 seconds, within 0 seconds to 5 seconds"
    )


def test_null_equals_null_where_that_is_said() -> None:
    safe = f"SELECT * FROM quotes q JOIN trades t ON q.symbol <=> t.symbol WHERE {SOON}"
    assert (
        why(safe, row(None, 1.0, 0), row(None, 1.0, 0)).splitlines()[1]
        == "  q.symbol <=> t.symbol, both are NULL"
    )
    assert why(safe, row(None, 1.0, 0), row("A", 1.0, 0)).splitlines()[1] == (
        "  q.symbol is NULL and t.symbol is 'A', which are not equal"
    )


def test_every_branch_says_why() -> None:
    text = f"""SELECT * FROM quotes q JOIN trades t ON q.symbol = t.symbol
        WHERE {SOON} AND (q.price < 2 OR t.price < 2)"""
    assert why(text, row("A", 5.0, 0), row("A", 6.0, 0)) == (
        "does not match\n"
        "branch 1 fails, because\n"
        "  q.price is 5.0, which does not lie in (-inf, 2.0)\n"
        "although\n"
        "  q.symbol = t.symbol, both are 'A'\n"
        "  t.ts - q.ts is 0 seconds, within 0 seconds to 5 seconds\n"
        "branch 2 fails, because\n"
        "  t.price is 6.0, which does not lie in (-inf, 2.0)\n"
        "although\n"
        "  q.symbol = t.symbol, both are 'A'\n"
        "  t.ts - q.ts is 0 seconds, within 0 seconds to 5 seconds"
    )
    assert why(text, row("A", 5.0, 0), row("A", 1.0, 0)) == (
        "matches, because\n"
        "  t.price is 1.0, which lies in (-inf, 2.0)\n"
        "  q.symbol = t.symbol, both are 'A'\n"
        "  t.ts - q.ts is 0 seconds, within 0 seconds to 5 seconds"
    )


def test_a_stream_joined_with_itself() -> None:
    text = """SELECT * FROM quotes a JOIN quotes b ON a.symbol = b.symbol AND b.ts = a.ts + INTERVAL 1 SECOND
        WHERE b.price > a.price"""
    assert why(text, row("A", 1.0, 0), row("A", 2.0, 1), "ab") == (
        "matches, because\n"
        "  a.symbol = b.symbol, both are 'A'\n"
        "  b.ts - a.ts is 1 second, within 1 second\n"
        "  (b.price > a.price) is true"
    )


def test_a_join_that_is_never_true() -> None:
    never = built(
        f"SELECT * FROM quotes q JOIN trades t USING (symbol) WHERE {SOON} AND q.price < 1 AND q.price > 2"
    )
    verdict = never.why("spread", {"q": row("A", 1.0, 0), "t": row("A", 1.0, 0)})
    assert (verdict.matched, str(verdict)) == (False, "does not match: no pair does")


@pytest.mark.parametrize(
    ("kind", "times", "window", "expected"),
    [
        (
            pa.date32(),
            (date(2026, 1, 1), date(2026, 1, 4)),
            "INTERVAL 2 DAYS",
            "3 days, 1 day outside of 0 days to 2 days",
        ),
        (pa.int64(), (5, 9), "3", "4, 1 outside of 0 to 3"),
        (pa.int64(), (5, 2**62), "3", None),
    ],
)
def test_other_event_times(
    kind: pa.DataType, times: tuple[Any, Any], window: str, expected: str | None
) -> None:
    streams = [
        Stream(
            name, pa.schema([("k", pa.int64()), ("at", kind)]), "at", "1 day" if kind == pa.date32() else 1
        )
        for name in ("quotes", "trades")
    ]
    text = f"SELECT * FROM quotes q JOIN trades t USING (k) WHERE t.at BETWEEN q.at AND q.at + {window}"
    found = str(
        built(text, streams).why("spread", {"q": {"k": 1, "at": times[0]}, "t": {"k": 1, "at": times[1]}})
    )
    said = (
        f"t.at - q.at is {expected}"
        if expected
        else "t.at is out of range, so that the tuple is left out of joins"
    )
    assert found == f"does not match, because\n  {said}\nalthough\n  q.k = t.k, both are 1"


def test_reasons_are_those_of_the_sides() -> None:
    found = built(SPREAD).why("spread", {"q": row("A", 50.0, 0), "t": row("B", 51.0, 7.5)})
    assert [(reason.value, reason.holds) for reason in found.reasons] == [(50.0, False)]


def test_batches_of_one_row_and_aliases_in_any_case() -> None:
    one = pa.RecordBatch.from_pylist([row("A", 5.0, 0)], schema=SCHEMA)
    assert built(SPREAD).why("spread", {"Q": one, "T": row("A", 6.0, 2)}).matched


HINT = 'give a row for each of its sources, by alias: why(id, {"q": row, "t": row})'


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (row("A", 5.0, 0), 'query "spread" joins quotes q JOIN Trades t, so that one row does not decide'),
        ([1], 'query "spread" joins quotes q JOIN Trades t, so that one row does not decide'),
        ({"q": row("A", 5.0, 0)}, 'no row is given for "t" of query "spread"'),
        ({"q": row("A", 5.0, 0), "quotes": row("A", 5.0, 0)}, 'query "spread" has no source "quotes"'),
        ({"q": row("A", 5.0, 0), "Q": row("A", 6.0, 0)}, 'two rows are given for "q" of query "spread"'),
    ],
)
def test_rows_that_do_not_fit_the_join(given: Any, message: str) -> None:
    with pytest.raises(EddylineError) as caught:
        built(SPREAD).why("spread", given)
    assert (caught.value.message, caught.value.hint) == (message, HINT)


def test_each_alias_has_one_row_with_the_columns_that_decide() -> None:
    two = pa.RecordBatch.from_pylist([row("A", 5.0, 0)] * 2, schema=SCHEMA)
    with pytest.raises(EddylineError, match="why looks at one row, not at 2"):
        built(SPREAD).why("spread", {"q": two, "t": row("A", 6.0, 2)})
    with pytest.raises(SchemaError, match='"price"'):
        built(SPREAD).why("spread", {"q": row("A", 5.0, 0), "t": {"symbol": "A", "ts": NOON}})


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("price", "five", "is 'five', but double is declared"),
        ("price", 2**70, f"is {2**70}, but double is declared"),
        ("symbol", 5, "is 5, but string is declared"),
        ("symbol", "\ud800", "is '\\ud800', but string is declared"),
        ("ts", "12:00", "is '12:00', but timestamp is declared"),
    ],
)
def test_values_of_other_types_are_refused_by_column(column: str, value: object, said: str) -> None:
    queries = QuerySet.build({"spread": SPREAD, "all": "SELECT * FROM quotes"}, streams=STREAMS)
    wrong = {**row("A", 5.0, 0), column: value}
    for id, given in (("all", wrong), ("spread", {"q": wrong, "t": row("A", 6.0, 2)})):
        with pytest.raises(SchemaError) as caught:
            queries.why(id, given)
        assert caught.value.message == f'column "{column}" of the row for stream "quotes" {said}'
        assert caught.value.hint is not None
