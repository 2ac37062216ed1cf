"""What is written in place of NULL."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.kernels import locate as kernels


def mark_nulls(values: pa.Array, null: int, ids: npt.NDArray[np.unsignedinteger[Any]]) -> None:
    """Write `null` where a value is NULL."""
    if values.null_count:
        bitmap = values.buffers()[0]
        if bitmap is None:  # the null type has no bitmap
            ids[:] = null
        else:
            kernels.mark_nulls(np.frombuffer(bitmap, np.uint8), values.offset, null, ids)
