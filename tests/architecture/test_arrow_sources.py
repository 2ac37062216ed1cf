"""Arrow's readers with threads of their own get no object of Python's: they would abort a process that is about to end."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "eddyline"
THREADED = {"read_csv", "open_csv", "read_json", "open_json"}


def calls(tree: ast.AST) -> list[ast.Call]:
    found = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    return [call for call in found if isinstance(call.func, ast.Attribute) and call.func.attr in THREADED]


def is_native(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id == "native"


def test_text_is_read_from_native_memory() -> None:
    sources = [path for path in PACKAGE.rglob("*.py") if "runtime/spark" not in path.as_posix()]
    found = [(path, call) for path in sources for call in calls(ast.parse(path.read_text()))]
    assert found, "the readers are called somewhere"
    assert not [f"{path}:{call.lineno}" for path, call in found if not is_native(call)]
