"""Writes the generated pages of docs/ from the tables in the code: `python -m tools.docs [--check]`.

docs/sql.md        the accepted SQL: sql/supported.py, sql/refused.py, sql/spark_only/functions.py,
                   sql/grammar/datatypes.py, functions/
docs/capacity.md   its tables and what the command prints: capacity/measured.py, the rest is written by hand
"""

from __future__ import annotations

import argparse
import difflib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from eddyline.functions import java_regex, time_formats
from eddyline.functions.table import FUNCTIONS, Function
from eddyline.sql import refused, supported
from eddyline.sql.grammar.datatypes import NAMES
from eddyline.sql.spark_only import functions as spark_only
from tools import capacity_blocks
from tools.markdown import table

DOCS = Path(__file__).parents[1] / "docs"
MADE = "<!-- Made by `make docs` from the tables in src/eddyline: edit those. -->"
JOINED = """A join needs an equality between the two streams and a window of event time; [joins.md](joins.md) says what \
it means, and which pairs are delivered when."""
PRECEDENCE = """From the weakest to the strongest:

| level | operators | |
|---|---|---|
| 1 | `OR` | |
| 2 | `AND` | |
| 3 | `NOT`, `!` | |
| 4 | `BETWEEN`, `IN`, `LIKE`, `ILIKE`, `RLIKE`, `IS` | at most one, after a comparison |
| 5 | `=`, `<>`, `<`, `<=`, `>`, `>=`, `<=>` | all alike, from the left |
| 6 | `+`, `-`, `\\|\\|` | from the left: `'a' \\|\\| 1 + 2` is `('a' \\|\\| 1) + 2` |
| 7 | `*`, `/`, `%`, `DIV` | from the left |
| 8 | `-`, `+` as signs | |
| 9 | `a.b`, `a[b]`, `a::type` | |
"""


def code(text: str) -> str:
    """Text in a typewriter font; text with a backtick takes two on each side."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def sql_page() -> str:
    """The accepted SQL."""
    parts = [
        "# The accepted SQL",
        MADE,
        "A query is one `SELECT` over one stream, or over two that it joins, in Spark SQL. This page lists everything that is accepted; anything "
        "else is refused when the query is registered, with the place in its text. What the forms mean is said in "
        "[semantics.md](semantics.md).",
        f"The examples read a stream `{supported.STREAM}` with these columns:",
        "```sql\n"
        + supported.COLUMNS.replace(", ", ",\n").replace("(10,\n", "(10, ").replace("STRING,\nD", "STRING, D")
        + "\n```",
        f"and those of joins also a stream `{supported.OTHER_STREAM}` with `{supported.OTHER_COLUMNS}`.",
    ]
    for group in dict.fromkeys(form.group for form in supported.FORMS):
        parts += [f"## {group}", _forms(group)]
        if group == supported.JOINS:
            parts.append(JOINED)
        if group == supported.OPERATORS:
            parts.append(PRECEDENCE)
    parts += ["## Types", _types(), "## Functions", *_functions(), *_languages(), *_spark_only()]
    parts += ["## Refused", *_refusals()]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _forms(group: str) -> str:
    rows = [(code(f.form), code(f.example), f.note) for f in supported.FORMS if f.group == group]
    return table(("form", "example", ""), rows)


def _types() -> str:
    names: dict[str, list[str]] = {}
    for name, kind in NAMES.items():
        names.setdefault(str(kind), []).append(name)
    rows = [(code(kind), ", ".join(map(code, spellings))) for kind, spellings in names.items()]
    rows.append(
        (code("decimal(p,s)"), "`DECIMAL(p, s)`, `DEC`, `NUMERIC`; `DECIMAL` alone is `DECIMAL(10, 0)`")
    )
    rows.append(("nested", "`ARRAY<type>`, `MAP<type, type>`, `STRUCT<name: type, ...>`"))
    return table(("type", "written as"), rows)


def _functions() -> list[str]:
    groups: dict[str, list[Function]] = {}
    for function in FUNCTIONS.values():
        groups.setdefault(function.group, []).append(function)
    parts = [f"{len(FUNCTIONS)} functions; names are read without regard to case."]
    for group, functions in groups.items():
        signatures = "\n".join(function.signature for function in functions)
        parts += [f"### {group.capitalize()}", f"```sql\n{signatures}\n```"]
    return parts


def _languages() -> list[str]:
    """The small languages inside constants: what their modules' own texts say is accepted."""
    return [
        "## Regular expressions",
        "`RLIKE` takes a constant in Java's language and finds what Java finds.",
        *_paragraphs(java_regex),
        "## Datetime patterns",
        "`to_timestamp`, `to_date` and `unix_timestamp` take a constant pattern.",
        *_paragraphs(time_formats),
    ]


def _paragraphs(module: ModuleType) -> list[str]:
    """A module's docstring without its first sentence, each paragraph on one line."""
    return [" ".join(part.split()) for part in (inspect.getdoc(module) or "").split("\n\n")[1:]]


def _spark_only() -> list[str]:
    names = ", ".join(code(name) for name in sorted(spark_only.FUNCTIONS))
    return [
        "## On the Spark runtime",
        "There queries may also use what Spark computes itself, in front of the matcher: the functions below, lambdas "
        "(`exists(tags, tag -> tag LIKE 'x%')`), bitwise operators, `extract(YEAR FROM t)`, `position('a' IN s)`, named "
        "arguments, collations, row values, types that are not listed here, and functions of the session's catalog that "
        "the operator allowed. Spark is asked when such a query is compiled; without Spark it can be registered "
        "unverified. The rules are in [semantics.md](semantics.md#what-spark-computes).",
        names,
    ]


def _refusals() -> list[str]:
    rows = [(code(form.form), form.reason.message, form.reason.instead) for form in supported.REFUSED]
    reasons: dict[refused.Refusal, list[str]] = {}
    for name, reason in refused.FUNCTIONS.items():
        reasons.setdefault(reason, []).append(name)
    functions = [
        (", ".join(map(code, names)), reason.message, reason.instead) for reason, names in reasons.items()
    ]
    return [
        "These are understood and refused by name.",
        table(("form", "why", "instead"), rows),
        "The same for functions:",
        table(("functions", "why", "instead"), functions),
    ]


def capacity_page() -> str:
    """The page on capacity, with its tables and commands made anew."""
    text = (DOCS / "capacity.md").read_text()
    for name, made in capacity_blocks.BLOCKS.items():
        begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->\n"
        head, _, rest = text.partition(begin)
        _, found, tail = rest.partition(end)
        if not found:
            raise ValueError(f"docs/capacity.md has no lines {begin.strip()} and {end.strip()}")
        text = f"{head}{begin}{made()}\n{end}{tail}"
    return text


PAGES: dict[str, Callable[[], str]] = {"sql.md": sql_page, "capacity.md": capacity_page}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or with --check say which of them are out of date."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.docs", description="Write the generated pages of docs/."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    check = parser.parse_args(arguments).check
    stale = 0
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        if check:
            stale += 1
            diff = difflib.unified_diff(
                old.splitlines(), text.splitlines(), f"docs/{name}", "as it should be", n=0
            )
            print(
                "\n".join([*list(diff)[:20], f"docs/{name} is out of date: run make docs"]), file=sys.stderr
            )
        else:
            path.write_text(text)
            print(f"wrote docs/{name}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
