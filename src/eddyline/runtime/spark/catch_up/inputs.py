"""Which input belongs to which batches of a source, as Spark wrote it down in its checkpoint.

    offsets/<batch>         how far the source was read when the batch was planned
    sources/0/<number>      of files: those that came with an offset; <number>.compact: all up to it
    sources/0/0             of Kafka: where the first batch began

Spark plans a batch before it runs it, so what is read here is final for every batch that has a version.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from eddyline.errors import FileError
from eddyline.runtime.spark.parquet_files import escaped
from eddyline.runtime.spark.pipeline.settings import SourceSettings

FILES: Final = frozenset({"parquet", "orc", "avro", "json", "csv", "xml", "text"})
_FORM: Final = "v1"


@dataclass(frozen=True, slots=True)
class Offsets:
    """Of Kafka: by topic and partition where to begin and where to end, the end not included."""

    begin: dict[str, dict[str, int]]
    end: dict[str, dict[str, int]]

    def options(self) -> dict[str, str]:
        """As options of Spark's reader of Kafka; partitions that came later begin at their first message."""
        begin = {
            topic: {partition: self.begin.get(topic, {}).get(partition, -2) for partition in partitions}
            for topic, partitions in self.end.items()
        }
        assigned = {topic: sorted(map(int, partitions)) for topic, partitions in self.end.items()}
        return {
            "assign": json.dumps(assigned),
            "startingOffsets": json.dumps(begin),
            "endingOffsets": json.dumps(self.end),
        }


def check_source(settings: SourceSettings) -> None:
    """Refuse a source whose past rows cannot be read again."""
    if settings.format not in FILES and settings.format != "kafka":
        known = ", ".join(sorted({*FILES, "kafka"}))
        raise FileError(
            f'source "{settings.name}": past rows of the format {settings.format} cannot be read again',
            hint=f"the formats that can be are {known}",
        )


def files_of(checkpoint: Path, missed: tuple[range, ...]) -> list[str]:
    """The files of some batches, in the order in which they came, as Spark's readers take them."""
    spans = [
        (_position(checkpoint, batches.start - 1), _position(checkpoint, batches[-1])) for batches in missed
    ]
    found: dict[str, None] = {}
    for entry in sorted(_entries(checkpoint), key=lambda entry: entry["batchId"]):
        if any(after < entry["batchId"] <= last for after, last in spans):
            found[plain(entry["path"])] = None
    return list(found)


def plain(path: str) -> str:
    """A path as Spark's log has it, as Spark's readers take it.

    >>> plain("file:///data/day%20%5B1%5D.json")
    'file:///data/day \\\\[1\\\\].json'
    """
    return escaped(unquote(path))


def offsets_of(checkpoint: Path, missed: tuple[range, ...]) -> list[Offsets]:
    """The stretches of Kafka's partitions that some batches read."""
    found = []
    for batches in missed:
        first = batches.start == 0
        begin = _initial(checkpoint) if first else _offset(checkpoint, batches.start - 1)
        found.append(Offsets(begin, _offset(checkpoint, batches[-1])))
    return found


def _position(checkpoint: Path, batch: int) -> int:
    """How far the log of files was read after a batch; -1: not at all."""
    return -1 if batch < 0 else int(_offset(checkpoint, batch)["logOffset"])


def _offset(checkpoint: Path, batch: int) -> dict[str, Any]:
    """The offset of the only source after a batch."""
    path = checkpoint / "offsets" / str(batch)
    try:
        form, _, offset = path.read_text(encoding="utf-8").splitlines()[:3]
        if form != _FORM:
            raise ValueError(f"its form is {form}")
        found = json.loads(offset)
        return found if isinstance(found, dict) else {"logOffset": int(found)}
    except FileNotFoundError:
        raise FileError(
            f"Spark's checkpoint no longer says what batch {batch} read: there is no {path}",
            hint="it keeps the last spark.sql.streaming.minBatchesToRetain batches, 100 if nothing is said",
        ) from None
    except (OSError, ValueError, KeyError) as error:
        raise FileError(f"{path} is not understood: {error}") from None


def _entries(checkpoint: Path) -> list[dict[str, Any]]:
    """Everything that the log of files says; what was compacted stands in it twice."""
    folder = checkpoint / "sources" / "0"
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.removesuffix(".compact").isdecimal():
            form, *lines = path.read_text(encoding="utf-8").splitlines()
            if form != _FORM:
                raise FileError(f"{path} is not understood: its form is {form}")
            found += [json.loads(line) for line in lines]
    return found


def _initial(checkpoint: Path) -> dict[str, dict[str, int]]:
    """Where Kafka's partitions were when the first batch was planned."""
    path = checkpoint / "sources" / "0" / "0"
    try:
        text = path.read_bytes().lstrip(b"\0").decode()
        form, _, offset = text.partition("\n")
        if form != _FORM:
            raise ValueError(f"its form is {form}")
        found: dict[str, dict[str, int]] = json.loads(offset)
        return found
    except (OSError, ValueError) as error:
        raise FileError(f"{path} is not understood: {error}") from None
