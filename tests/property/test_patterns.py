"""Patterns found together are those that each of them finds alone, and that the reference finds."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import reference
from eddyline.execute.sliced.patterns import Patterns
from eddyline.functions.evaluate import Evaluation
from eddyline.functions.java_regex import check, needs_backtracking
from eddyline.index.sliced.patterns import build_patterns, eligible
from eddyline.model.expression import Call, Column, Expression, Literal
from eddyline.model.types import BOOLEAN, STRING

TEXT = Column("text", STRING)
LOWER = Call("lower", (TEXT,), STRING)
ALPHABET = "abA%_\\éÉ€😀\n"

characters = st.sampled_from(ALPHABET)
values = st.none() | st.text(characters, max_size=12) | st.text(st.sampled_from("ab"), max_size=30)
parts = st.text(characters, max_size=6) | st.text(st.sampled_from("ab%_"), max_size=10)
atoms = st.sampled_from(
    ["a", "b", "ab", "é", ".", "[ab]", "(?i)a", "(?=a)", "(?<!b)", "^", "$", "\\b", "\\s", "ab€"]
)
suffixes = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}?"])


@st.composite
def regexes(draw: st.DrawFn) -> str:
    def sequence(depth: int) -> str:
        text = ""
        for _ in range(draw(st.integers(0, 4))):
            if depth and draw(st.integers(0, 3)) == 0:
                options = [sequence(depth - 1) for _ in range(draw(st.integers(1, 3)))]
                text += f"({'|'.join(options)})" + draw(suffixes)
            else:
                text += draw(atoms) + draw(suffixes)
        return text

    return sequence(2)


def literal(text: str) -> Literal:
    return Literal(text, STRING)


def calls(text: Expression) -> st.SearchStrategy[Call]:
    likes = st.builds(
        lambda pattern, escape: Call("like", (text, literal(pattern), literal(escape)), BOOLEAN),
        parts,
        st.sampled_from("\\\\\\!%_a"),
    )
    finds = st.builds(
        lambda function, part: Call(function, (text, literal(part)), BOOLEAN),
        st.sampled_from(["contains", "startswith", "endswith"]),
        parts,
    )
    rlikes = st.builds(
        lambda pattern: Call("rlike", (text, literal(pattern)), BOOLEAN),
        regexes().filter(lambda pattern: check(pattern) is None and not needs_backtracking(pattern)),
    )
    return st.one_of(likes, likes, finds, rlikes)


def found(some: list[Call], array: pa.Array) -> set[tuple[int, int]]:
    rows, patterns = Patterns(build_patterns(some)).find(array)
    assert (np.diff(rows) >= 0).all()
    pairs = list(zip(rows.tolist(), patterns.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


def one_by_one(some: list[Call], evaluation: Evaluation) -> set[tuple[int, int]]:
    truths = [evaluation.values(call).to_numpy(zero_copy_only=False) == True for call in some]  # noqa: E712
    return {(int(row), number) for number, truth in enumerate(truths) for row in np.flatnonzero(truth)}


@settings(deadline=None)
@given(data=st.data(), text=st.sampled_from([TEXT, LOWER]), texts=st.lists(values, max_size=40))
def test_together_as_alone(data: st.DataObject, text: Expression, texts: list[str | None]) -> None:
    some = data.draw(st.lists(calls(text), min_size=1, max_size=30))
    assert all(map(eligible, some))
    start = data.draw(st.integers(0, len(texts)))
    array = pa.array(texts, pa.string()).slice(start, data.draw(st.integers(0, len(texts) - start)))
    evaluation = Evaluation({"text": array}, rows=len(array))
    assert found(some, evaluation.values(text)) == one_by_one(some, evaluation)


@settings(deadline=None)
@given(st.lists(calls(LOWER), min_size=1, max_size=8), st.lists(values, min_size=1, max_size=12))
def test_as_the_reference(some: list[Call], texts: list[str | None]) -> None:
    lowered = Evaluation({"text": pa.array(texts, pa.string())}, rows=len(texts)).values(LOWER)
    expected = {
        (row, number)
        for row, text in enumerate(texts)
        for number, call in enumerate(some)
        if reference.evaluate(call, {"text": text}) is True
    }
    assert found(some, lowered) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "alphabet", ["aé€😀\\", *(pytest.param(each, marks=pytest.mark.long) for each in ("ab", "etaoin shr"))]
)
def test_many_patterns(alphabet: str) -> None:
    draw = random.Random(alphabet)
    texts = ["".join(draw.choices(alphabet, k=draw.randrange(40))) for _ in range(300)]
    some = []
    for _ in range(24_000):
        kept = draw.choice(texts)
        start = draw.randrange(len(kept) + 1)
        pattern = kept[start : start + draw.randrange(12)].replace("\\", "\\\\")
        shape = draw.choice(["%{}%", "{}%", "%{}", "%{}%a%", "{}_%", "%_{}%e"])
        some.append(Call("like", (TEXT, literal(shape.format(pattern)), literal("\\")), BOOLEAN))
    array = pa.array([*texts, None], pa.string())
    sample = draw.sample(range(len(some)), 2_000)
    place = {number: i for i, number in enumerate(sample)}
    mine = {(row, place[number]) for row, number in found(some, array) if number in place}
    evaluation = Evaluation({"text": array}, rows=len(array))
    assert mine == one_by_one([some[number] for number in sample], evaluation)
