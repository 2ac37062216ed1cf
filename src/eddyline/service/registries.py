"""Registries by their names: where they are, and whether one is there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eddyline.errors import RegistryError

if TYPE_CHECKING:
    from eddyline.registry import Registry

VARIABLE: Final = "EDDYLINE_REGISTRY"
DEFAULT: Final = "eddyline.db"


def usual_registry() -> str:
    """The registry where none is named: the one of the environment, else the one of this folder."""
    return os.environ.get(VARIABLE) or DEFAULT


def open_registry(where: str, *, must_exist: bool = True) -> Registry:
    """Open a registry; one that is not there yet is made only where `must_exist` is False."""
    from eddyline.registry import Registry

    if must_exist and not is_there(where):
        raise RegistryError(
            f'there is no registry "{where}"',
            hint=f"query add and query import make one; --registry or {VARIABLE} names another",
        )
    return Registry.open(where)


def is_there(where: str) -> bool:
    """Whether there is a file of that name; a database server is asked when it is opened."""
    return not is_file(where) or file_of(where).exists()


def is_file(where: str) -> bool:
    """Whether a registry is a file, not a server that may be slow to answer.

    >>> is_file("eddyline.db"), is_file("postgresql://ann@db/eddyline")
    (True, False)
    """
    return "://" not in where or where.startswith("sqlite:")


def file_of(where: str) -> Path:
    """The file of a registry that is one."""
    return Path(where.removeprefix("sqlite:///").partition("?")[0])
