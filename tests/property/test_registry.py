"""Random changes of a registry against a plain list of versions that forgets nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.errors import RefusedError
from eddyline.registry import KEEP, Drop, Edit, Put, Registry, Set, State

IDS = st.sampled_from("abcd")
TEXTS = st.sampled_from(["SELECT 1", "SELECT 2", "SELECT 3"])
BESIDE: dict[str, st.SearchStrategy[Any]] = {
    "state": st.just(KEEP) | st.sampled_from(State),
    "tags": st.just(KEEP) | st.lists(st.sampled_from("xyz"), max_size=2),
    "owner": st.just(KEEP) | st.none() | st.just("ann"),
}
EDITS = st.one_of(st.builds(Put, IDS, TEXTS, **BESIDE), st.builds(Set, IDS, **BESIDE), st.builds(Drop, IDS))
STEPS = st.lists(st.lists(EDITS, max_size=4) | st.integers(0, 5), max_size=8)
Model = dict[str, dict[str, Any]]  # id: what is kept, without revision and number


def applied(model: Model, edits: list[Edit]) -> Model | None:
    """What edits make of a version; None where one is refused."""
    after = {id: dict(kept) for id, kept in model.items()}
    for edit in edits:
        if isinstance(edit, Put):
            kept = after.setdefault(edit.id, {"state": State.ENABLED, "tags": (), "owner": None})
            kept["sql"] = edit.sql
        elif edit.id not in after:
            return None
        elif isinstance(edit, Drop):
            del after[edit.id]
            continue
        else:
            kept = after[edit.id]
        kept.update({name: value for name in BESIDE if (value := getattr(edit, name)) is not KEEP})
    return after


def shown(registry: Registry, version: int) -> Model:
    return {
        entry.id: {"state": entry.state, "tags": entry.tags, "owner": entry.owner, "sql": entry.sql}
        for entry in registry.entries(version)
    }


@settings(max_examples=60)
@given(steps=STEPS)
def test_every_version_stays_as_it_was(steps: list[list[Edit] | int]) -> None:
    with tempfile.TemporaryDirectory() as folder, Registry.open(Path(folder) / "registry.db") as registry:
        versions: list[Model] = [{}]
        texts: dict[int, tuple[str, str]] = {}  # number: id and text, for ever
        for step in steps:
            if isinstance(step, int):
                target = versions[min(step, len(versions) - 1)]
                version = registry.rollback(min(step, len(versions) - 1)).version
            else:
                wanted = applied(versions[-1], step)
                if wanted is None:
                    try:
                        registry.change(step)
                    except RefusedError:
                        assert registry.version == len(versions) - 1
                        continue
                    raise AssertionError("an id that is not registered was edited")
                target, version = wanted, registry.change(step).version
            if version == len(versions):
                versions.append(target)
            assert registry.version == version == len(versions) - 1
            for entry in registry.entries():
                assert texts.setdefault(entry.number, (entry.id, entry.sql)) == (entry.id, entry.sql)
        assert [shown(registry, version) for version in range(len(versions))] == versions
        for id in "abcd":
            revisions = [step.entry.revision for step in registry.history(id) if step.entry is not None]
            assert revisions == sorted(revisions)
        old = len(versions) // 2
        found = registry.diff(old, len(versions) - 1)
        assert {e.id for e in found.added} == versions[-1].keys() - versions[old].keys()
        assert {e.id for e in found.removed} == versions[old].keys() - versions[-1].keys()
        differ = {
            id for id in versions[old].keys() & versions[-1].keys() if versions[old][id] != versions[-1][id]
        }
        assert differ <= {new.id for _, new in found.changed}
