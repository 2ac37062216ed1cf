"""What the shell offers when a query's id is being typed: the ids of the registry that the command would use."""

from __future__ import annotations

import os
from typing import Final

import typer

from eddyline.cli.registry_options import DEFAULT, VARIABLE, is_there
from eddyline.errors import EddylineError

MOST: Final = 200  # ids that are offered
PATIENCE: Final = 0.5  # seconds to wait for others that change the registry


def query_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids that begin like what was typed; none where asking would take long or fail: a completion never complains."""
    where = ctx.params.get("registry") or os.environ.get(VARIABLE) or DEFAULT
    if not is_file(where):
        return []
    from eddyline.registry import Registry

    try:
        with Registry.open(where, timeout=PATIENCE) as registry:
            found = registry.entries(search=incomplete or None)
    except EddylineError:
        return []
    return sorted(entry.id for entry in found if entry.id.startswith(incomplete))[:MOST]


def is_file(where: str) -> bool:
    """Whether a registry is a file that is there, not a server that may be slow to answer.

    >>> is_file("postgresql://ann@db/eddyline")
    False
    """
    return ("://" not in where or where.startswith("sqlite:")) and is_there(where)
