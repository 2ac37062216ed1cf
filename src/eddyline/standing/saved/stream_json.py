"""Streams as JSON values, for the manifests of saved sets."""

from __future__ import annotations

import base64
from typing import Any, Final

import pyarrow as pa

from eddyline.model.catalog import Stream

_TIMES: Final = ("event_time", "lateness", "ahead", "idle")


def pack_stream(stream: Stream) -> dict[str, Any]:
    """A stream as JSON."""
    schema = base64.b64encode(stream.schema.serialize().to_pybytes()).decode("ascii")
    said = {name: getattr(stream, name) for name in _TIMES}
    return {"name": stream.name, "schema": schema, **said}


def unpack_stream(data: dict[str, Any]) -> Stream:
    """The stream that `pack_stream` wrote."""
    schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(data["schema"])))
    return Stream(data["name"], schema, **{name: data.get(name) for name in _TIMES})
