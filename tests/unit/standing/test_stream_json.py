"""Streams in the manifests of saved sets."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from eddyline.model.catalog import Stream
from eddyline.standing.saved.stream_json import pack_stream, unpack_stream

SCHEMA = pa.schema([("at", pa.timestamp("us", "UTC")), ("number", pa.int64())])


@pytest.mark.parametrize(
    "stream",
    [
        Stream("quotes", SCHEMA),
        Stream("quotes", SCHEMA, "at"),
        Stream("quotes", SCHEMA, "at", "90 s", "2 days", "1 minute"),
        Stream("quotes", SCHEMA, "number", 500),
    ],
)
def test_streams_come_back(stream: Stream) -> None:
    found = unpack_stream(json.loads(json.dumps(pack_stream(stream))))
    assert found == stream and found.times == stream.times


def test_streams_that_were_saved_before_they_had_lengths() -> None:
    packed = pack_stream(Stream("quotes", SCHEMA, "at"))
    older = {name: packed[name] for name in ("name", "schema", "event_time")}
    assert unpack_stream(older) == Stream("quotes", SCHEMA, "at")
