"""The command `eddyline demo`: its options, and what it says at the end."""

from __future__ import annotations

import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eddyline.cli.options import AsJson, Runtime
from eddyline.cli.output.terminal import Exit, Printer, note, print_json
from eddyline.errors import FileError

if TYPE_CHECKING:
    from eddyline.cli.demo.embedded.view import LineView, Nothing, ScreenView

PICTURE: Final = "demo.svg"


def demo(
    runtime: Annotated[
        Runtime | None,
        typer.Option(help="spark: a pipeline on Structured Streaming; embedded: inside of this process."),
    ] = None,
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
    the tuples flow. Everything stays in a folder, which is named at the end: registry, results, a picture.

    On Spark, which is used where it is installed, quotes arrive as files, and the queries are changed by this very
    command in other processes. At the end all results are read back and compared with what there should be.
    With --runtime embedded the matches are always the same for one seed, time and number of queries.

    \b
    Examples:
      eddyline demo
      eddyline demo --runtime embedded --seconds 10 --queries 5000 --seed 3
      eddyline demo --out demo --json
    """
    if runtime is None:
        runtime = Runtime.SPARK if _has_spark() else Runtime.EMBEDDED
        if runtime is Runtime.EMBEDDED:
            note(
                "Spark is not installed: the embedded demo runs; pip install 'eddyline[spark,java]' for the other"
            )
    folder, output = _folder(out), Printer()
    if runtime is Runtime.SPARK:
        _on_spark(seconds, queries, seed, folder, output, as_json=as_json)
    else:
        _embedded(seconds, queries, seed, folder, output, as_json=as_json)


def _has_spark() -> bool:
    try:
        version("pyspark")
    except PackageNotFoundError:
        return False
    return True


def _on_spark(seconds: int, queries: int, seed: int, folder: Path, output: Printer, *, as_json: bool) -> None:
    from eddyline.cli.demo.pipeline.picture import picture
    from eddyline.cli.demo.pipeline.plan import PipelineDemoPlan
    from eddyline.cli.demo.pipeline.run import run
    from eddyline.cli.demo.pipeline.telling import tell
    from eddyline.cli.run.view import View

    plan = PipelineDemoPlan(seconds, queries, seed, folder)
    shown = Printer(errors=True) if as_json else output
    sinks = {"results": "exactly once", "newsroom": "exactly once"}
    shown.line(f"starting Spark; everything will be in {folder}")
    outcome = run(plan, View("market", output=shown, sinks=sinks, footer=f"everything is in {folder}"))
    (folder / PICTURE).write_text(picture(outcome), encoding="utf-8")
    if as_json:
        print_json(outcome.as_json())
    else:
        tell(outcome, output, PICTURE)
    if not outcome.verdict.is_exact:
        raise typer.Exit(Exit.FINDINGS)


def _embedded(seconds: int, queries: int, seed: int, folder: Path, output: Printer, *, as_json: bool) -> None:
    from eddyline.cli.demo.embedded.picture import picture
    from eddyline.cli.demo.embedded.run import DemoPlan, run
    from eddyline.cli.demo.embedded.telling import tell

    plan = DemoPlan(seconds, queries, seed, folder)
    with _view(output, as_json=as_json) as watch:
        record = run(plan, watch)
    (folder / PICTURE).write_text(picture(record), encoding="utf-8")
    if as_json:
        print_json(record.as_json())
    else:
        tell(record, output, PICTURE)


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


def _view(output: Printer, *, as_json: bool) -> ScreenView | LineView | Nothing:
    from eddyline.cli.demo.embedded.view import LineView, Nothing, ScreenView

    if as_json:
        return Nothing()
    return ScreenView(output.console) if output.is_terminal else LineView(output)
