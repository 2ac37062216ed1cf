"""A function in a process of its own, which is ended where a call takes too long or kills it: a hang is an answer, too."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

IDLE = 30  # times the limit of the processor's time is that of the clock, for what waits for ever
# The process that judges starts as a copy of this one, which has imported everything and runs no threads.
_CONTEXT = multiprocessing.get_context("fork")


class Bounded:
    """Calls a function with a limit of time; `warm_up` is called first in each new process, without one."""

    def __init__(self, function: Callable[..., Any], warm_up: Callable[[], object]) -> None:
        self._function, self._warm_up = function, warm_up
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def call(self, *arguments: Any, seconds: int) -> Any:
        """What the function gives within so many seconds of the processor, on a busy machine as on an idle one.

        TimeoutError: it takes longer. RuntimeError: it raises something. EOFError: it ends the process.
        """
        connection = self._started()
        connection.send((seconds, arguments))
        try:
            if not connection.poll(IDLE * seconds):
                raise TimeoutError(f"still waiting after {IDLE * seconds} seconds")
            result = connection.recv()
        except (TimeoutError, EOFError) as error:
            if self._end() == -signal.SIGXCPU:
                raise TimeoutError(f"not done in {seconds} seconds") from error
            raise
        if isinstance(result, RuntimeError):
            raise result
        return result

    def _end(self) -> int | None:
        assert self._process is not None, "who is asked has been started"
        self._process.join(1)  # it may be about to end by itself
        self._process.kill()
        self._process.join()
        process, self._process = self._process, None
        return process.exitcode

    def _started(self) -> Connection:
        if self._process is None:
            self._connection, theirs = _CONTEXT.Pipe()
            arguments = theirs, self._function, self._warm_up
            self._process = _CONTEXT.Process(target=_serve, args=arguments, daemon=True)
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
            seconds, arguments = connection.recv()
        except EOFError:  # whoever asked is gone
            return
        # the system ends the process, wherever it is: no Python runs inside of a kernel that does not return
        limit = int(time.process_time()) + 1 + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        try:
            connection.send(function(*arguments))
        except Exception as error:
            connection.send(RuntimeError(f"{type(error).__name__}: {error}"))
