"""Files that are there, whole, once a call returns, also if the machine loses its power right after."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_new(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file that nobody knows of yet; whoever names it flushes its folder first."""
    with path.open("wb") as file:
        file.writelines([content] if isinstance(content, bytes) else content)
        file.flush()
        os.fsync(file.fileno())


def write_whole(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file, or write over it, so that there is at every moment the old one or the new one."""
    draft = path.with_name(path.name + ".draft")
    try:
        write_new(draft, content)
    except BaseException:
        draft.unlink(missing_ok=True)  # on a full disk every byte counts
        raise
    draft.replace(path)
    flush(path.parent)


def flush(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        flush(folder.parent)
