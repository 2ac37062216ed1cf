"""Bytes that are not valid UTF-8, and everything that queries can ask about text with such bytes."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from eddyline.model.catalog import Stream

# Bytes of every part in UTF-8: ASCII, continuations, firsts of two to four bytes, those that are never there, and the
# seconds at which the first ones E0, ED, F0 and F4 draw a line.
BYTES: Final = (
    *(b"a", b"b", b"A", b" ", b"%", b"1"),
    *(b"\x80", b"\x8f", b"\x90", b"\x9f", b"\xa0", b"\xbf"),
    *(b"\xc0", b"\xc1", b"\xc2", b"\xc3", b"\xdf", b"\xe0", b"\xe2", b"\xed", b"\xef", b"\xf0", b"\xf4"),
    *(b"\xf5", b"\xff", "ä".encode(), "€".encode(), "🙂".encode(), b"\xed\xa0\x80", b"\xef\xbf\xbd"),
)

# Where the last character of a text lacks bytes, Spark takes what lies beyond the end for parts of it.
READS_BEYOND: Final = ("substring(s", "left(s", "right(s", "trim(BOTH p")

ODD: Final = Stream(
    "odd",
    pa.schema(
        [
            ("s", pa.string()),
            ("p", pa.string()),
            ("bin", pa.binary()),
            ("n", pa.int32()),
            ("l", pa.list_(pa.string())),
        ]
    ),
)

EXPRESSIONS: Final = (
    *("length(s)", "length(concat(s, p))", "upper(s)", "lower(s)", "concat(s, p)", "concat(bin, s)"),
    *("trim(s)", "ltrim(s)", "rtrim(s)", "trim(BOTH 'ab' FROM s)", "trim(TRAILING 'äa' FROM s)"),
    *("trim(BOTH p FROM s)", "trim(TRAILING p FROM s)"),
    *("right(s, 1)", "right(s, n)", "substring(s, -2)", "substring(s, 2)", "substring(s, n)"),
    *("left(s, 2)", "substring(s, 1, n)"),
    *("CAST(bin AS STRING)", "CAST(s AS BINARY)", "greatest(s, p)", "least(s, p, 'a')"),
)

CONDITIONS: Final = (
    *("s = 'a'", "s = p", "s > 'a'", "s >= p", "s < 'ä'", "s BETWEEN 'a' AND '€'", "s <> 'b'", "s IS NULL"),
    *("s IN ('a', 'ab', 'ä')", "s IN ('a', p)", "s <=> p", "s > '\ufffd'", "s = '\ufffd'"),
    *(
        "s LIKE 'a%'",
        "s LIKE '%a'",
        "s LIKE '%a%'",
        "s LIKE '_'",
        "s LIKE '__'",
        "s LIKE '_a%'",
        "s LIKE '%ä_'",
    ),
    *(
        "s LIKE 'a%b'",
        "s LIKE '%'",
        "s LIKE p",
        "p LIKE s",
        "s NOT LIKE '%b%'",
        "s ILIKE 'A%'",
        "s LIKE 'a\\\\_%'",
    ),
    *(
        "s RLIKE 'a'",
        "s RLIKE '^.$'",
        "s RLIKE '^..$'",
        "s RLIKE '[^a]b'",
        "s RLIKE '(?=a)a.'",
        "s RLIKE '\ufffd'",
    ),
    *("s RLIKE '.{2,}'", "s RLIKE 'ä|€'"),
    *("contains(s, 'a')", "contains(s, p)", "startswith(s, 'ä')", "startswith(s, p)", "endswith(s, p)"),
    *("contains(s, '\ufffd')", "startswith(s, '\ufffd')", "endswith(s, 'b')"),
    *(
        "length(s) = 2",
        "length(p) > length(s)",
        "upper(s) = 'A'",
        "substring(s, 1, 1) = 'a'",
        "left(s, n) = p",
    ),
    *("CAST(bin AS STRING) > 'a'", "CAST(bin AS STRING) = s", "CAST(bin AS STRING) LIKE '_%'", "bin = s"),
    *("s = CAST(X'FF' AS STRING)", "s > CAST(X'C3' AS STRING)", "s IN ('a', CAST(X'E282' AS STRING))"),
    *("contains(s, CAST(X'80' AS STRING))", "concat(s, CAST(X'A4' AS STRING)) = 'ä'"),
    *("CAST(substring(CAST('ä' AS BINARY), 1, 1) AS STRING) < s", "coalesce(p, s) > 'a'", "l[0] > 'a'"),
    *("array_contains(l, s)", "CASE WHEN s > 'a' THEN p ELSE s END = 'a'", "TRY_CAST(s AS INT) = 1"),
    *("TRY_CAST(s AS DOUBLE) > 0", "TRY_CAST(s AS DATE) IS NULL", "TRY_CAST(s AS BOOLEAN)"),
    *("date_trunc(s, TIMESTAMP_NTZ'2026-01-02 03:04:05') IS NULL",),
)


def odd_batch(rows: list[tuple[bytes | None, bytes | None, int | None]]) -> pa.RecordBatch:
    """Rows of the stream from the bytes of two texts and a number."""
    texts, others = (pa.array([row[i] for row in rows], pa.binary()) for i in (0, 1))
    ends = pa.array([*range(len(rows)), len(rows)], pa.int32())
    lists = pa.ListArray.from_arrays(ends, others.view(pa.string()))
    numbers = pa.array([row[2] for row in rows], pa.int32())
    columns = [texts.view(pa.string()), others.view(pa.string()), others, numbers, lists]
    return pa.RecordBatch.from_arrays(columns, schema=ODD.schema)
