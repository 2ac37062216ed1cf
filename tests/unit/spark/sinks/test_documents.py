"""Documents on disk: all of a batch or none, and letter by letter what was cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eddyline.errors import FileError
from eddyline.runtime.spark.sinks.documents import Document, DocumentRecord, cut
from eddyline.storage.local import LocalStorage
from tests.spark.sink_rows import batch_of

TEXTS = ['{"n":1.50}', '{"s":"\u2028 \\" ü \\n 𝄞"}', "{}", "line\nbreak"]


@pytest.fixture
def record(tmp_path: Path) -> DocumentRecord:
    return DocumentRecord(LocalStorage(tmp_path), "hook")


def test_what_was_written_is_found(record: DocumentRecord) -> None:
    rows = [(to, text) for to in ("https://a", None, "hook") for text in TEXTS]
    documents = list(cut(rows, most=3, size=1000))
    assert [(one.number, one.destination, len(one.results)) for one in documents] == [
        *((0, "https://a", 3), (1, "https://a", 1)),
        *((2, None, 3), (3, None, 1)),
        *((4, "hook", 3), (5, "hook", 1)),
    ]
    assert record.find(batch_of(7)) is None
    record.write(batch_of(7), documents)
    record.write(batch_of(3, "trades"), [])
    assert list(record.find(batch_of(7)) or ()) == documents
    assert list(record.find(batch_of(3, "trades")) or ()) == []
    assert record.find(batch_of(8)) is None


def test_a_failure_while_documents_are_cut_leaves_nothing(record: DocumentRecord, tmp_path: Path) -> None:
    def failing() -> Iterator[Document]:
        yield Document(0, None, ("{}",))
        raise OSError("no more rows")

    record.write(batch_of(6), [Document(0, None, ("{}",))])
    with pytest.raises(OSError, match="no more rows"):
        record.write(batch_of(7), failing())
    assert record.find(batch_of(7)) is None and not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_damaged_record_is_named(record: DocumentRecord, tmp_path: Path) -> None:
    record.write(batch_of(7), [Document(0, None, ("{}",))])
    (path,) = tmp_path.rglob("*.jsonl")
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(FileError, match=r"7\.jsonl is damaged"):
        list(record.find(batch_of(7)) or ())
