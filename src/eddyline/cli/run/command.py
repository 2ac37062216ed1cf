"""`eddyline run PIPELINE.toml`: standing queries over streams, on Spark."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eddyline.cli.options import AsJson
from eddyline.cli.output.terminal import Exit, Printer, counted, counted_rows, note, print_json
from eddyline.cli.run.stopping import Stopping

if TYPE_CHECKING:
    from types import FrameType

    from eddyline.cli.run.view import View
    from eddyline.runtime.spark.base.settings import PipelineSettings
    from eddyline.runtime.spark.pipeline.plan import PipelinePlan, SourcePlan
    from eddyline.runtime.spark.pipeline.running import RunningPipeline
    from eddyline.runtime.spark.watching.totals import PipelineTotals

LOOK: Final = 0.2  # seconds between two looks at the reports
SHOWN: Final = 20  # queries that a plan names


def run(
    file: Annotated[
        str, typer.Argument(metavar="PIPELINE.toml", help="The settings: registry, sources, sinks.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, print the plan, change nothing.")
    ] = False,
    once: Annotated[
        bool, typer.Option("--available-now", "--once", help="Take what is there, then end.")
    ] = False,
    prometheus: Annotated[
        str | None,
        typer.Option(
            metavar="[ADDRESS:]PORT",
            help="Serve metrics and health here; a port alone listens on 127.0.0.1.",
        ),
    ] = None,
    no_view: Annotated[
        bool, typer.Option("--no-view", help="A line a batch instead of panels, also on a terminal.")
    ] = False,
    log: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a log of JSON lines; - is standard error.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a pipeline: sources in, all registered queries evaluated together, results out.

    Queries come and go while it runs: a change in the registry is in force from the next batch on. Ctrl-C or SIGTERM
    stops after the batch that runs, a second one at once; started again it goes on where it was.

    The exit code is 0 at the end of the data and after a stop, 3 when the pipeline failed, 4 when Spark's Java has
    ended, 5 when the batch, or closing after it, did not end within stop_within seconds, 130 when it was stopped at
    once. With --dry-run it is 1 when a query would be left out or has no sink.

    \b
    Examples:
      eddyline run market.toml --dry-run
      eddyline run market.toml
      eddyline run market.toml --available-now --json
    """
    from eddyline.runtime.spark.base.settings import AVAILABLE_NOW, read_settings

    settings = read_settings(file)
    if once:
        settings = replace(settings, trigger=AVAILABLE_NOW)
    if prometheus is not None:
        settings = replace(settings, prometheus=_listening(prometheus))
    if dry_run:
        _plan(settings, as_json)
        return
    with _logged(settings, log):
        _run(settings, as_json=as_json, no_view=no_view)


def _listening(given: str) -> str:
    from eddyline.runtime.spark.base.addresses import ListenAddress

    try:
        return str(ListenAddress.of(given))
    except ValueError as error:
        raise typer.BadParameter(f"--prometheus: {error}") from None


def _plan(settings: PipelineSettings, as_json: bool) -> None:
    from eddyline.runtime.spark.pipeline.pipeline import Pipeline

    plan = Pipeline(settings).plan()
    if as_json:
        print_json(plan.as_json())
    else:
        _show_plan(plan, Printer())
    raise typer.Exit(Exit.FINDINGS if plan.has_findings else Exit.FINE)


def _show_plan(plan: PipelinePlan, output: Printer) -> None:
    """Everything that would happen."""
    queries = counted(plan.queries, "query", "queries")
    output.line(f'pipeline "{plan.name}": {queries} of version {plan.version} of {plan.registry}', "bold")
    state = "goes on from" if plan.goes_on else "starts with a new"
    output.line(f"  {state} checkpoint {plan.checkpoint}")
    output.line(f"  trigger {plan.trigger}, time zone {plan.time_zone}, dead letters to {plan.dead_letters}")
    for name, value in plan.session.items():
        output.line(f"  {name} = {value}")
    for source in plan.sources:
        _show_source(source, output)
    output.heading("sinks")
    rows = [
        (sink.name + (" (default)" if sink.default else ""), sink.format, sink.guarantee, sink.path or "")
        for sink in plan.sinks
    ]
    output.table(("name", "format", "guarantee", "where"), rows)
    output.heading("compiled")
    output.line(plan.compiled)
    _show_findings("left out", plan.left_out, output)
    _show_findings("without a sink: results go to the dead letters", plan.without_sink, output)


def _show_source(source: SourcePlan, output: Printer) -> None:
    output.heading(f'source "{source.name}"')
    where = f" {source.path}" if source.path else ""
    output.line(f"  {source.format}{where}, as stream {source.stream}, from batch {source.next_batch} on")
    for name, value in source.options.items():
        output.line(f"  {name} = {value}")
    shadows = f", {source.shadows:,} of them in shadow" if source.shadows else ""
    output.line(
        f"  {counted(source.queries, 'query', 'queries')}{shadows}; a tuple is known by {source.identity}"
    )
    sent = [f"{name} {source.columns[name]}" for name in source.sent]
    output.line(f"  {len(sent)} of {len(source.columns)} columns are needed: {', '.join(sent)}")
    output.line("  Spark's plan of the rows, and of a batch:")
    for line in source.spark_plan.splitlines():
        if line.strip():
            output.line(f"    {line}")


