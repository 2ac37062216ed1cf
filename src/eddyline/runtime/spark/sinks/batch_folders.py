"""The folders of a batch in an output: where it lies, and where it is written before, out of sight of readers.

    out/source=<source>/batch=<id>/
    out/_staging/source=<source>/<batch id>-<owner>-<attempt>/      owner: the number of whoever owns the pipeline's state

A driver may stand still while its workers do not, and a job that has failed may have tasks that end late. What these write must
not come among the files of another attempt, so no two attempts have the same folder. What is left over is removed by the next
attempt: that of the same owner, and of owners before it. What an owner after this one writes is never removed.

An owner before this one may come back and find files of its attempt removed. So whoever has written a batch asks whether it still
is the owner, once all is written and listed, and puts it in its place only then: until that moment nobody has removed anything.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote
from uuid import uuid4

from eddyline.runtime.spark.base.values import Batch
from eddyline.runtime.spark.sinks.storage import OutputFolder
from eddyline.storage.ownership import Ownership

STAGING: Final = "_staging"


def batch_folder(batch: Batch) -> str:
    """The folder of a batch.

    >>> from datetime import UTC, datetime
    >>> batch_folder(Batch("1f", "market", "quotes", 7, 3, datetime.now(UTC)))
    'source=quotes/batch=7'
    """
    return f"{source_folder(batch.source)}/batch={batch.batch_id}"


def source_folder(source: str) -> str:
    """The folder of a source: a name that a reader would take for a number is escaped, so that it stays a text.

    >>> source_folder("quotes"), source_folder("007"), source_folder("a b")
    ('source=quotes', 'source=%3007', 'source=a%20b')
    """
    name = quote(source, safe="")
    try:
        float(source.rstrip("dDfF"))  # Java reads 1d as a number
    except ValueError:
        return f"source={name}"
    return f"source=%{ord(source[0]):02X}{name[1:]}"


def new_attempt(batch: Batch, owner: Ownership) -> str:
    """The name of a folder that nobody else has or will have."""
    return f"{_folder_of(batch)}/{batch.batch_id}-{owner.number}-{uuid4().hex[:12]}"


def remove_leftovers(storage: OutputFolder, batch: Batch, owner: Ownership) -> None:
    """Remove what attempts of this owner and of those before it have left of the batch's source; none of them may be going on."""
    folder = _folder_of(batch)
    for name in storage.folders(folder):
        if _owner_of(name) <= owner.number:
            storage.remove(f"{folder}/{name}")


def _folder_of(batch: Batch) -> str:
    return f"{STAGING}/{source_folder(batch.source)}"


def _owner_of(name: str) -> int:
    """The owner in a name; names of earlier releases have none.

    >>> _owner_of("17-3-0f3c"), _owner_of("17"), _owner_of("batch=17")
    (3, 0, 0)
    """
    parts = name.split("-")
    return int(parts[1]) if len(parts) == 3 and parts[1].isdecimal() else 0
