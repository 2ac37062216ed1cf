"""Compiles kernels in a process of its own while Java starts, on a machine where nobody has compiled them yet."""

from __future__ import annotations

import subprocess
import sys
import threading

from eddyline.queryset.warming import is_warm


def compile_meanwhile() -> None:
    """Start compiling, unless it has been done: Python workers, which come seconds later, find the code on the disk.

    They wait for this process where it is not done yet (`queryset.warming`). If it fails, they compile for themselves.
    """
    if is_warm():
        return
    command = [sys.executable, "-m", "eddyline.queryset.warming"]
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
    except OSError:
        return
    threading.Thread(target=process.wait, name="eddyline-compiling", daemon=True).start()  # leaves no zombie
