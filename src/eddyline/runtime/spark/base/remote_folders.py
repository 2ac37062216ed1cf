"""Folders that driver and workers both reach: plain paths, file: URLs, and whatever fsspec opens."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from eddyline.errors import EddylineError, SetupError

_GLOB: Final = frozenset("{}[]*?\\")
_LAST: Final = "manifest.json"  # a set is complete when this file is there
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_NEEDED: Final = {  # by the scheme of an address, what fsspec opens it with
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "dbfs": "requests",
    "hdfs": "Hadoop's client and Java's libjvm (set HADOOP_HOME, JAVA_HOME and CLASSPATH)",
    "viewfs": "Hadoop's client and Java's libjvm (set HADOOP_HOME, JAVA_HOME and CLASSPATH)",
}


def is_address(text: str) -> bool:
    """Whether it names its file system, as `file:` and `s3a:` do; any other text is a path."""
    return _SCHEME.match(text) is not None


def local_path(folder: str) -> Path | None:
    """The path that a folder is, or None where it lies on a file system of its own.

    >>> local_path("/shared/sets"), local_path("file:///shared/my%20sets"), local_path("s3://bucket/sets")
    (PosixPath('/shared/sets'), PosixPath('/shared/my sets'), None)

    An address with one slash is no path either: `dbfs:/sets` must not become a folder of that name.
    """
    if folder.startswith("file:"):
        return Path(unquote(urlsplit(folder).path))
    return None if is_address(folder) else Path(folder).expanduser()


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
    place = f"{folder.rstrip('/')}/{key}"
    files, root = _open(place)
    with _reaching(folder, "written"):
        if not files.exists(f"{root}/{_LAST}"):
            paths = sorted(path for path in draft.rglob("*") if path.is_file())
            for path in sorted(paths, key=lambda path: path == draft / _LAST):
                target = f"{root}/{path.relative_to(draft).as_posix()}"
                files.makedirs(target.rpartition("/")[0], exist_ok=True)
                files.put_file(str(path), target)
    return place


def fetch(folder: str, target: Path) -> None:
    """Copy a published set to this machine."""
    files, root = _open(folder)
    with _reaching(folder, "read"):
        for name in files.find(root):
            path = target / name.removeprefix(root).lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            files.get_file(name, str(path))


@contextmanager
def _reaching(folder: str, done: str) -> Iterator[None]:
    """What a store answers is its driver's own kind of error: no credentials, no bucket, no way to the host."""
    try:
        yield
    except Exception as error:
        raise SetupError(
            f"the folder {folder} cannot be {done}: {type(error).__name__}: {error}",
            hint="are its name and the credentials right, on the driver and on the workers?",
        ) from error


def _open(folder: str) -> tuple[Any, str]:
    where = ", on the driver and on the workers"
    return open_address(folder, f"the folder {folder}", SetupError, where=where)


def open_address(
    address: str, what: str, refusal: type[EddylineError], *, where: str = ""
) -> tuple[Any, str]:
    """The file system of an address and the path in it, by fsspec; a refusal that says what is not installed."""
    if "://" not in address:
        raise refusal(
            f"{what} is neither a path nor an address with ://",
            hint="where it is mounted, name the path: /dbfs/... or /Volumes/... on Databricks",
        )
    scheme = address.partition("://")[0].lower()
    package = _NEEDED.get(scheme, "the package that it needs for this address (s3fs, gcsfs, adlfs, ...)")
    hint = f"install fsspec and {package}{where}"
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise refusal(f"{what} needs fsspec, which is not installed", hint=hint) from error
    try:
        files, root = url_to_fs(address)
    except Exception as error:  # no package for such addresses, none that is known, no library that it wants
        words = str(error).partition("\n")[0]
        raise refusal(f"{what} cannot be opened: {words}", hint=hint) from error
    return files, str(root)
