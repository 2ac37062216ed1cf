"""The oracle: what a query means, row by row in plain Python, without any of the machinery that it judges."""

from eddyline.reference.evaluate import evaluate
from eddyline.reference.join import Change, JoinedPair, JoinResult, Push, join
from eddyline.reference.match import failures, match, project
from eddyline.reference.rows import rows

__all__ = [
    "Change",
    "JoinResult",
    "JoinedPair",
    "Push",
    "evaluate",
    "failures",
    "join",
    "match",
    "project",
    "rows",
]
