"""The command `eddyline demo`: its options, and what it says at the end."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eddyline.cli.options import AsJson
from eddyline.cli.output import Output, print_json
from eddyline.errors import FileError

if TYPE_CHECKING:
    from eddyline.cli.demo.run import Record
    from eddyline.cli.demo.view import Lines, Nothing, Screen

PICTURE: Final = "demo.svg"


def demo(
    seconds: Annotated[int, typer.Option(min=1, max=3_600, help="How long the market flows.")] = 20,
    queries: Annotated[int, typer.Option(min=1, max=20_000, help="Queries that stand at the start.")] = 1_000,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where to leave everything; a new temporary folder if not given."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Another seed gives another market and other queries.")
    ] = 7,
    as_json: AsJson = False,
) -> None:
    """Watch a thousand standing queries on a generated market.

    Prices walk, volumes burst, news come in; queries are added, changed, put in shadow, removed and rolled back while
    the tuples flow. The registry, all deliveries, the last quotes and a picture stay in a folder, which is named at
    the end. For one seed, time and number of queries the matches are always the same.

    \b
    Examples:
      eddyline demo
      eddyline demo --seconds 10 --queries 5000 --seed 3
      eddyline demo --out demo --json
    """
    from eddyline.cli.demo.picture import picture
    from eddyline.cli.demo.run import Plan, run

    plan = Plan(seconds, queries, seed, _folder(out))
    output = Output()
    with _view(output, as_json=as_json) as watch:
        record = run(plan, watch)
    (plan.folder / PICTURE).write_text(picture(record), encoding="utf-8")
    if as_json:
        print_json(record.as_json())
    else:
        _tell(record, output)


def _folder(out: Path | None) -> Path:
    """A folder with nothing in it: deliveries of another run would be taken for ours."""
    if out is None:
        return Path(tempfile.mkdtemp(prefix="eddyline-demo-"))
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise FileError(
                f'the folder "{out}" is not empty', hint="name one that is empty or not there yet"
            )
    except OSError as error:
        raise FileError(f'"{out}" cannot take the demo: {error.strerror}') from None
    return out


def _view(output: Output, *, as_json: bool) -> Screen | Lines | Nothing:
    from eddyline.cli.demo.view import Lines, Nothing, Screen

    if as_json:
        return Nothing()
    return Screen(output.console) if output.is_terminal else Lines(output)


def _tell(record: Record, output: Output) -> None:
    from eddyline.cli.demo.view import bars, chart

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
            (str(where / PICTURE), "the run as a picture"),
            (str(where / "registry.db"), "the registry: queries of every version, who changed what and why"),
            (str(where / "deliveries"), "what was delivered, as Arrow files"),
            (str(where / "quotes.parquet"), "the last batch of quotes"),
        ],
    )
    output.heading("try")
    for line in _commands(record, str(where)):
        output.line(f"  {line}")


def _commands(record: Record, where: str) -> list[str]:
    registry, busiest = f"--registry {where}/registry.db", record.busiest[0][0]
    return [
        f"eddyline query history {registry}",
        f"eddyline query show {busiest} {registry}",
        f"eddyline query why {busiest} --rows {where}/quotes.parquet --summary {registry}",
        f"eddyline match {where}/quotes.parquet {registry} --output counts",
    ]
