"""Compiled sets that commands keep beside a registry: used where they fit, made anew where not, never in the way."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import eddyline as ed
from eddyline.registry import Drop, Put, Registry, Set, State
from eddyline.service import compiled_sets
from eddyline.service.compiled_sets import CompiledSets
from eddyline.standing.version import Version

QUOTES = ed.Stream(
    "quotes", pa.schema({"symbol": pa.string(), "price": pa.float64(), "ts": pa.int64()}), "ts", 10
)


JOIN = "SELECT a.price FROM quotes a JOIN quotes b USING (symbol) WHERE b.ts BETWEEN a.ts AND a.ts + 5"


def text(limit: int) -> str:
    return f"SELECT symbol FROM quotes WHERE price < {limit}"


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(compiled_sets, "LEAST_KEPT", 3)
    monkeypatch.setattr(compiled_sets, "FEW_CHANGES", 2)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    return str(tmp_path / "here" / "rules.db")


@pytest.fixture
def registry(where: str) -> Iterator[Registry]:
    with Registry.open(where) as opened:
        edits = [Put(f"q{n}", text(n)) for n in range(5)]
        off = Put("off", text(9), state=State.DISABLED)
        opened.change([*edits, off, Put("join", JOIN), Put("odd", "SELECT nothing")], streams=[QUOTES])
        yield opened


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The versions that were compiled as a whole."""
    made: list[int] = []
    original = CompiledSets._compiled

    def counted(self: CompiledSets, number: int, time_zone: str) -> Version:
        made.append(number)
        return original(self, number, time_zone)

    monkeypatch.setattr(CompiledSets, "_compiled", counted)
    return made


def queries(version: Version) -> dict[str, str]:
    return {query.id: query.sql for _, query in version.table.queries()}


def matches(version: Version, price: float) -> set[str]:
    batch = pa.record_batch({"symbol": ["A"], "price": [price], "ts": [1]})
    return set(version.table.listed(version.match(batch, "quotes").lists()[1]))


def folders(where: str) -> list[str]:
    root = Path(f"{where}.compiled")
    return sorted(each.name.partition("-")[0] for each in root.iterdir()) if root.exists() else []


def test_kept_and_used(registry: Registry, where: str, builds: list[int]) -> None:
    first = CompiledSets(registry, where).newest()
    expected = {f"q{n}": text(n) for n in range(5)} | {"join": JOIN}
    assert queries(first) == expected, "without disabled ones, and what does not fit"
    again = CompiledSets(registry, where).newest()
    assert queries(again) == queries(first) and matches(again, 2.5) == {"q3", "q4"}
    assert builds == [1] and folders(where) == ["1"]


def test_differences_are_applied(registry: Registry, where: str, builds: list[int]) -> None:
    sets = CompiledSets(registry, where)
    sets.newest()
    registry.change([Put("q0", text(50)), Drop("q1"), Put("new", text(60))])
    registry.change([Set("off", state=State.SHADOW), Set("q4", state=State.DISABLED), Set("q3", owner="ann")])
    expected = {"q0": text(50), "q2": text(2), "q3": text(3), "new": text(60), "off": text(9), "join": JOIN}
    assert queries(sets.newest()) == expected and sets.newest().version == 3
    assert matches(sets.newest(), 55.0) == {"new"}
    assert builds == [1] and folders(where) == ["3"], "so many changes make a new one"
    registry.change([Drop("new")])
    assert "new" not in queries(sets.newest()) and folders(where) == ["3"], "few do not"


def test_few_queries_are_not_kept(where: str) -> None:
    with Registry.open(where) as registry:
        registry.change([Put("a", text(1))], streams=[QUOTES])
        assert queries(CompiledSets(registry, where).newest()) == {"a": text(1)}
    assert folders(where) == []


def test_other_declarations(registry: Registry, where: str, builds: list[int]) -> None:
    sets = CompiledSets(registry, where)
    sets.newest()
    news = ed.Stream("news", pa.schema({"urgency": pa.int8()}))
    with_news = sets(ed.Compiler([QUOTES, news]))
    assert with_news.stream("news") == news and matches(with_news, 3.5) == {"q4"} and builds == [1]
    other = replace(QUOTES, schema=QUOTES.schema.set(1, pa.field("price", pa.float32())))
    assert sets(ed.Compiler([other])).stream("quotes") == other and builds == [1]
    registry.change([Drop("join"), Drop("odd")], streams=[other], check=ed.Compiler([other]).check)
    assert sets.newest().stream("quotes") == other and builds == [1, 2]
    sets.newest("Europe/Berlin")
    assert builds == [1, 2, 2] and folders(where) == ["2"]


