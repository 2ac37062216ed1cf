"""How queries relate: which are the same, implied by others, disjoint or never true."""

from eddyline.implication.search import Budget
from eddyline.relations.decide import disjoint, equivalent, implies, never_true
from eddyline.relations.relation import Relation

__all__ = ["Budget", "Relation", "disjoint", "equivalent", "implies", "never_true"]
