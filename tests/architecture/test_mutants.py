"""The mutants of `tests/mutants` can be made of the source as it is; whether tests notice them is for `make mutants`."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.__main__ import ROOT, mutated, place_of
from tests.mutants.table import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_it_can_be_made(mutant: Mutant) -> None:
    path = place_of(mutant, ROOT / "src")
    assert ast.dump(ast.parse(mutated(mutant, path))) != ast.dump(ast.parse(path.read_text()))
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.killed_by)


def test_each_has_its_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 23


def test_a_lost_text_is_noticed() -> None:
    with pytest.raises(LookupError, match="stands 0 times"):
        place_of(Mutant("none", "", "no such text, " * 3, "", ()), ROOT / "src")
