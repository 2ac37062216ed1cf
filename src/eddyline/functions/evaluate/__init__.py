"""Vectorised evaluation of bound expressions over Arrow arrays, with Spark's ANSI semantics and failures as NULL."""

from eddyline.functions.evaluate.arrays import arrow_type, values_of
from eddyline.functions.evaluate.evaluation import Evaluation, evaluate, evaluate_constant
from eddyline.functions.evaluate.failures import Failures, fallible

__all__ = ["Evaluation", "Failures", "arrow_type", "evaluate", "evaluate_constant", "fallible", "values_of"]
