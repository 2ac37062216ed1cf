"""The public API is one list: sorted, complete, and every name in it exists."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(params=["eddyline", "eddyline.spark"])
def module(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(request.param)


def imported_names(module: ModuleType) -> set[str]:
    """Public names that the module's import statements bind, apart from the features of `__future__`."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text())
    return {
        alias.asname or alias.name.partition(".")[0]
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Import | ast.ImportFrom)
        and getattr(statement, "module", None) != "__future__"
        for alias in statement.names
        if not (alias.asname or alias.name).startswith("_")
    }


def test_sorted(module: ModuleType) -> None:
    assert list(module.__all__) == sorted(set(module.__all__))


def test_complete(module: ModuleType) -> None:
    assert imported_names(module) <= set(module.__all__)


def test_every_name_exists(module: ModuleType) -> None:
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
