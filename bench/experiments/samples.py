"""Tuples of a data set as the regions that a query set's ASCs have for them."""

from __future__ import annotations

import numpy as np

from bench.experiments.query_sets import QuerySet
from eddyline.model.sample import Sample


def sample_of(queries: QuerySet, values: np.ndarray) -> Sample:
    """Values (attributes, tuples) as a sample; region 2i + 1 is the i-th constant, as `ASC` says."""
    regions = np.empty((len(queries.attributes), values.shape[1]), np.int32)
    for subject, attribute in enumerate(queries.attributes):
        constants = np.asarray(queries.index.ascs[subject].constants)
        column = values[attribute]
        below = np.searchsorted(constants, column, side="left")
        regions[subject] = below + np.searchsorted(constants, column, side="right")
    return Sample(queries.index.ascs, regions)
