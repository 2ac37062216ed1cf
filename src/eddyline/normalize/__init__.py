"""Bound queries and joins to normal form: AND/OR over conditions "subject in regions", equal wherever the meaning is."""

from eddyline.normalize.digest import digest
from eddyline.normalize.explain import explain, trace
from eddyline.normalize.joins.explain import explain_join
from eddyline.normalize.joins.plan import JoinPlan, plan_join
from eddyline.normalize.joins.trace import Contradiction, TracedBranch, TracedSide, contradictions, trace_join
from eddyline.normalize.pipeline import RULES, normalize, pin, plan, without
from eddyline.normalize.plan import Plan

__all__ = [
    "RULES",
    "Contradiction",
    "JoinPlan",
    "Plan",
    "TracedBranch",
    "TracedSide",
    "contradictions",
    "digest",
    "explain",
    "explain_join",
    "normalize",
    "pin",
    "plan",
    "plan_join",
    "trace",
    "trace_join",
    "without",
]
