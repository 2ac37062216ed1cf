"""Who is let in: every query that is to stand is checked, then asked about by policies, budgets, and what stands already."""

from eddyline.admission.admission import Admission
from eddyline.admission.budgets import OverBudget
from eddyline.admission.candidate import Candidate, Policy
from eddyline.admission.redundancy import IfImplied, IfSame

__all__ = ["Admission", "Candidate", "IfImplied", "IfSame", "OverBudget", "Policy"]
