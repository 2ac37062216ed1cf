"""What identifies a tuple: rows counted over the batches of a task, and over the blocks of a file."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.spark.pipeline.input.identity import Identity, Keys, first_rows


def keys(identity: Identity, *batches: dict[str, list[object]]) -> list[list[str]]:
    task = Keys(identity, "quotes", 7)
    found = []
    for batch in batches:
        rows = pa.RecordBatch.from_pydict(batch)
        found.append(task.see(rows).identifying(np.arange(rows.num_rows))["tuple_key"].to_pylist())
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


def test_rows_of_whole_files_are_counted_across_batches() -> None:
    identity = Identity("counted row", ("f", "b"))
    found = keys(
        identity,
        {"f": ["a", "a"], "b": [-1, -1]},
        {"f": ["a", "b"], "b": [-1, -1]},
        {"f": ["b", "b"], "b": [-1, -1]},
        {"f": ["c"], "b": [-1]},
        {"f": ["c", "c", "d", "e", "e"], "b": [-1, -1, -1, -1, -1]},
    )
    assert found == [
        ["a#0", "a#1"],
        ["a#2", "b#0"],
        ["b#1", "b#2"],
        ["c#0"],
        ["c#1", "c#2", "d#0", "e#0", "e#1"],
    ]


@dataclass(frozen=True)
class Block:
    """What a task reads of a file in one go."""

    path: str
    start: int
    rows: int


def tasks(choice: random.Random, files: dict[str, int]) -> list[list[Block]]:
    """Files of so many rows, ten bytes each, cut somewhere and given to tasks somehow."""
    blocks = []
    for path, rows in files.items():
        borders = sorted({0, *choice.choices(range(rows), k=choice.randrange(4))})
        starts = [10 * border for border in borders] if len(borders) > 1 else [-1]
        ends = [*borders[1:], rows]
        blocks += [
            Block(path, start, end - border) for start, border, end in zip(starts, borders, ends, strict=True)
        ]
    choice.shuffle(blocks)
    count = choice.randrange(1, 5)
    return [blocks[task::count] for task in range(count)]


def numbered(choice: random.Random, tasks: list[list[Block]]) -> Counter[str]:
    """The keys of all rows as tasks and driver make them, rows going through the tasks in batches of any size."""
    counts: Counter[str] = Counter()
    parts = []
    for blocks in tasks:
        counting = Keys(Identity("counted row", ("f", "b")), "quotes", 7)
        rows = [(block.path, block.start) for block in blocks for _ in range(block.rows)]
        while rows:
            size = choice.randrange(1, 9)
            batch = pa.RecordBatch.from_arrays(
                [pa.array(one) for one in zip(*rows[:size], strict=True)], ["f", "b"]
            )
            parts.append(counting.see(batch).identifying(np.arange(batch.num_rows)))
            rows = rows[size:]
        counts += counting.blocks
    firsts = {(path, start): first for path, start, first in first_rows(counts)}
    found: Counter[str] = Counter()
    for part in parts:
        nothing = pa.nulls(len(part["tuple_key"]))
        columns = [part.get(name, nothing).to_pylist() for name in ("tuple_key", "block_start", "block_row")]
        for key, start, row in zip(*columns, strict=True):
            found[key if start is None else f"{key}#{firsts[key, start] + row}"] += 1
    return found


@given(st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_rows_have_the_same_numbers_wherever_files_are_cut(choice: random.Random) -> None:
    files = {name: choice.randrange(1, 30) for name in ("a", "a#10", "b:0", "c")[: choice.randrange(1, 5)]}
    expected = Counter(f"{path}#{row}" for path, rows in files.items() for row in range(rows))
    assert numbered(choice, tasks(choice, files)) == expected


def test_content() -> None:
    identity = Identity("content", ("x", "y"))
    (first,) = keys(identity, {"x": [1, 2, 1], "y": ["a", None, "a"], "z": [1, 2, 3]})
    assert first[0] == first[2] != first[1] and all(key.startswith("quotes/7/") for key in first)
    assert keys(identity, {"x": [2], "y": [None]}, {"x": [1], "y": ["a"]}) == [[first[1]], [first[0]]]
    assert len(keys(Identity("content"), {"x": [1, 2]})[0]) == 2
