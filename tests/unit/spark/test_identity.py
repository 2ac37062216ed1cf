"""What identifies a tuple: rows counted over the batches of a task, blocks one after the other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eddyline.runtime.spark.pipeline.identity import Identity, Keys


def keys(identity: Identity, *batches: dict[str, list[object]]) -> list[list[str]]:
    task = Keys(identity, "quotes", 7, 2)
    found = []
    for batch in batches:
        rows = pa.RecordBatch.from_pydict(batch)
        found.append(task.see(rows).keys(np.arange(rows.num_rows)).to_pylist())
    return found


def test_declared_key() -> None:
    batch: dict[str, list[object]] = {"id": [1, None], "name": ["a", 'b"c']}
    expected = [['{"id":1,"name":"a"}', '{"id":null,"name":"b\\"c"}']]
    assert keys(Identity("key", ("id", "name")), batch) == expected


def test_kafka() -> None:
    batch: dict[str, list[object]] = {"t": ["quotes", "quotes"], "p": [0, 3], "o": [17, 4]}
    assert keys(Identity("kafka", ("t", "p", "o")), batch) == [["quotes/0/17", "quotes/3/4"]]


def test_file_and_row() -> None:
    batch: dict[str, list[object]] = {"f": ["file:/a", "file:/a"], "r": [5, 9]}
    assert keys(Identity("row index", ("f", "r")), batch) == [["file:/a#5", "file:/a#9"]]


def test_blocks_are_counted_across_batches() -> None:
    identity = Identity("block", ("f", "b"))
    found = keys(
        identity,
        {"f": ["a", "a"], "b": [0, 0]},
        {"f": ["a", "a", "a", "b"], "b": [0, 64, 64, 0]},
        {"f": ["b", "b"], "b": [0, 0]},
        {"f": ["c"], "b": [0]},
        {"f": ["c", "c", "d", "e", "e"], "b": [0, 0, 0, 0, 0]},
    )
    assert found == [
        ["a#0:0", "a#0:1"],
        ["a#0:2", "a#64:0", "a#64:1", "b#0:0"],
        ["b#0:1", "b#0:2"],
        ["c#0:0"],
        ["c#0:1", "c#0:2", "d#0:0", "e#0:0", "e#0:1"],
    ]


def test_places_in_a_batch() -> None:
    identity = Identity("position")
    assert keys(identity, {"x": [1, 2]}, {"x": [3]}) == [["quotes/7/2/0", "quotes/7/2/1"], ["quotes/7/2/2"]]
