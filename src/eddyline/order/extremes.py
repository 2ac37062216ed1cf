"""What `best` and `worst` share: all other orders of the same period lie between them."""

from __future__ import annotations

from eddyline.model.sample import Sample
from eddyline.order.exact import MOST_SUBJECTS, best_order, worst_order
from eddyline.order.growing import Growing, Step


class Extreme(Growing):
    """Takes one period if it is exact; with more subjects than that, one subject a period, greedily."""

    sign: int  # 1 for the fewest visits, -1 for the most

    @property
    def exact(self) -> bool:
        """Whether what is proposed is the extreme of all orders; beyond 16 subjects it is only found greedily."""
        return len(self.ascs) <= MOST_SUBJECTS

    def observe(self, sample: Sample) -> None:
        if not self.exact:
            super().observe(sample)
        elif sample.tuples and not self.ready:
            found = best_order(sample) if self.sign > 0 else worst_order(sample)
            self.chosen = list(found.subjects)

    def rank(self, step: Step, subject: int) -> tuple[float, ...]:
        return (self.sign * step.alive[subject], self.sign * step.ones[subject])
