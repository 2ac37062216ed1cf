"""Results in the form in which the sliced executor leaves them: a mask of 512 tuples for each block and query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

BLOCK: Final = 512
WORDS: Final = BLOCK // 64


@dataclass(frozen=True, slots=True)
class Masks:
    """words[(block * results + result) * 8:][:8] holds the tuples of a block that satisfy a result's query.

    Bits of tuples past `rows` are zero. `numbers[result]` is the query's number. Where only some rows of the batch were
    looked at, `selected[i]` is the row that tuple i stands for.
    """

    rows: int
    results: int
    numbers: npt.NDArray[np.int32]
    words: npt.NDArray[np.uint64]
    selected: npt.NDArray[np.int64] | None = None

    @property
    def blocks(self) -> int:
        """Number of blocks, the last perhaps not full."""
        return -(-self.rows // BLOCK)
