"""Random regular expressions: both engines and the reference find the same, and count the same steps."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.functions.evaluate.arrays import text_buffers
from eddyline.functions.java_regex import SearchResult, Unsupported
from eddyline.functions.java_regex.automaton import NotLinear
from eddyline.functions.java_regex.linear import LinearSearch
from eddyline.functions.java_regex.parse import parse
from eddyline.functions.java_regex.program import program
from eddyline.functions.java_regex.search import BacktrackingSearch
from eddyline.reference.regex.parse import parsed
from eddyline.reference.regex.search import Search
from eddyline.testing.regexes import regex, regex_text


def engines(pattern: str) -> tuple[BacktrackingSearch, LinearSearch | None]:
    node = parse(pattern)
    assert not isinstance(node, Unsupported)
    try:
        return BacktrackingSearch(program(node)), LinearSearch(node)
    except NotLinear:
        return BacktrackingSearch(program(node)), None


def found(search: BacktrackingSearch | LinearSearch, texts: list[str], **options: int) -> SearchResult:
    """What is found in some texts; what comes behind them lets even the last one be looked at in blocks."""
    array = pa.array([*texts, "a" * 64], pa.string())
    return search.search(*text_buffers(array), np.arange(len(texts)), **options)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_engines_and_reference_agree(seed: int) -> None:
    draw = random.Random(seed)
    pattern = regex(draw)
    texts = [regex_text(draw) for _ in range(12)]
    searches = [Search(text, most=20_000) for text in texts]
    expected = [search.found(parsed(pattern)) for search in searches]
    backtracking, linear = engines(pattern)
    assert found(backtracking, texts).hits.tolist() == expected
    if linear is not None:
        assert found(linear, texts).hits.tolist() == expected
    for text, search in zip(texts, searches, strict=True):
        assert found(backtracking, [text], most_steps=search.steps).failed is None
        if search.steps:
            assert found(backtracking, [text], most_steps=search.steps - 1).failed is not None


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_long_texts_stay_linear_beyond_the_states_that_were_made(seed: int) -> None:
    draw = random.Random(seed)
    pattern = draw.choice(["[ab]*a[ab]{12}b", "a.{1,9}b.{1,9}_", "(?:a[ab]|b[a1]){7,9}1", "a.{15}$"])
    texts = ["".join(draw.choices("ab1_é", k=draw.randrange(60))) for _ in range(20)]
    backtracking, linear = engines(pattern)
    assert linear is not None
    assert found(linear, texts).hits.tolist() == found(backtracking, texts).hits.tolist()
