"""All executors, by the name of the index that they evaluate (`index/kinds/`)."""

from __future__ import annotations

from typing import Final

from eddyline.execute.executor import Executor
from eddyline.execute.kinds.keyed import KeyedExecutor
from eddyline.execute.kinds.unkeyed import UnkeyedExecutor

EXECUTORS: Final[dict[str, type[Executor]]] = {"keyed": KeyedExecutor, "unkeyed": UnkeyedExecutor}
