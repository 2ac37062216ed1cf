"""Queries against batches."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import reference
from eddyline.errors import SchemaError
from eddyline.model import types as t
from eddyline.model.catalog import Stream
from eddyline.model.expression import Call, Column, Literal
from eddyline.model.query import BoundQuery, Output, Query

QUOTES = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
NEWS = Stream("news", pa.schema([("text", pa.string())]))
BATCH = pa.record_batch({"symbol": ["A", "B", None, "C"], "price": [1.0, None, 0.0, 20.0]}, QUOTES.schema)
PRICE = Column("price", t.DOUBLE)


def inverse_above(id: str, limit: float) -> BoundQuery:
    """1 / price > limit: fails where the price is zero."""
    inverse = Call("div", (Literal(1.0, t.DOUBLE), PRICE), t.DOUBLE)
    predicate = Call("gt", (inverse, Literal(limit, t.DOUBLE)), t.BOOLEAN)
    outputs = (Output("symbol", Column("symbol", t.STRING)), Output("inverse", inverse))
    return BoundQuery(id, "", "quotes", predicate, outputs)


def test_bound_queries() -> None:
    queries = [inverse_above("half", 0.5), inverse_above("tiny", 0.01)]
    matches = reference.match(queries, BATCH, streams=[QUOTES])
    assert matches.counts() == {"half": 1, "tiny": 2}
    assert matches.rows("tiny").tolist() == [0, 3]
    assert reference.failures(queries, BATCH, streams=[QUOTES]) == {"half": 1, "tiny": 1}


def test_outputs() -> None:
    query = inverse_above("half", 0.5)
    found = [reference.project(query, row) for row in reference.rows(BATCH, QUOTES)]
    assert found == [("A", 1.0), ("B", None), (None, None), ("C", 0.05)]


def test_queries_as_text_take_part_by_their_stream() -> None:
    texts = {
        "cheap": "SELECT symbol FROM quotes WHERE price < 10",
        "all": "SELECT * FROM quotes",
        "elsewhere": "SELECT * FROM news WHERE text LIKE 'x%'",
    }
    streams = [QUOTES, NEWS]
    matches = reference.match(texts, BATCH, streams=streams, stream="quotes")
    assert matches.counts() == {"cheap": 2, "all": 4}
    again = reference.match(
        [Query(id, sql) for id, sql in texts.items()], BATCH, streams=streams, stream="quotes"
    )
    assert again.pairs() == matches.pairs()


def test_the_stream_must_be_clear() -> None:
    with pytest.raises(SchemaError, match="no stream is named"):
        reference.match([], BATCH, streams=[QUOTES, NEWS])
    with pytest.raises(SchemaError, match='"ticks" is not known'):
        reference.match([], BATCH, streams=[QUOTES], stream="ticks")
