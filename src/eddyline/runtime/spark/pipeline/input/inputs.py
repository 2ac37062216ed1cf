"""Which input belongs to which batches of a source, as Spark wrote it down in its checkpoint.

    offsets/<batch>         how far the source was read when the batch was planned
    sources/0/<number>      of files: those that came with an offset; <number>.compact: all up to it
    sources/0/0             of Kafka: where the first batch began

Spark plans a batch before it runs it, so what is read here is final for every batch that has a version.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from eddyline.errors import FileError
from eddyline.runtime.spark.base.remote_folders import escaped, local_path
from eddyline.runtime.spark.base.settings import SourceSettings
from eddyline.storage.storage import Storage

FILES: Final = frozenset({"parquet", "orc", "avro", "json", "csv", "xml", "text"})
_FORM: Final = "v1"
_LOG: Final = "sources/0"
_HEAD: Final = 64  # bytes in which a file says its form
_BLOCK: Final = 64 * 1024  # bytes that are read at a time from the end of a file


@dataclass(frozen=True, slots=True)
class KafkaOffsets:
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


def files_of(checkpoint: Storage, batches: tuple[range, ...]) -> list[str]:
    """The files of some batches, in the order in which they came, as Spark's log has them: addresses, escaped."""
    found: dict[str, None] = {}
    for several in batches:
        first = _position(checkpoint, several.start - 1) + 1
        entries = _entries(checkpoint, first, _position(checkpoint, several[-1]))
        found |= {entry["path"]: None for entry in sorted(entries, key=lambda entry: entry["batchId"])}
    return list(found)


def plain(path: str) -> str:
    """A path as Spark's log has it, as Spark's readers take it.

    >>> plain("file:///data/day%20%5B1%5D.json")
    'file:///data/day \\\\[1\\\\].json'
    """
    return escaped(unquote(path))


def readable_path(path: str) -> str:
    """A path as Spark's log has it, as people write it.

    >>> readable_path("file:///data/day%20%5B1%5D.json"), readable_path("s3a://lake/a%20b.json")
    ('/data/day [1].json', 's3a://lake/a b.json')
    """
    return str(local_path(path) or unquote(path))


def offsets_of(checkpoint: Storage, missed: tuple[range, ...]) -> list[KafkaOffsets]:
    """The stretches of Kafka's partitions that some batches read."""
    found = []
    for batches in missed:
        first = batches.start == 0
        begin = _initial(checkpoint) if first else _offset(checkpoint, batches.start - 1)
        found.append(KafkaOffsets(begin, _offset(checkpoint, batches[-1])))
    return found


def _position(checkpoint: Storage, batch: int) -> int:
    """How far the log of files was read after a batch; -1: not at all."""
    return -1 if batch < 0 else int(_offset(checkpoint, batch)["logOffset"])


def _offset(checkpoint: Storage, batch: int) -> dict[str, Any]:
    """The offset of the only source after a batch."""
    name = f"offsets/{batch}"
    try:
        form, _, offset = checkpoint.read(name).decode().splitlines()[:3]
        if form != _FORM:
            raise ValueError(f"its form is {form}")
        found = json.loads(offset)
        return found if isinstance(found, dict) else {"logOffset": int(found)}
    except FileNotFoundError:
        raise FileError(
            f"Spark's checkpoint no longer says what batch {batch} read: there is no {checkpoint}/{name}",
            hint="it keeps the last spark.sql.streaming.minBatchesToRetain batches, 100 if nothing is said",
        ) from None
    except (OSError, ValueError, KeyError) as error:
        raise FileError(f"{checkpoint}/{name} is not understood: {error}") from None


def _entries(checkpoint: Storage, first: int, last: int) -> list[dict[str, Any]]:
    """What the log of files says of some of its numbers, `last` included."""
    found: list[dict[str, Any]] = []
    compacted: set[int] = set()
    for number in range(first, last + 1):
        name = f"{_LOG}/{number}"
        try:
            form, *lines = checkpoint.read(name).splitlines()
        except FileNotFoundError:
            compacted.add(number)
            continue
        _check_form(checkpoint, name, form)
        found += [json.loads(line) for line in lines]
    if compacted:
        inside = _ending(checkpoint, _compact(checkpoint, max(compacted)), min(compacted))
        found += [entry for entry in inside if entry["batchId"] in compacted]
    return found


def _compact(checkpoint: Storage, number: int) -> str:
    """The first file of those that have everything up to a number."""
    names = [name.removesuffix(".compact") for name in checkpoint.list(_LOG) if name.endswith(".compact")]
    later = [int(name) for name in names if name.isdecimal() and int(name) >= number]
    if not later:
        raise FileError(
            f"Spark's checkpoint does not say which files came: {checkpoint}/{_LOG}/{number} is missing"
        )
    return f"{_LOG}/{min(later)}.compact"


def _ending(checkpoint: Storage, name: str, first: int) -> list[dict[str, Any]]:
    """The entries of a file from a number on: it has all that ever came, the newest last, so it is read from its end."""
    content = checkpoint.map(name)
    head = content[:_HEAD].tobytes().find(b"\n") + 1
    _check_form(checkpoint, name, content[: max(0, head - 1)].tobytes())
    begin, size = len(content), _BLOCK
    lines: list[bytes] = []
    while begin > head and (not lines or json.loads(lines[0])["batchId"] >= first):
        begin, size = max(head, begin - size), 2 * size
        # the first may be half a line
        lines = content[begin:].tobytes().splitlines()[0 if begin == head else 1 :]
    return [json.loads(line) for line in lines]


def _check_form(checkpoint: Storage, name: str, form: bytes) -> None:
    if form.strip().decode() != _FORM:
        raise FileError(f"{checkpoint}/{name} is not understood: its form is {form.decode()}")


def _initial(checkpoint: Storage) -> dict[str, dict[str, int]]:
    """Where Kafka's partitions were when the first batch was planned."""
    name = f"{_LOG}/0"
    try:
        text = checkpoint.read(name).lstrip(b"\0").decode()
        form, _, offset = text.partition("\n")
        if form != _FORM:
            raise ValueError(f"its form is {form}")
        found: dict[str, dict[str, int]] = json.loads(offset)
        return found
    except (OSError, ValueError) as error:
        raise FileError(f"{checkpoint}/{name} is not understood: {error}") from None
