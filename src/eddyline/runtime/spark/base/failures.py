"""What an error of Spark's says, in a line or two: Java's stacks, Python's frames and Spark's numbers are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from eddyline.errors import SetupError
from eddyline.runtime.spark.base.secrets import Secret, scrubbed

NO_PACKAGE: Final = "cannot import eddyline"  # as functions that are carried to workers say it
OTHER_PACKAGE: Final = "has another eddyline than the driver"
HINT: Final = (
    "install there the eddyline that the driver has, with its dependencies, "
    "or hand it over with --py-files (spark.submit.pyFiles)"
)

_TRACE: Final = "Traceback (most recent call last):"
_NO_DAEMON: Final = "Error from python worker:"
_QUERY: Final = re.compile(r"\[STREAM_FAILED\] Query \[[^\]]*\] terminated with exception: ")
_CALL: Final = re.compile(r"An error occurred while calling [\w:.]+\.")  # py4j's
_TASK: Final = re.compile(
    r"\S*SparkException: Job aborted due to stage failure: Task .* most recent failure: "
    r"Lost task [^(]*\(TID \d+\) \([^)]*\): "
)
_STATE: Final = re.compile(r"\s*SQLSTATE: \w{5}\b")
_CAUSE: Final = "Caused by: "
_PY4J: Final = "py4j.protocol.Py4JJavaError: "
MOST_LINES: Final = 8  # of one message
_STACKS: Final = ("at ", "... ", "JVM stacktrace", "Driver stacktrace")


def in_words(error: BaseException, longest: int = 600, secrets: Iterable[Secret] = ()) -> str:
    r"""The first lines of a message and what caused it; of an error in a Python worker, what was raised there.

    Secrets are taken out first, as long as they stand in one piece.

    >>> in_words(ValueError("[X] Job aborted\n\tat a.b(C.java:1)\nCaused by: java.io.IOException: no route"))
    '[X] Job aborted Caused by: java.io.IOException: no route'
    """
    said = _said(scrubbed(str(error), secrets))
    text = " ".join(dict.fromkeys(said)) or type(error).__name__
    return text if len(text) <= longest else text[:longest] + "..."


def missing_package(error: BaseException) -> SetupError | None:
    """The error to raise where Spark's workers do not have this package, or not this version of it."""
    text = str(error)
    said = " ".join(_said(text))
    if NO_PACKAGE in said or (_NO_DAEMON in text and "No module named 'eddyline" in said):
        return SetupError(
            f'the workers of Spark have no package "eddyline": {said.partition("hint:")[0].strip()}',
            hint=HINT,
        )
    if OTHER_PACKAGE in said:
        return SetupError(said.partition("hint:")[0].strip(), hint=HINT)
    return None


def _said(text: str) -> Sequence[str]:
    """The lines that matter."""
    text = _QUERY.sub("", text.partition("=== Streaming Query ===")[0])
    if _TRACE in text:
        raised = _below_frames(text.rpartition(_TRACE)[2])
        if not raised.startswith(_PY4J):
            return _message(raised.splitlines())
        text = raised.removeprefix(_PY4J)
    lines = [_STATE.sub("", line.strip()) for line in text.splitlines() if line.strip()]
    if _NO_DAEMON in lines:
        after = lines[lines.index(_NO_DAEMON) + 1 :]
        return after[: after.index("PYTHONPATH was:")] if "PYTHONPATH was:" in after else after[:1]
    first, *causes = _messages([_TASK.sub("", line.removeprefix(": ")) for line in lines])
    first = [line for line in first if not _CALL.fullmatch(line)][:2]
    last = causes[-1] if causes else []
    return [*first, *last] if not last or last[0].removeprefix(_CAUSE) not in first else first


def _messages(lines: Sequence[str]) -> list[list[str]]:
    """What is said first, and each of the causes: lines up to Java's stack, which may be several."""
    causes = [place for place, line in enumerate(lines) if place and line.startswith(_CAUSE)]
    bounds = pairwise([0, *causes, len(lines)])
    return [_message(lines[start:end]) for start, end in bounds]


def _message(lines: Sequence[str]) -> list[str]:
    """The lines in front of a stack, or of an empty one."""
    is_over = [not line.strip() or line.lstrip().startswith(_STACKS) for line in lines]
    end = is_over.index(True) if True in is_over else len(lines)
    return [line.strip() for line in lines[:end]][:MOST_LINES]


def _below_frames(trace: str) -> str:
    """What stands below the frames of a traceback."""
    lines = trace.strip("\n").splitlines()
    first = next((place for place, line in enumerate(lines) if line and not line[0].isspace()), len(lines))
    return "\n".join(lines[first:])
