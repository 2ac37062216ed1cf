"""Names for the arrays that stages hand to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
