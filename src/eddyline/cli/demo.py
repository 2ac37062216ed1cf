"""`eddyline demo`: a short tour on generated quotes, from queries to matches."""

from __future__ import annotations

import random
from typing import Annotated, Final

import pyarrow as pa
import typer

from eddyline.cli.findings import picture
from eddyline.cli.output import Output, print_json
from eddyline.compile import Compiler
from eddyline.errors import QueryError
from eddyline.model.catalog import Stream
from eddyline.model.matches import Matches
from eddyline.model.query import Query
from eddyline.normalize import explain
from eddyline.queryset import QuerySet
from eddyline.sql.render import render

QUOTES: Final = Stream(
    "quotes",
    pa.schema(
        [("symbol", pa.string()), ("price", pa.float64()), ("volume", pa.int64()), ("venue", pa.string())]
    ),
)
QUERIES: Final = {
    "cheap": "SELECT symbol, price FROM quotes WHERE price < 10",
    "acme": "SELECT * FROM quotes WHERE symbol = 'ACME' AND NOT (price < 40 OR price > 60)",
    "big": "SELECT symbol FROM quotes WHERE price * volume > 50000",
    "abroad": "SELECT * FROM quotes WHERE venue NOT IN ('XNYS', 'XNAS')",
    "no-venue": "SELECT * FROM quotes WHERE venue IS NULL",
    "a-names": "SELECT symbol FROM quotes WHERE lower(symbol) LIKE 'a%' AND volume >= 500",
}
BROKEN: Final = Query("oops", "SELECT symbol FROM quotes WHERE prise < 10")
_SYMBOLS: Final = ("ACME", "AIRO", "BOLT", "CRUX", "INIT", "ZETA")
_VENUES: Final = ("XNYS", "XNAS", "XLON", None)
_SHOWN: Final = 8


def demo(
    rows: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of generated quotes.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Another seed gives other quotes.")] = 7,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Take a short tour on generated stock quotes.

    \b
    Examples:
      eddyline demo
      eddyline demo --rows 100 --seed 3
    """
    batch = quotes(rows, seed)
    matches = QuerySet.build(QUERIES, streams=[QUOTES]).match(batch)
    if as_json:
        print_json({"rows": rows, "queries": QUERIES, "counts": matches.counts()})
        return
    output = Output()
    _show_queries(output)
    _show_broken(output)
    _show_normal_form(output)
    _show_matches(output, batch, matches)


def quotes(rows: int, seed: int) -> pa.RecordBatch:
    """Generated quotes; every tenth or so has no venue."""
    dice = random.Random(seed)
    columns = {
        "symbol": [dice.choice(_SYMBOLS) for _ in range(rows)],
        "price": [round(dice.lognormvariate(3.3, 0.8), 2) for _ in range(rows)],
        "volume": [dice.randrange(1, 30) * 100 for _ in range(rows)],
        "venue": [dice.choices(_VENUES, (4, 3, 2, 1))[0] for _ in range(rows)],
    }
    return pa.RecordBatch.from_pydict(columns, schema=QUOTES.schema)


def _show_queries(output: Output) -> None:
    output.line(f"1. {len(QUERIES)} queries stand over a stream of quotes", "bold")
    columns = ", ".join(f"{name} {kind}" for name, kind in QUOTES.types.items())
    output.paragraph(f"The stream has the columns {columns}.")
    output.table(("id", "query"), list(QUERIES.items()))


def _show_broken(output: Output) -> None:
    output.heading("2. A query with a mistake is refused, and the others stay")
    try:
        Compiler([QUOTES]).compile(BROKEN)
    except QueryError as error:
        output.line(f'query "{error.query}": {error.message}', "red")
        for line in picture(error.sql, error.span, output.width - 10):
            output.line(line)
        output.line(f"hint: {error.hint}")


def _show_normal_form(output: Output) -> None:
    output.heading('3. Each query becomes conditions of the form "subject in a set of values"')
    normal = Compiler([QUOTES]).compile(Query("acme", QUERIES["acme"]))
    output.line("acme")
    output.line(explain(normal, render))
    output.paragraph('"eddyline query explain" shows every step of the way.')


def _show_matches(output: Output, batch: pa.RecordBatch, matches: Matches) -> None:
    output.heading(f"4. A batch of {batch.num_rows} quotes arrives")
    lists = matches.query_lists().to_pylist()
    rows = [
        (
            row["symbol"],
            f"{row['price']:.2f}",
            str(row["volume"]),
            row["venue"] or "NULL",
            ", ".join(found) or "-",
        )
        for row, found in zip(batch.slice(0, _SHOWN).to_pylist(), lists, strict=False)
    ]
    output.table(("symbol", "price", "volume", "venue", "matches"), rows, right=(1, 2))
    if batch.num_rows > _SHOWN:
        output.line(f"and {batch.num_rows - _SHOWN} more. All of them together:")
    output.table(("id", "matches"), [(id, str(count)) for id, count in matches.counts().items()], right=(1,))
    output.paragraph(
        "A NULL venue is neither in a list nor outside of it, so abroad leaves those rows out. "
        "All queries were evaluated together: docs/matching.md says how."
    )
