"""What local storage is made of: files and folders that are there once a call returns, also if the power fails right after."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Final

# Files flushed one by one; with more of them all that the machine has to write is flushed at once.
FEW: Final = 200


def write_new(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file that nobody knows of yet, with its folder if there is none; whoever names it flushes the folder first."""
    with _opened(path) as file:
        file.writelines([content] if isinstance(content, bytes) else content)
        file.flush()
        os.fsync(file.fileno())


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("wb")
    except FileNotFoundError:  # rarely: so it is not looked for at every file
        make_folder(path.parent)
        return path.open("wb")


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


def move_folder(source: Path, target: Path) -> None:
    """Put a folder that others have filled in its place: at every moment all of it is there, or nothing."""
    _flush_all(source)  # before it has its name, by which it is taken for whole
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)
    flush(target.parent)
    flush(target.parent.parent)  # its folder may be new, too, or made by a process that was killed since


def _flush_all(folder: Path) -> None:
    found = [(Path(within), files) for within, _, files in os.walk(folder)]
    if sum(len(files) for _, files in found) > FEW:
        os.sync()
        return
    for within, files in found:
        for file in files:
            flush(within / file)
        flush(within)
