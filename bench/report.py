"""Results as tables: on the terminal, all of them in docs/benchmarks.md, a few in the README (`python -m bench report`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.bars import bar_of
from bench.record import Record, TableName

ROOT: Final = Path(__file__).parents[1]
README: Final = ROOT / "README.md"
PAGE: Final = ROOT / "docs" / "benchmarks.md"
BEGIN: Final = "<!-- bench:begin -->"
END: Final = "<!-- bench:end -->"
MARKERS: Final[dict[TableName, tuple[str, str]]] = {
    "embedded": (BEGIN, END),
    "joins": ("<!-- bench-joins:begin -->", "<!-- bench-joins:end -->"),
    "relations": ("<!-- bench-relations:begin -->", "<!-- bench-relations:end -->"),
    "spark": ("<!-- bench-spark:begin -->", "<!-- bench-spark:end -->"),
    "pipelines": ("<!-- bench-pipelines:begin -->", "<!-- bench-pipelines:end -->"),
}
HEAD: Final = ("workload", "queries", "rows", "metric", "ours", "peer", "peer's", "ratio", "bar")
_LEFT: Final = ("workload", "metric", "peer")


@dataclass(frozen=True)
class Headline:
    """A line that the README shows: what is evaluated and beside whom, told in words."""

    text: str
    beside: str
    workload: str
    queries: int
    metric: str
    peer: str

    def tells(self, record: Record) -> bool:
        """Whether the line is this one; of several sizes the last counts."""
        own = (self.workload, self.queries, self.metric, self.peer)
        return (record.workload, record.queries, record.metric, record.peer) == own


HEADLINES: Final = (
    Headline("alerts: a symbol, a bound on price and volume", "Polars", "alerts", 10_000, "call", "polars"),
    Headline("the same rules", "DuckDB", "alerts", 10_000, "call", "duckdb"),
    Headline("the same, a million of them", "DuckDB", "alerts", 1_000_000, "call", "duckdb"),
    Headline("ranges over ten columns", "Polars", "paper", 10_000, "call", "polars"),
    Headline("AND and OR, nested", "Polars", "boolean", 10_000, "call", "polars"),
    Headline("the public Sigma detection rules", "DuckDB", "sigma", 3_755, "call", "duckdb"),
    Headline(
        "matches counted on Spark", "a join with a table of rules", "paper", 10_000, "counts", "rules-join"
    ),
    Headline(
        "matches of every tuple on Spark",
        "a Boolean column for each rule",
        "paper",
        1_000,
        "numbers",
        "boolean-columns",
    ),
)


def figure(value: float) -> str:
    """Three digits and a unit of thousands.

    >>> figure(31_234_567), figure(12_400), figure(0.1234), figure(950), figure(1_000_000)
    ('31.2 M', '12.4 k', '0.123', '950', '1 M')
    """
    for least, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= least * 0.9995:
            return f"{value / least:.3g}{unit}" if value < 999.5 * least else f"{value / least:.0f}{unit}"
    return f"{value:.3g}"


def _ratio(record: Record) -> str:
    return (f"{record.ratio:,.0f}" if record.ratio >= 100 else f"{record.ratio:.3g}") + "x"


def cells(record: Record) -> tuple[str, ...]:
    """One line of the table, without colours."""
    r, bar = record, bar_of(record)
    held = "" if bar is None else f"{bar}{'' if bar.met(r) else ' !'}"
    different = "" if r.equal else " (results differ)"
    sizes = (f"{r.queries:,}", figure(r.rows) if r.rows else "")
    return (
        r.workload,
        *sizes,
        r.metric,
        figure(r.ours),
        r.peer + different,
        figure(r.peer_value),
        _ratio(r),
        held,
    )


def show(records: list[Record], console: Console, *, quick: bool = False) -> None:
    """Print the table; `!` marks a bar that is not reached, which says little about small batches."""
    table = Table(pad_edge=False, box=None)
    for name in HEAD:
        table.add_column(
            name, justify="left" if name in _LEFT else "right", no_wrap=name not in ("workload", "peer")
        )
    for record in records:
        bar = bar_of(record)
        bad = not record.equal or (bar is not None and not bar.met(record))
        table.add_row(*cells(record), style="red" if bad else None)
    console.print(table)
    console.print(
        "rates are rows a second (single: calls), start and p99 are seconds, bytes are per query, monitor is a share "
        "of the time; marginal: per added row of a large batch; adaptive: the default order against a choice that is "
        "forced; !: bar not reached"
        + (" (a quick run: bars are meant for batches of full size)" if quick else ""),
        style="dim",
    )


def markdown(records: list[Record]) -> str:
    """The same table for a page."""
    rules = ["---" if name in _LEFT else "---:" for name in HEAD]
    rows = [list(HEAD), rules, *(list(cells(record)) for record in records)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def insert(text: str, table: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with the table between its markers."""
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no lines {begin} and {end}")
    return f"{head}{begin}\n{table}\n{end}{tail}"


def highlights(records: list[Record]) -> str:
    """The table of the README, or an empty text if a line of it was not measured."""
    rows = [
        ["queries", "", "rows per second", "beside", "times as fast"],
        ["---:", "---", "---:", "---", "---:"],
    ]
    for headline in HEADLINES:
        told = [record for record in records if headline.tells(record)]
        if not told:
            return ""
        line = told[-1]
        rows.append([f"{line.queries:,}", headline.text, figure(line.ours), headline.beside, _ratio(line)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def write(records: list[Record], page: Path = PAGE, readme: Path = README) -> None:
    """Rewrite the tables of both pages; one of which lines are missing stays as it is."""
    text = page.read_text(encoding="utf-8")
    for name, markers in MARKERS.items():
        lines = [record for record in records if record.table == name]
        if lines:
            text = insert(text, markdown(lines), *markers)
    page.write_text(text, encoding="utf-8")
    few = highlights(records)
    if few:
        readme.write_text(insert(readme.read_text(encoding="utf-8"), few), encoding="utf-8")
