"""Processes that tests start: where they find the package; looked up and killed by what Linux says of them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parent.parent
# the package of this tree, whatever is installed; functions of test modules travel to Spark's workers by name
PYTHONPATH = os.pathsep.join([str(ROOT / "src"), str(ROOT)])


def descendants(pid: int) -> list[int]:
    """All processes below a process."""
    parents = {int(path.name): _parent(int(path.name)) for path in Path("/proc").glob("[0-9]*")}
    found, pending = [], [pid]
    while pending:
        above = pending.pop()
        below = [one for one, parent in parents.items() if parent == above]
        found += below
        pending += below
    return found


def python_workers(pid: int) -> list[int]:
    """The Python workers of Spark below a process: what its daemons have forked."""
    family = descendants(pid)
    daemons = {one for one in family if "daemon" in command_of(one)}
    return [one for one in family if _parent(one) in daemons]


def command_of(pid: int) -> str:
    """The words that a process was started with; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def kill(pid: int) -> None:
    """Kill a process, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kill_family(pid: int) -> None:
    """Kill all processes below a process, and then itself."""
    for one in (*descendants(pid), pid):
        kill(one)


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1
