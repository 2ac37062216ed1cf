"""Joins over files: rows kept as they are read, joined by event time once all are there, however the files are sorted."""

from eddyline.queryset.kept_columns import Kept
from eddyline.runtime.embedded.joins.file_joins import FileJoins
from eddyline.runtime.embedded.joins.pair_blocks import PairBlock

__all__ = ["FileJoins", "Kept", "PairBlock"]
