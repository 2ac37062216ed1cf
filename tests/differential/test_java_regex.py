"""Random regular expressions against Java itself, by way of Spark."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline.functions.evaluate import Evaluation
from eddyline.model.expression import Call, Column, Literal
from eddyline.model.types import BOOLEAN, STRING
from eddyline.runtime.spark.sessions.java import find_java
from eddyline.sql import render
from eddyline.testing.regexes import regex, regex_text
from tests.conftest import blocks
from tests.differential.judge import Values, judge

pytestmark = [pytest.mark.spark, pytest.mark.slow]
TEXT = Column("text", STRING)


def is_decided(pattern: str, text: str | None) -> bool:
    """Before Java 19 `\\b` takes any letter for one of a word; Java 19 and later are followed."""
    return "\\b" not in pattern or text is None or text.isascii() or find_java().version >= 19


@pytest.mark.parametrize("block", blocks(2, quick=(0,)))
def test_as_java_finds_it(spark: SparkSession, block: int) -> None:
    draw = random.Random(block)
    texts = [*(regex_text(draw) for _ in range(79)), None]
    batch = pa.record_batch({"text": pa.array(texts, pa.string())})
    patterns = [regex(draw) for _ in range(240)]
    calls = [Call("rlike", (TEXT, Literal(pattern, STRING)), BOOLEAN) for pattern in patterns]
    verdicts = judge(spark, batch, [render(call) for call in calls], stream="texts")
    evaluation = Evaluation({"text": batch.column(0)}, rows=batch.num_rows)
    wrong = []
    for pattern, call, verdict in zip(patterns, calls, verdicts, strict=True):
        assert isinstance(verdict, Values), f"{pattern!r}: {verdict}"
        ours = evaluation.values(call).to_pylist()
        theirs = verdict.array.to_pylist() if verdict.array is not None else []
        wrong += [
            f"{pattern!r} in {text!r}: {mine} instead of {yours}"
            for text, mine, yours in zip(texts, ours, theirs, strict=True)
            if mine != yours and is_decided(pattern, text)
        ]
    assert not wrong, "\n".join(wrong[:10])
