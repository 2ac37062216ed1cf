"""`random`: one order drawn by lot, the same for the same seed."""

from __future__ import annotations

import random
from typing import Final, Literal

from eddyline.model.sample import Sample
from eddyline.model.sequence import Sequence


class Random:
    """Proposes one permutation; for another one give another seed."""

    name: Final[Literal["random"]] = "random"
    ready: Final = True

    def __init__(self, start: Sequence, seed: int) -> None:
        subjects = sorted(start.subjects)
        random.Random(seed).shuffle(subjects)
        self._sequence = Sequence(tuple(subjects))

    def observe(self, sample: Sample) -> None:
        """Look at nothing."""

    def propose(self) -> Sequence:
        return self._sequence
