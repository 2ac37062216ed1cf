"""The rates that `python -m bench spark --workload capacity` has measured, put into the package as a module.

Docs have them from there: `python -m tools.docs`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

NAME: Final = "capacity.json"
MODULE: Final = Path(__file__).parents[1] / "src" / "eddyline" / "capacity" / "measured.py"
HEAD: Final = '''"""What was measured, and how predictions fared: made by `python -m bench report`, not by hand.

`python -m bench spark --workload capacity` measures it: pipelines from Parquet to Parquet over queries and rows of
bench/workloads/standing.py, standing sets without Spark. bench/spark/capacity/ says how each figure is found.
"""

from __future__ import annotations

from typing import Final

from eddyline.capacity.checks import Check
from eddyline.capacity.rates import Grid, Line, Rates

'''


def write(results: Path, module: Path = MODULE) -> None:
    """Rewrite the module; where nothing was measured it stays as it is."""
    if not results.exists():
        return
    found = json.loads(results.read_text(encoding="utf-8"))
    module.write_text(_formatted(text(found["rates"], found["checks"])), encoding="utf-8")


def text(rates: dict[str, Any], checks: list[dict[str, Any]]) -> str:
    """The module, not formatted yet; three digits are as many as were measured."""
    fields = [f"    {name}={_value(name, value)},\n" for name, value in rates.items()]
    lines = [f"    Check({', '.join(map(_literal, check.values()))}),\n" for check in checks]
    return (
        f"{HEAD}RATES: Final = Rates(\n{''.join(fields)})\n\n"
        f"CHECKS: Final[tuple[Check, ...]] = (\n{''.join(lines)})\n"
    )


def _value(name: str, value: Any) -> str:
    if name == "matching":
        kinds = [f'"{kind}": {_grid(lines)}' for kind, lines in value.items()]
        return f"{{{', '.join(kinds)},}}"
    if name == "reading":
        return f"Line({_numbers(value['columns'])}, {_numbers(value['seconds'])})"
    return _literal(value)


def _grid(lines: dict[str, Any]) -> str:
    each = [f"Line({_numbers(line['queries'])}, {_numbers(line['seconds'])})," for line in lines.values()]
    return f"Grid({_numbers([int(columns) for columns in lines])}, ({' '.join(each)}))"


def _numbers(values: list[float]) -> str:
    return f"({', '.join(map(_literal, values))},)"


def _literal(value: Any) -> str:
    if isinstance(value, float):
        return repr(float(f"{value:.3g}"))
    return json.dumps(value)


def _formatted(module: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", "measured.py", "-"],
        input=module,
        capture_output=True,
        text=True,
        check=True,
        cwd=MODULE.parent,
    )
    return done.stdout
