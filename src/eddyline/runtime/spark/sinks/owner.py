"""Who owns an output folder: a file in it names the pipeline and the sink, and what must not change in between.

Batches are told apart by their number, and a new checkpoint counts from zero again: it would take the batches of an
old one for its own and leave them out, or write everything a second time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from eddyline.errors import SinkError
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.values import PipelineIdentity
from eddyline.runtime.spark.sinks.storage import OutputFolder

MARK: Final = "_eddyline.json"
FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Mark:
    """What the file says."""

    pipeline: str
    name: str
    sink: str
    format: str
    partition_by: tuple[str, ...]

    def to_json(self) -> bytes:
        """The content of the file."""
        return json.dumps(
            {
                "eddyline": FORMAT,
                "pipeline": self.pipeline,
                "name": self.name,
                "sink": self.sink,
                "format": self.format,
                "partition_by": list(self.partition_by),
            },
            indent=1,
        ).encode()


def mark_of(settings: SinkSettings, pipeline: PipelineIdentity) -> Mark:
    """What a new output of a sink says."""
    return Mark(pipeline.id, pipeline.name, settings.name, settings.format, settings.partition_by)


def read_mark(storage: OutputFolder) -> Mark | None:
    """What an output says, None where it says nothing."""
    content = storage.read(MARK)
    if content is None:
        return None
    try:
        found = json.loads(content)
        version = found["eddyline"]
        if version == FORMAT:
            return _mark(found)
    except (ValueError, KeyError, TypeError):
        raise SinkError(
            f"{storage.address}/{MARK} is damaged",
            hint="say which folder the results go to instead, or restore it",
        ) from None
    raise SinkError(f"{storage.address} was written by another version of Eddyline (form {version})")


def _mark(found: dict[str, Any]) -> Mark:
    return Mark(
        str(found["pipeline"]),
        str(found["name"]),
        str(found["sink"]),
        str(found["format"]),
        tuple(found["partition_by"]),
    )


def check_owner(
    storage: OutputFolder, settings: SinkSettings, pipeline: PipelineIdentity | None, *, adopt: bool = False
) -> Mark | None:
    """The mark of an output that is ours, None where it is new; a `SinkError` where it is somebody else's.

    With `adopt` a folder that says nothing may have content.
    """
    found = read_mark(storage)
    where = f'the folder {storage.address} of sink "{settings.name}"'
    if found is None:
        if not adopt and any(not name.startswith((".", "_staging")) for name in storage.names()):
            raise SinkError(
                f"{where} is not empty, and nothing in it says that a pipeline wrote it",
                hint="name a new folder: each pipeline has an output of its own",
            )
        return None
    if pipeline is None or found.pipeline != pipeline.id:
        raise SinkError(
            f'{where} belongs to the pipeline "{found.name}" with another checkpoint',
            hint="a new checkpoint starts from the beginning and would write all results again: "
            "use the old checkpoint, or name a new folder",
        )
    _check_same(found, settings, where)
    return found


def _check_same(found: Mark, settings: SinkSettings, where: str) -> None:
    if found.sink != settings.name:
        raise SinkError(
            f'{where} belongs to the sink "{found.sink}" of the same pipeline', hint="name another folder"
        )
    for what, before, now in (
        ("format", found.format, settings.format),
        ("partition_by", list(found.partition_by), list(settings.partition_by)),
    ):
        if before != now:
            raise SinkError(
                f"{where} was written with {what} = {json.dumps(before)}, and the settings say {json.dumps(now)}",
                hint="keep it as it was, or name a new folder: one folder has one layout",
            )


def take_possession(
    storage: OutputFolder, settings: SinkSettings, pipeline: PipelineIdentity, *, adopt: bool = False
) -> Mark:
    """The mark of an output that is ours, written if it is new."""
    found = check_owner(storage, settings, pipeline, adopt=adopt)
    if found is not None:
        return found
    made = mark_of(settings, pipeline)
    if storage.put_if_absent(MARK, made.to_json()):
        return made
    found = check_owner(storage, settings, pipeline, adopt=adopt)  # somebody was first
    assert found is not None, "a mark that was just there"
    return found
