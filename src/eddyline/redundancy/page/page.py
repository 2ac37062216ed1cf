"""The whole page: its parts in their order."""

from __future__ import annotations

from eddyline.pages.document import document, resource
from eddyline.redundancy.clusters import clusters
from eddyline.redundancy.could_go import could_go
from eddyline.redundancy.page import sections
from eddyline.redundancy.proofs import Proofs
from eddyline.redundancy.values import ComparedSet


def to_html(compared: ComparedSet, proofs: Proofs) -> str:
    """What is redundant in a set as one HTML document, less than 5 MB however large the set is."""
    figures, found = compared.figures(), clusters(compared)
    candidates = could_go(compared, found)
    parts = [
        sections.head(figures, compared),
        sections.tiles(figures),
        sections.shares(figures, candidates),
        sections.nothing(figures),
        sections.clusters(found, compared, proofs),
        sections.candidates(candidates, compared),
        sections.never_true(compared, proofs),
        sections.undecided(compared),
        sections.uncompared(compared),
    ]
    style, script = resource(__package__, "redundancies.css"), resource(__package__, "redundancies.js")
    return document("Redundant queries", parts, "eddyline query redundancies --json", style, script)
