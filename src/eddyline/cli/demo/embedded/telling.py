"""What an embedded run has done, told at its end."""

from __future__ import annotations

from eddyline.cli.demo.embedded.run import DemoRecord
from eddyline.cli.output.charts import bars, chart
from eddyline.cli.output.terminal import Printer


def tell(record: DemoRecord, output: Printer, picture: str) -> None:
    """What there was, what is there now, and what to try with it."""
    output.heading(
        f"{record.tuples:,} tuples in {record.taken:.1f} s met {record.queries:,} queries, "
        f"in {record.version} versions"
    )
    output.paragraph(
        f"{record.matched:,} tuples matched, {record.matches:,} matches, {record.delivered:,} rows delivered; "
        f"matching and writing took {record.pushing:.1f} s, that is {record.tuples / record.pushing:,.0f} tuples/s. "
        "Every match is accounted for: the ledger was checked."
    )
    output.heading("matches by kind of query")
    output.table(("kind", "matches", ""), bars(record.families.most_common(), 32), right=(1,))
    output.line(f"over time  {chart([beat.matches.total() for beat in record.beats], 64)}")
    output.heading("busiest queries")
    output.table(("query", "matches", ""), bars(record.busiest, 32), right=(1,))
    output.heading("what is there now")
    where = record.plan.folder
    output.table(
        ("file", "content"),
        [
            (str(where / picture), "the run as a picture"),
            (str(where / "registry.db"), "the registry: queries of every version, who changed what and why"),
            (str(where / "deliveries"), "what was delivered, as Arrow files"),
            (str(where / "quotes.parquet"), "the last batch of quotes"),
        ],
    )
    output.heading("try")
    for line in _commands(record, str(where)):
        output.line(f"  {line}")


def _commands(record: DemoRecord, where: str) -> list[str]:
    registry, busiest = f"--registry {where}/registry.db", record.busiest[0][0]
    return [
        f"eddyline query history {registry}",
        f"eddyline query show {busiest} {registry}",
        f"eddyline query why {busiest} --rows {where}/quotes.parquet --summary {registry}",
        f"eddyline match {where}/quotes.parquet {registry} --output counts",
    ]
