"""What was found out about two queries: a verdict with its proof, or with a row that shows the opposite, or a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from eddyline.implication.proof import Proof

HOLDS: Final = frozenset({"implied", "equivalent", "disjoint", "never true"})


@dataclass(frozen=True, slots=True)
class Relation:
    """Whether one query implies another, both are equivalent or disjoint, or one is never true.

    It is true (as in `if ed.implies(...)`) only where that is proven. `verdict` says what was asked for ("implied",
    "equivalent", "disjoint", "never true"), its opposite ("not implied", ...) or "unknown".

    - Where it holds, `proofs` say why: one, or for "equivalent" one each way.
    - Where it does not, `row` is a row that shows it, checked by the reference evaluator.
    - Where it is unknown, `reason` says why.
    """

    verdict: str
    text: str = field(repr=False)
    proofs: tuple[Proof, ...] = field(default=(), repr=False)
    row: Mapping[str, Any] | None = None
    reason: str | None = None

    def __bool__(self) -> bool:
        return self.verdict in HOLDS

    @property
    def proof(self) -> Proof | None:
        """The proof, or the first of two; None where nothing is proven."""
        return self.proofs[0] if self.proofs else None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Related:
    """What two queries have to do with each other, with all that was found out on the way.

    `verdict` is "equivalent", "implies", "implied by", "disjoint", "overlapping" (each has rows of its own, and they share
    some), "never true" (one of them is) or "unknown" (what is left open is in the parts).
    """

    verdict: str
    text: str = field(repr=False)
    forward: Relation
    backward: Relation
    disjoint: Relation

    def __str__(self) -> str:
        return self.text
