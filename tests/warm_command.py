"""The command `eddyline` without its start: a process that has imported everything forks for every call.

The forked process runs the command's `main` with the caller's arguments, folder, environment and standard streams, and
ends as the command does. Two calls share nothing but what importing leaves behind, and most of a call's time is saved.

    programs/eddyline  --arguments, open streams-->  python warm_command.py  --fork-->  main()
                       <--exit code--------------
"""

from __future__ import annotations

import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# a process with threads must not fork, so no library may start one
WITHOUT_THREADS = {
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
CLIENT = """#!{python} -IS
import json, os, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
request = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(connection, [len(request).to_bytes(4, "big")], [0, 1, 2])
connection.sendall(request)
sys.exit(connection.recv(1)[0])
"""


@contextmanager
def warm_programs(folder: Path) -> Iterator[Path]:
    """A folder for the front of PATH, with an `eddyline` that is there at once."""
    address = str(folder / "warm")
    program = folder / "programs" / "eddyline"
    program.parent.mkdir()
    program.write_text(CLIENT.format(python=sys.executable, address=address))
    program.chmod(0o755)
    command = [sys.executable, "-P", __file__, address]  # not by -m: usage texts would name the module
    environment = {**os.environ, **WITHOUT_THREADS}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and server.stdout.readline() == "ready\n"
        try:
            yield program.parent
        finally:
            server.kill()


def _load_kernels() -> None:
    """Load what most commands compute with: each process would take half a second for it."""
    import pyarrow as pa

    from eddyline import QuerySet, Stream

    stream = Stream("q", pa.schema({"a": pa.int64(), "x": pa.float64(), "s": pa.string()}))
    conditions = ("a > 3", "a > 5 AND x < 2", "s = 'A' AND x < 2", "s LIKE '%b%' OR a = 1")
    texts = {str(n): f"SELECT * FROM q WHERE {condition}" for n, condition in enumerate(conditions)}
    queries = QuerySet.build(texts, streams=[stream])
    queries.match(pa.record_batch({"a": [7], "x": [1.5], "s": ["A"]}, schema=stream.schema))
    queries.redundancies()
    queries.relations("1")


def serve(address: str) -> None:
    """Fork for every call that comes; returns in the processes that have run one."""
    from eddyline.cli import main

    _load_kernels()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who answer
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            head, streams, _, _ = socket.recv_fds(connection, 4, 3)
            request = connection.makefile("rb").read(int.from_bytes(head, "big"))
            running = os.fork()
            if running == 0:
                connection.close()
                _become(streams, *json.loads(request))
                return main()
            _, status = os.waitpid(running, 0)
            connection.sendall(bytes([os.waitstatus_to_exitcode(status) % 256]))
            os._exit(0)
        connection.close()


def _become(streams: list[int], arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Be the process that the caller has started."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    random.seed()
    sys.argv = arguments
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True)


if __name__ == "__main__":
    serve(sys.argv[1])
