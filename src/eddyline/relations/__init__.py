"""How queries relate: which are the same, implied by others, disjoint or never true."""

from eddyline.implication.search import Budget
from eddyline.relations.decide import disjoint, equivalent, implies, never_true, relate
from eddyline.relations.redundancies import Redundancies
from eddyline.relations.relation import Related, Relation

__all__ = [
    "Budget",
    "Redundancies",
    "Related",
    "Relation",
    "disjoint",
    "equivalent",
    "implies",
    "never_true",
    "relate",
]
