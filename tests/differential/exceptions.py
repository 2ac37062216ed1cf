"""Known and documented differences from Spark; everything else is a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.differential.finding import Finding

# Reasons of Spark or of ours (a piece of the message) that only one side may have.
_REFUSALS: tuple[tuple[str, str], ...] = ()


def excused(finding: Finding) -> bool:
    """Whether docs/semantics.md names this difference."""
    return any(finding.judgement == "refusal" and piece in finding.detail for _, piece in _REFUSALS)