def _show_findings(title: str, found: Mapping[str, str], output: Printer) -> None:
    if not found:
        return
    output.heading(f"{counted(len(found), 'query', 'queries')} {title}")
    for id, reason in list(found.items())[:SHOWN]:
        output.line(f"  {id}: {reason}")
    if len(found) > SHOWN:
        output.line(f"  and {len(found) - SHOWN:,} more")


def _run(settings: PipelineSettings, *, as_json: bool, no_view: bool) -> None:
    from eddyline.runtime.spark.pipeline.pipeline import Pipeline

    with ExitStack() as stack:
        told = stack.enter_context(_Told())
        # As the first process of a container, one that says nothing about SIGTERM does not get it.
        stack.enter_context(_handled_by(signal.default_int_handler))
        note(_starting(settings))
        running = Pipeline(settings).start()
        stopping = stack.enter_context(Stopping(running.ask_to_stop, settings.stop_within, told.tell))
        # Spark has put a handler of its own in its place
        stack.enter_context(_handled_by(stopping.signalled))
        stack.callback(running.stop)
        for id, reason in running.problems.items():
            note(f'query "{id}" is left out: {reason}')
        if running.endpoint is not None:
            note(f"metrics at {running.endpoint.url}")
        if not as_json:
            told.view = stack.enter_context(_view(settings, no_view))
        totals = told.watch(running)
    if stopping.asked > 1:
        raise KeyboardInterrupt
    _end(running, totals, as_json)
    if stopping.is_cut_short:
        raise typer.Exit(Exit.BATCH_STOPPED)


def _starting(settings: PipelineSettings) -> str:
    from eddyline.runtime.spark.base.addresses import ListenAddress

    address = None if settings.prometheus is None else ListenAddress.of(settings.prometheus)
    if address is None or not address.port:  # any port that is free is told when it is known
        return "starting Spark"
    return f"starting Spark; health at {address.url('/healthz')}"


def _view(settings: PipelineSettings, no_view: bool) -> View:
    from eddyline.cli.run.view import View
    from eddyline.runtime.spark.sinks import guarantee_of

    return View(
        settings.name,
        output=_PlainPrinter() if no_view else Printer(),
        sinks={sink.name: guarantee_of(sink) for sink in settings.sinks},
        footer="Ctrl-C stops after the batch that runs",
    )


class _PlainPrinter(Printer):
    """Lines, also where a terminal reads along."""

    is_terminal = False


class _Told(logging.Handler):
    """Tells of batches and of warnings: a view, or, where there is none or not yet one, standard error."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.view: View | None = None
        # what py4j logs of a Java that has ended is pages, and told in a line
        self._others = logging.NullHandler()

    def __enter__(self) -> _Told:
        logging.getLogger().addHandler(self._others)
        logging.getLogger("eddyline").addHandler(self)
        return self

    def __exit__(self, *exception: object) -> None:
        logging.getLogger("eddyline").removeHandler(self)
        logging.getLogger().removeHandler(self._others)

    def emit(self, record: logging.LogRecord) -> None:
        """A warning."""
        self.tell(record.getMessage())

    def tell(self, text: str) -> None:
        """Something to know."""
        if self.view is None:
            note(text)
        else:
            self.view.tell(text)

    def watch(self, running: RunningPipeline) -> PipelineTotals:
        """Show batches until the end."""
        from eddyline.runtime.spark.watching.totals import PipelineTotals

        tail, totals, over = running.follow(), PipelineTotals(), False
        while not over:
            over = running.await_termination(LOOK)
            for report in tail.read():
                totals = totals.plus(report)
                if self.view is not None:
                    self.view.update(report)
        return totals


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Take a request to terminate as a Ctrl-C, and a Ctrl-C as one: Spark's own handler would cancel the batch that runs."""
    wanted = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(one, handler) for one in wanted]
    try:
        yield
    finally:
        for one, former in zip(wanted, before, strict=True):
            signal.signal(one, former)


@contextmanager
def _logged(settings: PipelineSettings, path: str | None) -> Iterator[None]:
    """Write a log, if one is wanted."""
    from eddyline.runtime.spark.base.secrets import secrets_in
    from eddyline.runtime.spark.watching.logs import structured

    if path is None:
        yield
        return
    hidden = {text for secret in secrets_in(settings) for text in secret.hidden()}
    with structured(None if path == "-" else path, secrets=hidden):
        yield


def _end(running: RunningPipeline, totals: PipelineTotals, as_json: bool) -> None:
    if as_json:
        print_json({**running.status, "totals": totals.to_json(), "left_out": running.problems})
        return
    files = totals.count("dropped_files")
    Printer().line(
        f"{counted(totals.count('batches'), 'batch', 'batches')}, {counted_rows(totals.count('rows'))}, "
        f"{counted(totals.count('matches'), 'match', 'matches')}, "
        f"{counted_rows(sum(totals.delivered.values()))} delivered, "
        f"{counted(totals.count('dropped_rows'), 'dead letter', 'dead letters')}"
        + (f", {counted(files, 'file', 'files')} set aside" if files else "")
    )
