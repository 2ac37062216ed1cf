"""Text with bytes that are not valid UTF-8: the reference says what Spark says."""

from __future__ import annotations

import random

from pyspark.sql import SparkSession

from eddyline import reference
from eddyline.model.query import Query
from eddyline.reference.text import characters
from eddyline.sql import bind
from tests.differential.agreement import canonical
from tests.differential.judge import Values, judge
from tests.odd_text import BYTES, CONDITIONS, EXPRESSIONS, ODD, READS_BEYOND, odd_batch


def odd_rows(count: int) -> list[tuple[bytes | None, bytes | None, int | None]]:
    """Every byte by itself, every two of them, and longer texts by chance; short patterns beside them."""
    chance = random.Random(11)
    texts = [*BYTES, *(a + b for a in BYTES for b in BYTES)]
    texts += [b"".join(chance.choices(BYTES, k=chance.randint(3, 6))) for _ in range(count)]
    others = [*BYTES, b"", None]
    return [(text, chance.choice(others), chance.randint(-3, 3)) for text in texts]


def is_whole(text: str | None) -> bool:
    """Whether the last character has all the bytes that its first one asks for."""
    return text is None or len(characters(text + "a")) > len(characters(text))


def test_spark_agrees(spark: SparkSession) -> None:
    batch = odd_batch(odd_rows(1000))
    rows = list(reference.rows(batch, ODD))
    asked = [*EXPRESSIONS, *CONDITIONS]
    wrong = []
    for text, verdict in zip(asked, judge(spark, batch, asked, stream="odd"), strict=True):
        assert isinstance(verdict, Values), f"{text}: {verdict}"
        bound = bind(Query("q", f"SELECT {text} AS o FROM odd"), [ODD]).outputs[0].expression
        for row, theirs in zip(rows, canonical(verdict.array), strict=True):
            value = reference.evaluate(bound, row)
            if value != theirs and (is_whole(row["s"]) or not text.startswith(READS_BEYOND)):
                wrong.append(f"{text} of {row}: {value!r}, Spark {theirs!r}")
    assert not wrong, "\n".join(wrong[:20])
