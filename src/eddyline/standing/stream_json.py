"""Streams as JSON values, for the manifests of saved sets."""

from __future__ import annotations

import base64
from typing import Any

import pyarrow as pa

from eddyline.model.catalog import Stream


def pack_stream(stream: Stream) -> dict[str, Any]:
    """A stream as JSON."""
    schema = base64.b64encode(stream.schema.serialize().to_pybytes()).decode("ascii")
    return {"name": stream.name, "schema": schema, "event_time": stream.event_time}


def unpack_stream(data: dict[str, Any]) -> Stream:
    """The stream that `pack_stream` wrote."""
    schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(data["schema"])))
    return Stream(data["name"], schema, data["event_time"])
