"""Digests of normal forms: who shares one, who must not, and that they are the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations

import pyarrow as pa
import pytest

from eddyline.compile import Compiler
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.normalize.digest import FORMAT, digest

FIELDS = {
    "symbol": pa.string(),
    "price": pa.float64(),
    "volume": pa.int64(),
    "amount": pa.decimal128(10, 2),
    "raw": pa.binary(),
    "day": pa.date32(),
    "ts": pa.timestamp("us", "UTC"),
    "sizes": pa.list_(pa.int32()),
}
STREAMS = [Stream(name, pa.schema(FIELDS), "ts", "10 seconds") for name in ("quotes", "trades")]
SOON = "t.ts BETWEEN q.ts AND q.ts + INTERVAL 5 SECONDS"


def digest_of(sql: str, time_zone: str = "UTC", *, with_outputs: bool = False) -> str:
    compiler = Compiler(STREAMS, time_zone=time_zone, join_window="1 minute")
    return digest(compiler.compile(Query("q", sql)), with_outputs=with_outputs)


def where(condition: str) -> str:
    return f"SELECT * FROM quotes WHERE {condition}"


@pytest.mark.parametrize(
    "texts",
    [
        (where("price < 10 AND symbol = 'A'"), "select symbol from QUOTES where symbol = 'A' and not price >= 10.0D"),
        (where("volume = 1 OR price > 2 OR symbol IS NULL"), where("symbol IS NULL OR (price > 2 OR volume = 1)")),
        (where("price = 0.0D"), where("price = -0.0D")),
        (where("volume > 3"), where("volume >= 4")),
        (where("symbol IN ('A', 'B')"), where("symbol = 'B' OR symbol = 'A'")),
        (where("amount < 1.5"), where("amount < 1.50")),
        (where("day < DATE '2024-01-01'"), where("day <= DATE '2023-12-31'")),
        ("SELECT * FROM quotes", where("true")),
        (where("price < 1 AND price > 3"), where("volume < 1 AND volume > 3")),
    ],
)  # fmt: skip
def test_spelling_and_order_do_not_count(texts: tuple[str, str]) -> None:
    assert digest_of(texts[0]) == digest_of(texts[1])


JOINS = (
    f"SELECT q.price FROM quotes q JOIN trades t ON q.symbol = t.symbol AND q.volume = t.volume WHERE {SOON} AND q.price < t.price AND q.volume + t.volume > 3",
    f"SELECT * FROM quotes q JOIN trades t ON q.volume = t.volume AND t.symbol = q.symbol WHERE q.volume + t.volume > 3 AND q.price < t.price AND {SOON}",
    f"SELECT t.price FROM trades t JOIN quotes q ON q.symbol = t.symbol AND q.volume = t.volume WHERE {SOON} AND q.price < t.price AND q.volume + t.volume > 3",
    (
        "SELECT b.price FROM trades b JOIN quotes a ON a.symbol = b.symbol AND a.volume = b.volume "
        "WHERE b.ts BETWEEN a.ts AND a.ts + INTERVAL 5 SECONDS AND a.price < b.price AND a.volume + b.volume > 3"
    ),
)


def test_joins_by_their_pairs() -> None:
    assert len({digest_of(sql) for sql in JOINS}) == 1


def test_outputs_count_where_they_are_asked_for() -> None:
    """Also of a join whose sources stand the other way round, under other aliases."""
    assert len({digest_of(sql, with_outputs=True) for sql in JOINS}) == 3
    assert digest_of(JOINS[2], with_outputs=True) == digest_of(JOINS[3], with_outputs=True)
    one, other = "SELECT symbol FROM quotes", "SELECT symbol AS s FROM quotes"
    assert digest_of(one) == digest_of(other)
    assert digest_of(one, with_outputs=True) != digest_of(other, with_outputs=True)


SELF = "FROM quotes a JOIN quotes b USING (symbol) WHERE"


def test_self_joins_know_which_side_is_which() -> None:
    up, down = f"SELECT a.price {SELF} a.price < b.price", f"SELECT a.price {SELF} b.price < a.price"
    assert digest_of(up) != digest_of(down), "the first is the smaller one, or the larger one"
    renamed = "SELECT b.price FROM quotes b JOIN quotes a USING (symbol) WHERE b.price < a.price"
    assert digest_of(up) == digest_of(renamed), "whatever they are called"


DIFFERENT = (
    "SELECT * FROM quotes",
    "SELECT * FROM trades",
    *[
        where(condition)
        for condition in (
            "price < 10",
            "price <= 10",
            "NOT price < 10",
            "price > 10",
            "price < 10 OR price IS NULL",
            "price < 10 OR price = 'NaN'",
            "price = 'NaN'",
            "price IS NULL",
            "price IS NOT NULL",
            "price < 10 AND volume < 10",
            "price < 10 OR volume < 10",
            "volume < 10",
            "(price < 10 OR volume < 10) AND symbol = 'a'",
            "price < 10 OR (volume < 10 AND symbol = 'a')",
            "symbol = 'a'",
            "symbol = 'b'",
            "symbol = 'A'",
            "lower(symbol) = 'a'",
            "upper(symbol) = 'a'",
            "symbol = '1'",
            "volume = 1",
            "raw = X'31'",
            "amount = 1",
            "amount = 1.01",
            "day = DATE '1970-01-02'",
            "ts = TIMESTAMP '1970-01-01 00:00:00.000001'",
            "coalesce(price, 0.0D) = 1",
            "coalesce(price, -0.0D) = 1",
            "coalesce(price, 1.0D) = 1",
            "sizes[0] = 1",
            "sizes[1] = 1",
            "price < 1 AND price > 3",
            "price = double('inf')",
            "price = double('-inf')",
        )
    ],
    "SELECT * FROM quotes q JOIN trades t USING (symbol)",
    "SELECT * FROM quotes q JOIN trades t USING (volume)",
    "SELECT * FROM quotes q JOIN trades t ON q.symbol <=> t.symbol",
    "SELECT * FROM quotes q JOIN quotes t USING (symbol)",
    f"SELECT * FROM quotes q JOIN trades t USING (symbol) WHERE {SOON}",
    "SELECT * FROM quotes q JOIN trades t USING (symbol) WHERE q.ts BETWEEN t.ts AND t.ts + INTERVAL 5 SECONDS",
    "SELECT * FROM quotes q JOIN trades t USING (symbol) WHERE q.price < 3",
    "SELECT * FROM quotes q JOIN trades t USING (symbol) WHERE t.price < 3",
    "SELECT * FROM quotes q JOIN trades t USING (symbol) WHERE q.price < t.price",
    "SELECT * FROM quotes q JOIN trades t USING (symbol) WHERE q.price > t.price",
)


def test_meaning_counts() -> None:
    found = {sql: digest_of(sql) for sql in DIFFERENT}
    assert [pair for pair in combinations(found, 2) if found[pair[0]] == found[pair[1]]] == []


def test_zone_counts() -> None:
    """A text of one zone and a text of another may mean the same moment; nobody keeps the zones."""
    texts = ["ts > TIMESTAMP '2024-01-01 00:00:00'", "ts > TIMESTAMP '2024-01-01 05:30:00'"]
    assert digest_of(where(texts[0])) != digest_of(where(texts[1]), "+05:30")


KNOWN = {
    "SELECT * FROM quotes": "014a4dd657ca33af278733653bb8ceb6d4",
    where(
        "price < 10 AND symbol IN ('A', 'B') OR amount >= 1.5 OR price = 'NaN'"
    ): "01efcaef02a1aa4f9d05ed4fd61ffff00a",
    where(
        "ts > TIMESTAMP '2024-01-01 00:00:00' AND coalesce(sizes[0], 3) = 4"
    ): "016a3616f0deb7279cb64905a82e533c37",
    JOINS[0]: "01dd3ce4c938996e023bb9603501742284",
}


def test_stays_what_it_is() -> None:
    """If this fails, normal forms or their texts have changed: then there has to be another FORMAT."""
    assert FORMAT == "01"
    assert {sql: digest_of(sql) for sql in KNOWN} == KNOWN


def test_same_in_every_process() -> None:
    """Hashes of texts differ between processes, and with them the order of sets."""
    code = (
        "from tests.unit.normalize.test_digest import DIFFERENT, JOINS, digest_of\n"
        "print(*[digest_of(sql) for sql in (*DIFFERENT, *JOINS)])"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(["src", "."])}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)  # fmt: skip
    assert run.stdout.split() == [digest_of(sql) for sql in (*DIFFERENT, *JOINS)]
