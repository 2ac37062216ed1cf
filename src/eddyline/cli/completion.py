"""What the shell offers when a query's id is being typed: the ids of the registry that the command would use."""

from __future__ import annotations

from typing import Final

import typer

from eddyline.errors import EddylineError
from eddyline.service.registries import is_file, is_there, usual_registry

MOST: Final = 200  # ids that are offered
PATIENCE: Final = 0.5  # seconds to wait for others that change the registry


def query_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Ids that begin like what was typed; none where asking would take long or fail: a completion never complains."""
    where = ctx.params.get("registry") or usual_registry()
    if not is_file(where) or not is_there(where):  # a server may be slow to answer
        return []
    from eddyline.registry import Registry

    try:
        with Registry.open(where, timeout=PATIENCE) as registry:
            found = registry.entries(search=incomplete or None)
    except EddylineError:
        return []
    return sorted(entry.id for entry in found if entry.id.startswith(incomplete))[:MOST]
