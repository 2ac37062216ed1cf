"""Settings to sinks, by format."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from eddyline.delivery.router import Outlet, Router
from eddyline.errors import SinkError
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.sinks.base import Sink
from eddyline.runtime.spark.sinks.callback import CallbackSink
from eddyline.runtime.spark.sinks.console import ConsoleSink
from eddyline.runtime.spark.sinks.delta import DeltaSink
from eddyline.runtime.spark.sinks.files import FORMATS, FileSink
from eddyline.runtime.spark.sinks.iceberg import IcebergSink
from eddyline.runtime.spark.sinks.kafka import KafkaSink
from eddyline.runtime.spark.sinks.plain import PlainSink
from eddyline.runtime.spark.sinks.webhook import WebhookSink, allowed_of

MEANT_FOR: Final = {
    "partition_by": FORMATS | {"delta"},
    "url": frozenset({"webhook"}),
    "allow": frozenset({"webhook"}),
    "callback": frozenset({"callback"}),
}


def make_sink(settings: SinkSettings, *, folder: Path) -> Sink:
    """The sink of its settings; paths are relative to `folder`. A setting that means nothing to it is a `SinkError`."""
    format = settings.format.lower()
    _check(settings, format)
    if format in FORMATS:
        return FileSink(settings, folder)
    if format == "delta":
        return DeltaSink(settings, folder)
    if format == "iceberg":
        return IcebergSink(settings)
    if format == "kafka":
        return KafkaSink(settings)
    if format == "console":
        return ConsoleSink(settings)
    if format == "callback":
        return CallbackSink(settings)
    if format == "webhook":
        return WebhookSink(settings)
    return PlainSink(settings, folder)


def _check(settings: SinkSettings, format: str) -> None:
    """Refuse what would be passed over in silence."""
    for key, formats in MEANT_FOR.items():
        if getattr(settings, key) and format not in formats:
            raise SinkError(
                f'sink "{settings.name}" of format {format} cannot have "{key}"',
                hint=f"it is for {', '.join(sorted(formats))}",
            )
    if settings.columns == "typed" and format not in MEANT_FOR["partition_by"]:
        raise SinkError(
            f'sink "{settings.name}" of format {format} has no typed columns', hint='columns = "payload"'
        )


def guarantee_of(settings: SinkSettings) -> str:
    """What a sink of these settings guarantees."""
    return make_sink(settings, folder=Path()).guarantee


def make_router(sinks: Iterable[SinkSettings]) -> Router:
    """Which destination leads to which of these sinks."""
    return Router(Outlet(sink.name, sink.default, allowed_of(sink)) for sink in sinks)
