"""The oracle: what a query means, row by row in plain Python, without any of the machinery that it judges."""

from eddyline.reference.evaluate import evaluate

__all__ = ["evaluate"]
