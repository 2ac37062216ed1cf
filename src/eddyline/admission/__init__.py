"""Who is let in: every query that is to stand is checked, then asked about by policies, then held against budgets."""

from eddyline.admission.admission import Admission
from eddyline.admission.budgets import OverBudget
from eddyline.admission.candidate import Candidate, Policy

__all__ = ["Admission", "Candidate", "OverBudget", "Policy"]
