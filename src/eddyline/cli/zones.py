"""Time zones that commands are given."""

from __future__ import annotations

import typer

from eddyline.functions.zones import find_zone


def check_zone(name: str) -> None:
    """Refuse what is no time zone."""
    if find_zone(name) is None:
        raise typer.BadParameter(f'"{name}" is not a time zone; write it as Europe/Vienna or +02:00')
