"""Documents of results: how rows are cut into them, and the record that a batch comes in the same ones every time.

    state/documents/<sink>/<source>/<batch>.jsonl      a line for each document: its destination, its results as text

A receiver leaves out a document whose key it has seen, so a key must never come with other rows. Documents are on disk,
all of them, before the first is sent; a batch that is run again is sent from there. Whatever has changed since, the
number of cores, the options of the sink or the package itself, does not matter.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from eddyline.errors import FileError
from eddyline.runtime.spark.base.values import Batch
from eddyline.storage.storage import Storage

FOLDER: Final = "documents"  # in the checkpoint


@dataclass(frozen=True, slots=True)
class Document:
    """Results that are sent together, each as JSON text, to one destination."""

    number: int
    destination: str | None
    results: tuple[str, ...]


class DocumentRecord:
    """The documents of one sink: of each source those of the batch that runs."""

    def __init__(self, checkpoint: Storage, sink: str) -> None:
        self._storage = checkpoint
        self._folder = f"{FOLDER}/{sink}"

    def find(self, batch: Batch) -> Iterator[Document] | None:
        """The documents of a batch that was cut before; None where it was not."""
        name = self._name(batch)
        return self._read(name) if self._storage.exists(name) else None

    def write(self, batch: Batch, documents: Iterable[Document]) -> None:
        """Have all documents of a batch on disk, in place of those of the batch before it, which is done."""
        folder = f"{self._folder}/{batch.source}"
        with self._storage.group():
            # First: a disk that has room for the documents of one batch may have none for those of two.
            for before in self._storage.list(folder):
                self._storage.delete(f"{folder}/{before}")
            self._storage.put(self._name(batch), (_line(document) for document in documents))

    def _read(self, name: str) -> Iterator[Document]:
        """One document after the other: all of them may be larger than the memory."""
        lines = io.BufferedReader(pa.BufferReader(self._storage.map(name)))
        for number, line in enumerate(lines):
            yield _document(f"{self._storage}/{name}", number, line)

    def _name(self, batch: Batch) -> str:
        return f"{self._folder}/{batch.source}/{batch.batch_id}.jsonl"


def _line(document: Document) -> bytes:
    return json.dumps({"destination": document.destination, "results": document.results}).encode() + b"\n"


def _document(file: str, number: int, line: bytes) -> Document:
    try:
        found = json.loads(line)
        return Document(number, found["destination"], tuple(found["results"]))
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{file} is damaged: {error!r}", hint="restore the checkpoint from a copy") from None


def cut(rows: Iterable[Any], most: int, size: int) -> Iterator[Document]:
    """Rows of destination and text as documents of one destination each, bounded in number and in bytes.

    >>> rows = [("a", "1"), ("a", "2"), ("a", "3"), ("b", "4444"), ("b", "5")]
    >>> [document.results for document in cut(rows, most=2, size=4)]
    [('1', '2'), ('3',), ('4444',), ('5',)]
    """
    held: list[str] = []
    at: str | None = None
    number = bytes_held = 0
    for destination, text in rows:
        length = len(text.encode())
        if held and (destination != at or len(held) >= most or bytes_held + length > size):
            yield Document(number, at, tuple(held))
            held, bytes_held, number = [], 0, number + 1
        held.append(text)
        at = destination
        bytes_held += length
    if held:
        yield Document(number, at, tuple(held))
