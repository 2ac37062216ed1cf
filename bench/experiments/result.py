"""What a figure gives: rows, the claims of the paper checked against them, and files to lay beside the paper."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

Row = dict[str, Any]


class Spread(NamedTuple):
    """Several measurements of one thing, such as over query sets: their mean, the least and the most."""

    mean: float
    least: float
    most: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        return Spread(sum(values) / len(values), min(values), max(values))


@dataclass(frozen=True)
class Claim:
    """One thing the paper says, whether it holds here, and the numbers that decide it."""

    text: str
    holds: bool
    measured: str

    def __str__(self) -> str:
        return f"{'yes' if self.holds else 'NO'}: {self.text} ({self.measured})"


@dataclass(frozen=True)
class Result:
    """A figure's data; `expected` is the paper's shape, from the head of its file."""

    name: str
    title: str
    expected: str
    parameters: Row
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...]

    @property
    def as_in_the_paper(self) -> bool:
        """Whether all claims hold."""
        return all(claim.holds for claim in self.claims)

    @property
    def question(self) -> str:
        """What the verdict answers; beyond the papers the expectation is our own."""
        return "As expected" if self.name.startswith("beyond") else "As in the paper"

    @property
    def verdict(self) -> str:
        """Yes or no, and why."""
        if self.as_in_the_paper:
            why = "; ".join(f"{claim.text} ({claim.measured})" for claim in self.claims)
        else:
            why = "; ".join(str(claim) for claim in self.claims)
        return f"{self.question.lower()}: {'yes' if self.as_in_the_paper else 'no'}: {why}"

    def series(self, name: str, by: str, of: str) -> dict[Any, Spread]:
        """The column `of` by the column `by`, over the rows whose column "series" has a name."""
        found: dict[Any, list[float]] = {}
        for row in self.rows:
            if row["series"] == name:
                found.setdefault(row[by], []).append(row[of])
        return {at: Spread.of(values) for at, values in found.items()}

    def only(self, **where: Any) -> Result:
        """The same with the rows that have the given values, for one panel of a picture."""
        return replace(self, rows=tuple([row for row in self.rows if _has(row, where)]))


def head_of(doc: str | None) -> tuple[str, str]:
    """Title and expected shape from the head of a figure's file.

    >>> head_of("ASC-1, figure 4: time.\\n\\nExpected: all alike,\\nbut the list.\\n\\nMore.")
    ('ASC-1, figure 4: time', 'all alike, but the list.')
    """
    assert doc is not None, "a figure's file starts with a text"
    title = doc.strip().splitlines()[0].rstrip(".")
    paragraph = doc.split("Expected:", 1)[1].split("\n\n", 1)[0]
    return title, " ".join(paragraph.split())


def mean(rows: Iterable[Row], column: str, **where: Any) -> float:
    """The mean of a column over the rows with the given values."""
    return spread(rows, column, **where).mean


def spread(rows: Iterable[Row], column: str, **where: Any) -> Spread:
    """Mean, least and most of a column over the rows with the given values."""
    return Spread.of([row[column] for row in rows if _has(row, where)])


def _has(row: Row, where: Row) -> bool:
    return all(row[name] == value for name, value in where.items())


def write(result: Result, folder: Path) -> None:
    """The rows as CSV, everything as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(name for row in result.rows for name in row))
    with (folder / f"{result.name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows([{key: _short(value) for key, value in row.items()} for row in result.rows])
    document = {
        "figure": result.name,
        "title": result.title,
        "expected": result.expected,
        "as in the paper": result.as_in_the_paper,
        "claims": [vars(claim) for claim in result.claims],
        "parameters": result.parameters,
        "rows": [{key: _short(value) for key, value in row.items()} for row in result.rows],
    }
    (folder / f"{result.name}.json").write_text(json.dumps(document, indent=1) + "\n")


def percent(part: float, whole: float) -> str:
    """How much more one number is than another.

    >>> percent(1.1, 1.0), percent(0.97, 1.0)
    ('+10.0%', '-3.0%')
    """
    return f"{100 * (part / whole - 1):+.1f}%"


def each(values: Sequence[tuple[str, float]]) -> str:
    """Named numbers in one line."""
    return ", ".join(f"{name} {value:.3g}" for name, value in values)


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value
