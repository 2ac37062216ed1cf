"""`regexes`: common regular expressions over lines of logs, and those of the Sigma rules over the columns they ask for."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from bench.workloads import sigma
from eddyline.model.expression import Call, Column, Literal, walk
from eddyline.model.query import Query
from eddyline.sql import bind

_LEVELS = ("ERROR", "WARN", "INFO", "DEBUG", "FATAL", "TRACE", "Notice")
_WORDS = (
    "login",
    "failed",
    "admin",
    "timeout",
    "refused",
    "session",
    "denied",
    "upload",
    "payment",
    "restart",
)
_SHAPES = (
    r"\d{1,3}(\.\d{1,3}){3}",
    r"\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b",
    r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,6}",
    r"(?i)\b[a-z0-9._]+@example\.(com|org)\b",
    r"https?://[^\s/]+(/[^\s?]*)?(\?\S+)?",
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    r"(?i)[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}",
    r"\d{4}-\d{2}-\d{2}",
    r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}",
    r"\b\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b",
    r"\bv?\d+\.\d+\.\d+\b",
    r"\bv\d+\.\d+(\.\d+)?(-[a-z0-9]+)?$",
    r"(/[\w.-]+)+\.(log|txt|conf)",
    r"(?i)[A-Z]:\\(?:[^\\/:*?<>|]+\\)*[^\\/:*?<>|]*\.exe",
    r"\b[0-9a-f]{32}\b",
    r"\b[0-9a-f]{40}\b|\b[0-9a-f]{64}\b",
    r"\b(?:\d[ -]*?){13,16}\b",
    r"4\d{3}([ -]?\d{4}){3}",
    r"Mozilla/\d\.\d \(.*?\) .*?(Chrome|Firefox|Safari)/\d+",
    r"(?i)\b(curl|wget|python-requests|go-http-client)/[\d.]+",
    r"(GET|POST|PUT|DELETE) /\S* HTTP/1\.[01]",
    r"\" (4|5)\d\d \d+",
    r"status=5\d\d",
    r"user=(\w+)",
    r"(\w+)=(\w+) (\w+)=(\w+)",
    r"\$\d+(\.\d{2})?",
    r"took \d+ ?ms$",
    r"took \d{4,}",
    r"\s+$",
    r"^\s*$",
    r"^\S+ \S+ \S+",
    r"\[\d+\]:",
    r"\d++ms",
    r"[a-z]++=[0-9]++",
    r"\w*+ \w*+:",
    r"^.*?error.*?$",
    r"(?s)^.*timeout.*$",
    r"^[^=]*=[^=]*=[^=]*$",
    r"(a|b|c|d|e)+f",
    r"([a-z]+ ){3,}[a-z]+",
    r".{120,}",
    r"\b\w{12,}\b",
    r"(?i)select.+from.+where",
    r"(?i)(union|insert|drop)\s+(all|into|table)",
    r"\.\./|\.\.\\",
    r"<script[^>]*>",
    r"%[0-9a-fA-F]{2}",
    r"\\x[0-9a-f]{2}",
    r"[\x00-\x08]",
    r"[^\x00-\x7f]",
)


def common() -> list[str]:
    """200 patterns of the kinds that people write."""
    found = list(_SHAPES)
    for level in _LEVELS:
        found += [rf"^\S+ {level}\b", rf"(?i)\b{level}\b", rf"\[{level}\]|<{level}>", rf"{level}.*took"]
    for i, word in enumerate(_WORDS):
        other = _WORDS[(i + 3) % len(_WORDS)]
        found += [
            rf"\b{word}\b",
            rf"(?i){word}",
            rf"{word}.*{other}",
            rf"{word}\s+\w+$",
            rf"(?:{word}|{other}) (?:for|from|by)",
            rf"{word}[a-z]*? user=\w+?\d",
            rf"^.*{word}",
            rf"{word}{{1,2}}s?$",
            rf"(?i)(^|\W){word}(\W|$)",
            rf"{word}.{{1,20}}{other}",
            rf"[{word[0]}{word[0].upper()}]{word[1:]}\b.*\d",
            rf"{word}|{word.upper()}|{word.capitalize()}",
        ]
    found += [rf"took {digit}\d+ms" for digit in "12"]
    assert len(set(found)) == len(found) == 200, f"{len(set(found))} of {len(found)} patterns are distinct"
    return found


def lines(count: int) -> pa.Array:
    """Lines of a log in which such patterns find something now and then."""
    draw = random.Random(7)
    hexadecimal = lambda k: "".join(draw.choices("0123456789abcdef", k=k))  # noqa: E731
    makers = (
        lambda: f"{draw.randrange(256)}.{draw.randrange(256)}.0.{draw.randrange(99)}",
        lambda: f"user{draw.randrange(99)}@example.{draw.choice(['com', 'net'])}",
        lambda: f"https://host{draw.randrange(9)}.org/a/{hexadecimal(6)}?q={draw.randrange(99)}",
        lambda: "-".join(map(hexadecimal, (8, 4, 4, 4, 12))),
        lambda: f"v{draw.randrange(9)}.{draw.randrange(20)}.{draw.randrange(9)}",
        lambda: f"/var/log/{draw.choice(_WORDS)}.{draw.choice(['log', 'gz'])}",
        lambda: f"C:\\Windows\\System32\\{draw.choice(_WORDS)}.{draw.choice(['exe', 'dll'])}",
        lambda: hexadecimal(draw.choice([32, 40])),
        lambda: (
            f'"GET /{draw.choice(_WORDS)} HTTP/1.1" {draw.choice([200, 404, 500])} {draw.randrange(9999)}'
        ),
        lambda: f"Mozilla/5.0 (X11; Linux) Gecko {draw.choice(['Firefox', 'Chrome'])}/{draw.randrange(120)}",
        lambda: f"user={draw.choice(_WORDS)}{draw.randrange(50)} status={draw.choice([200, 302, 503])}",
        lambda: f"card 4{draw.randrange(10**3):03} {draw.randrange(10**4):04} 1234 5678",
        lambda: f"{draw.choice(_WORDS)} {draw.choice(_WORDS)} for {draw.choice(_WORDS)}",
    )
    return pa.array(
        f"2026-01-{draw.randrange(1, 29):02}T10:{draw.randrange(60):02}:00 {draw.choice(_LEVELS)} "
        f"[{draw.randrange(9999)}]: {draw.choice(_WORDS)} {draw.choice(makers)()} {draw.choice(makers)()}"
        + (f" took {draw.randrange(2000)}ms" if draw.random() < 0.5 else "")
        for _ in range(count)
    )


@dataclass(frozen=True)
class Case:
    """A pattern and the texts in which it makes sense."""

    pattern: str
    texts: pa.Array


def sigma_cases(rows: int) -> Iterator[Case]:
    """All regular expressions of the Sigma rules, with the column that they ask for; none if the data is not here."""
    data = sigma.folder()
    if data is None:
        return
    load = sigma.load(data)
    seen: set[str] = set()
    for id, text in load.texts.items():
        if "RLIKE" not in text.upper():
            continue
        for node in walk(bind(Query(id, text), [load.stream]).predicate):
            if not isinstance(node, Call) or node.function != "rlike":
                continue
            column, pattern = node.arguments
            if isinstance(pattern, Literal) and isinstance(column, Column) and pattern.value not in seen:
                seen.add(str(pattern.value))
                yield Case(str(pattern.value), load.events.column(column.name).slice(0, rows))


def for_duckdb(pattern: str) -> str:
    """The pattern without possessive repetitions, which DuckDB does not know; those here find the same without."""
    return re.sub(r"(?<=[*+?}])\+", "", pattern)
