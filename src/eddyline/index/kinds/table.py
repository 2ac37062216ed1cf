"""All kinds of indexes, in the order in which they are asked which queries they take."""

from __future__ import annotations

from typing import Final

from eddyline.index.kinds import keyed, unkeyed
from eddyline.index.kinds.kind import Kind

KINDS: Final[tuple[Kind, ...]] = (
    keyed,
    unkeyed,  # last: it takes every query
)
