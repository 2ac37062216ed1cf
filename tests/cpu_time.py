"""A pytest plugin that prints the processor time of every file, that of processes the tests start included.

    make test ARGS="-p tests.cpu_time"

Wall-clock times of tests mean little on a machine that does other things too. Linux only: it reads /proc.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

PROPERTY = "cpu seconds"
TICKS = os.sysconf("SC_CLK_TCK")
_seconds: Counter[str] = Counter()
_tests: Counter[str] = Counter()


def tree_seconds(pid: int) -> float:
    """The processor time of a process and of all that it started, living and waited for."""
    folder = Path("/proc") / str(pid)
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        children = [int(child) for task in (folder / "task").iterdir() for child in _children(task)]
    except OSError:  # it has ended meanwhile; its parent has its time
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS + sum(map(tree_seconds, children))


def _children(task: Path) -> list[str]:
    try:
        return (task / "children").read_text().split()
    except OSError:
        return []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note how much a test has used, the fixtures that it was the first to ask for included."""
    item.stash[_BEFORE] = tree_seconds(os.getpid())
    return (yield)


_BEFORE = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[pytest.TestReport]:
    report = yield
    if report.when == "teardown":
        report.user_properties.append((PROPERTY, tree_seconds(os.getpid()) - item.stash[_BEFORE]))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up by file; with xdist this is called in the process that prints."""
    for name, value in report.user_properties:
        if name == PROPERTY and report.when == "teardown":
            file = report.nodeid.partition("::")[0]
            _seconds[file] += value
            _tests[file] += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("processor time")
    for file, seconds in _seconds.most_common():
        terminalreporter.write_line(f"{seconds:8.1f} s  {_tests[file]:5}  {file}")
    terminalreporter.write_line(f"{_seconds.total():8.1f} s  {_tests.total():5}  all files")
