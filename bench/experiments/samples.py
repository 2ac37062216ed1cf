"""Tuples of a data set as the regions that a query set's ASCs have for them."""

from __future__ import annotations

import numpy as np

from bench.experiments.query_sets import QuerySet
from eddyline.model.asc import ASC
from eddyline.model.sample import Sample


def sample_of(queries: QuerySet, values: np.ndarray) -> Sample:
    """Values (attributes, tuples) as a sample; region 2i + 1 is the i-th constant, as `ASC` says."""
    regions = np.empty((len(queries.attributes), values.shape[1]), np.int32)
    for subject, attribute in enumerate(queries.attributes):
        regions[subject] = regions_of(queries.index.ascs[subject], values[attribute])
    return Sample(queries.index.ascs, regions)


def regions_of(asc: ASC, values: np.ndarray) -> np.ndarray:
    """The region of each value: an odd one is a constant, an even one the values before the next."""
    constants = np.asarray(asc.constants)
    below = np.searchsorted(constants, values, side="left")
    return below + np.searchsorted(constants, values, side="right")
