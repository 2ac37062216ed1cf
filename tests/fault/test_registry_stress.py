"""Two processes change one registry while a third reads it: no update is lost, and no version is seen torn."""

from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent

import pytest

from eddyline.registry import Put, Registry

CHANGES = 40
SIZE = 20  # queries that every change rewrites together

# A writer adds one to the count in its own query, and gives all shared queries its name and count, all in one change.
WRITER = dedent(
    """
    import sys
    from eddyline.errors import ConflictError
    from eddyline.registry import Put, Registry, Set
    place, name, changes, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    registry = Registry.open(place)
    done = conflicts = 0
    while done < changes:
        base = registry.version
        count = registry.entry("total", base).metadata["count"]
        stamp = {"by": name, "count": count + 1}
        edits = [Set("total", metadata=stamp)]
        edits += [Put(f"q{n}", f"SELECT * FROM t WHERE a = {count + 1}", metadata=stamp) for n in range(size)]
        try:
            registry.change(edits, author=name, base=base)
            done += 1
        except ConflictError:
            conflicts += 1
        registry.add_counters({"total": {"changes": 1 if done else 0}, name: {"loops": 1}})
    print(conflicts)
    """
)
READER = dedent(
    """
    import json, sys
    from eddyline.registry import Registry
    place, last = sys.argv[1], int(sys.argv[2])
    registry = Registry.open(place)
    seen = torn = 0
    newest = 0
    while newest < last:
        entries = registry.entries()
        stamps = {json.dumps(dict(entry.metadata)) for entry in entries}
        texts = {entry.sql for entry in entries if entry.id != "total"}
        version = registry.version
        torn += len(stamps) != 1 or len(texts) != 1 or version < newest
        newest, seen = version, seen + 1
    print(json.dumps({"seen": seen, "torn": torn}))
    """
)


def run(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.long
def test_two_writers_and_a_reader(place: str) -> None:
    stamp = {"by": "nobody", "count": 0}
    with Registry.open(place) as registry:
        shared = [Put(f"q{n}", "SELECT * FROM t", metadata=stamp) for n in range(SIZE)]
        registry.change([Put("total", "SELECT * FROM t", metadata=stamp), *shared])
    writers = [run(WRITER, place, name, str(CHANGES), str(SIZE)) for name in ("ann", "bob")]
    reader = run(READER, place, str(1 + 2 * CHANGES))
    for process in (*writers, reader):
        printed, errors = process.communicate(timeout=120)
        assert errors == "" and process.returncode == 0
        if process is reader:
            found = json.loads(printed)
            assert found["torn"] == 0 and found["seen"] > 0
    with Registry.open(place) as registry:
        total = registry.entry("total")
        assert total is not None and total.metadata["count"] == 2 * CHANGES
        versions = registry.versions()
        assert [version.number for version in versions] == list(range(1, 2 + 2 * CHANGES))
        assert sorted(version.author for version in versions[1:]) == ["ann"] * CHANGES + ["bob"] * CHANGES
        last = registry.entries()
        assert {entry.revision for entry in last if entry.id != "total"} == {1 + 2 * CHANGES}
        assert (
            max(entry.number for entry in last) == (1 + 2 * CHANGES) * SIZE
        )  # none was given twice, none left out
        counted = registry.counters()
        assert counted["ann"]["loops"] >= CHANGES and counted["bob"]["loops"] >= CHANGES


@pytest.mark.long
def test_many_processes_make_one_registry(place: str) -> None:
    script = dedent(
        """
        import sys
        from eddyline.registry import Put, Registry
        registry = Registry.open(sys.argv[1])
        print(registry.change([Put(sys.argv[2], "SELECT * FROM t")]).version)
        """
    )
    processes = [run(script, place, f"q{n}") for n in range(4)]
    found = []
    for process in processes:
        printed, errors = process.communicate(timeout=120)
        assert errors == ""
        found.append(int(printed))
    assert sorted(found) == [1, 2, 3, 4]
    with Registry.open(place) as registry:
        assert sorted(entry.id for entry in registry.entries()) == ["q0", "q1", "q2", "q3"]
        assert sorted(entry.number for entry in registry.entries()) == [0, 1, 2, 3]
