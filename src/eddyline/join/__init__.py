"""Joins of streams: their tuples are kept as long as partners may come, and each pair is found once for all queries."""

from eddyline.join.described import SourceDescription, StateDescription, StemDescription
from eddyline.join.joined import Joined
from eddyline.join.state import JoinState
from eddyline.join.step import Step

__all__ = ["JoinState", "Joined", "SourceDescription", "StateDescription", "StemDescription", "Step"]
