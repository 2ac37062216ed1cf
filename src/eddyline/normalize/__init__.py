"""Bound queries to normal form: AND/OR over conditions "subject in regions", equal wherever the meaning is."""

from eddyline.normalize.explain import explain, trace
from eddyline.normalize.pipeline import RULES, normalize, pin, plan, without
from eddyline.normalize.plan import Plan

__all__ = ["RULES", "Plan", "explain", "normalize", "pin", "plan", "trace", "without"]