def test_another_join_window(registry: Registry, where: str, builds: list[int]) -> None:
    sets = CompiledSets(registry, where)
    sets.newest()
    timeless = "SELECT a.price FROM quotes a JOIN quotes b USING (symbol)"
    assert sets(ed.Compiler([QUOTES], join_window=7)).compiler.join_window == 7 and builds == [1]
    compiler = ed.Compiler([QUOTES], join_window=7)
    registry.change([Put("timeless", timeless), Drop("odd")], join_window=7, check=compiler.check)
    assert "timeless" in queries(sets.newest()) and builds == [1, 2]
    assert "timeless" in queries(sets(compiler)) and builds == [1, 2]


@pytest.mark.parametrize("damage", ["manifest", "segments", "emptied"])
def test_damaged(registry: Registry, where: str, builds: list[int], damage: str) -> None:
    sets = CompiledSets(registry, where)
    expected = queries(sets.newest())
    (folder,) = Path(f"{where}.compiled").iterdir()
    if damage == "emptied":
        shutil.rmtree(folder)
        folder.mkdir()
    for file in folder.rglob("*"):
        if file.is_file() and (damage == "manifest") == (file.name == "manifest.json"):
            file.write_bytes(b"x" + file.read_bytes()[1:])
    assert queries(sets.newest()) == expected and builds == [1, 1]
    assert queries(sets.newest()) == expected and builds == [1, 1], "and kept anew"


def test_another_registry_in_its_place(registry: Registry, where: str, builds: list[int]) -> None:
    CompiledSets(registry, where).newest()
    registry.close()
    Path(where).unlink()
    for end in ("-wal", "-shm"):
        Path(where + end).unlink(missing_ok=True)
    with Registry.open(where) as other:
        other.change([Put(f"p{n}", text(n)) for n in range(4)], streams=[QUOTES])
        assert set(queries(CompiledSets(other, where).newest())) == {"p0", "p1", "p2", "p3"}
    assert builds == [1, 1]


def test_older_copy_put_back(registry: Registry, where: str, builds: list[int]) -> None:
    """The same identity, and a version of the same number that is another one."""
    registry.close()
    shutil.copy(where, f"{where}.copy")
    with Registry.open(where) as changed:
        changed.change([Drop("q0"), Drop("q1")])
        assert CompiledSets(changed, where).newest().version == 2
    shutil.copy(f"{where}.copy", where)
    with Registry.open(where) as restored:
        assert set(queries(CompiledSets(restored, where).newest())) == {"join", *(f"q{n}" for n in range(5))}
        restored.change([Put("z", text(7))])
        assert "z" in queries(CompiledSets(restored, where).newest())
    assert builds == [2, 1]


def test_a_place_that_may_not_be_written(
    registry: Registry, where: str, builds: list[int], tmp_path: Path
) -> None:
    """A file in the way stands for all that may keep a folder from being made, also for root."""
    Path(f"{where}.compiled").write_text("not a folder")
    CompiledSets(registry, where).newest()
    CompiledSets(registry, where).newest()
    assert builds == [1]
    assert registry.identity is not None
    assert [f.name for f in (tmp_path / "cache/eddyline/compiled").iterdir()] == [registry.identity]
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("not a folder either")
    assert len(CompiledSets(registry, where).newest().table) == 6 and builds == [1, 1]


def test_what_killed_commands_left_is_removed(registry: Registry, where: str) -> None:
    root = Path(f"{where}.compiled")
    for name, age in ((".new-old", 7_200), (".new-now", 0)):
        (root / name).mkdir(parents=True)
        then = (root / name).stat().st_mtime - age
        os.utime(root / name, (then, then))
    CompiledSets(registry, where).newest()
    assert folders(where) == [".new", "1"] and (root / ".new-now").exists()


def test_interrupted_while_it_is_written(
    registry: Registry, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(compiled_sets.files, "save", interrupted)
        with pytest.raises(KeyboardInterrupt):
            CompiledSets(registry, where).newest()
    assert folders(where) == []
    assert len(CompiledSets(registry, where).newest().table) == 6 and folders(where) == ["1"]


def test_several_at_the_same_time(registry: Registry, where: str) -> None:
    """Each has its answer, whoever deletes what; a whole set is left."""
    answers: list[set[str]] = []

    def ask() -> None:
        for _ in range(5):
            answers.append(set(queries(CompiledSets(registry, where).newest())))
            for folder in Path(f"{where}.compiled").glob("1-*"):
                shutil.rmtree(folder, ignore_errors=True)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20 and all(answer == {"join", *(f"q{n}" for n in range(5))} for answer in answers)


def test_kept_for_every_kind_of_registry(place: str, where: str, tmp_path: Path, builds: list[int]) -> None:
    with Registry.open(place) as registry:
        registry.change([Put(f"q{n}", text(n)) for n in range(4)], streams=[QUOTES])
        for _ in range(2):
            assert len(CompiledSets(registry, place).newest().table) == 4
    assert builds == [1]
