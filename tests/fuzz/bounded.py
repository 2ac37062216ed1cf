"""A function in a process of its own, which is ended where a call takes too long or kills it: a hang is an answer, too."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

# The process that judges starts as a copy of this one, which has imported everything and runs no threads.
_CONTEXT = multiprocessing.get_context("fork")


class Bounded:
    """Calls a function with a time limit; `warm_up` is called first in each new process, without one that counts."""

    def __init__(
        self, function: Callable[..., Any], warm_up: Callable[[], object], *, seconds: float
    ) -> None:
        self._function, self._warm_up, self._seconds = function, warm_up, seconds
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def call(self, *arguments: Any) -> Any:
        """What the function gives, or raises; a TimeoutError where it takes too long, an EOFError where it ends the process."""
        connection = self._started()
        connection.send(arguments)
        if not connection.poll(self._seconds):
            self.close()
            raise TimeoutError(f"not done in {self._seconds} seconds")
        try:
            result = connection.recv()
        except EOFError:
            self.close()
            raise
        if isinstance(result, BaseException):
            raise result
        return result

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _started(self) -> Connection:
        if self._process is None:
            self._connection, theirs = _CONTEXT.Pipe()
            self._process = _CONTEXT.Process(
                target=_serve, args=(theirs, self._function, self._warm_up), daemon=True
            )
            self._process.start()
            theirs.close()
            self._connection.recv()  # warm
        assert self._connection is not None, "a process has a connection"
        return self._connection


def _serve(connection: Connection, function: Callable[..., Any], warm_up: Callable[[], object]) -> None:
    warm_up()
    connection.send(None)
    while True:
        try:
            arguments = connection.recv()
        except EOFError:  # whoever asked is gone
            return
        try:
            connection.send(function(*arguments))
        except Exception as error:
            connection.send(RuntimeError(f"{type(error).__name__}: {error}"))
