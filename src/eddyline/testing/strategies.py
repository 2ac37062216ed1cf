"""Hypothesis strategies over the random generator; needs hypothesis, which only the development extra installs."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from eddyline.testing.combinators import Grammar
from eddyline.testing.grammar import GRAMMAR
from eddyline.testing.queries import draw_statement
from eddyline.testing.tree import Statement


@st.composite
def statements(draw: Any, *, size: int = 14, wild: float = 0.0, grammar: Grammar = GRAMMAR) -> Statement:
    """Random statements whose random choices hypothesis can shrink."""
    source: random.Random = draw(st.randoms(use_true_random=False))
    return draw_statement(source, size=size, wild=wild, grammar=grammar)
