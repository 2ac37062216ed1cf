"""Folders that driver and workers both reach: plain paths, file: URLs, and whatever fsspec opens."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from eddyline.errors import EddylineError, SetupError

_GLOB: Final = frozenset("{}[]*?\\")
_LAST: Final = "manifest.json"  # a set is complete when this file is there
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def local_path(folder: str) -> Path | None:
    """The path that a folder is, or None where it lies on a file system of its own.

    >>> local_path("/shared/sets"), local_path("file:///shared/my%20sets"), local_path("s3://bucket/sets")
    (PosixPath('/shared/sets'), PosixPath('/shared/my sets'), None)
    >>> local_path("dbfs:/sets") is None
    True
    """
    if folder.startswith("file:"):
        return Path(unquote(urlsplit(folder).path))
    return None if _ADDRESS.match(folder) else Path(folder).expanduser()


def escaped(path: str) -> str:
    """A path in which Spark takes nothing for a pattern."""
    return "".join(f"\\{c}" if c in _GLOB else c for c in path)


def publish(draft: Path, folder: str, key: str) -> str:
    """Put a saved set into `folder` under its key, if it is not there yet; gives the place."""
    here = local_path(folder)
    if here is None:
        return _publish_remotely(draft, folder, key)
    place = here.absolute() / key
    if not (place / _LAST).exists():
        copy = place.with_name(f".{key}.{uuid4().hex}")
        shutil.copytree(draft, copy)
        try:
            copy.rename(place)
        except OSError:  # another driver was first
            shutil.rmtree(copy, ignore_errors=True)
            if not (place / _LAST).exists():
                raise
    return str(place)


def _publish_remotely(draft: Path, folder: str, key: str) -> str:
    files, root = _open(f"{folder.rstrip('/')}/{key}")
    if not files.exists(f"{root}/{_LAST}"):
        paths = sorted(path for path in draft.rglob("*") if path.is_file())
        for path in sorted(paths, key=lambda path: path == draft / _LAST):
            target = f"{root}/{path.relative_to(draft).as_posix()}"
            files.makedirs(target.rpartition("/")[0], exist_ok=True)
            files.put_file(str(path), target)
    return f"{folder.rstrip('/')}/{key}"


def fetch(folder: str, target: Path) -> None:
    """Copy a published set to this machine."""
    files, root = _open(folder)
    for name in files.find(root):
        path = target / name.removeprefix(root).lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        files.get_file(name, str(path))


def _open(folder: str) -> tuple[Any, str]:
    where = ", on the driver and on the workers"
    return open_address(folder, f"the folder {folder}", SetupError, where=where)


def open_address(
    address: str, what: str, refusal: type[EddylineError], *, where: str = ""
) -> tuple[Any, str]:
    """The file system of an address and the path in it, by fsspec; a refusal that says what is not installed."""
    hint = f"install fsspec and the package that it needs for this address (s3fs, gcsfs, adlfs, ...){where}"
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise refusal(f"{what} needs fsspec, which is not installed", hint=hint) from error
    try:
        files, root = url_to_fs(address)
    except (ImportError, ValueError) as error:  # no package for such addresses, or none that is known
        raise refusal(f"{what} cannot be opened: {error}", hint=hint) from error
    return files, str(root)
