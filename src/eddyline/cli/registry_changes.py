"""A change of a registry as commands make it: checked at the door, every refusal shown at its place, then the sum."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eddyline.admission import Admission, OverBudget
from eddyline.cli.findings import ERROR, FAILURE, NOTE, Finding
from eddyline.cli.output import Exit, Output, print_json
from eddyline.cli.query_edits import Edits
from eddyline.cli.schemas import read_source, streams_of
from eddyline.compile import Compiler
from eddyline.errors import QueryError, RefusedError, RegistryError
from eddyline.model.catalog import Stream
from eddyline.model.query import Query
from eddyline.registry import Change, Check, Registry, Verdict

LONG_WORK = 5_000  # queries from which on a bar shows how far it is
STEP = 500  # queries between two moves of the bar


@dataclass(frozen=True, slots=True)
class Declared:
    """What queries are checked against: the streams of a registry, and those that a command declares."""

    streams: list[Stream]
    compiler: Compiler


def declare(
    registry: Registry,
    schemas: Sequence[str],
    queries: Sequence[Query],
    *,
    stream: str | None,
    time_zone: str,
    redeclare: bool = False,
) -> Declared:
    """Read `--schema`; a stream that is declared with other columns changes only where that is asked for."""
    present = {declared.name.lower(): declared for declared in registry.streams()}
    if stream is not None and not schemas:
        raise typer.BadParameter("--stream gives a lone schema its name, and there is no --schema")
    declared = streams_of([read_source(option) for option in schemas], queries, name=stream)
    for one in declared:
        if not redeclare and present.get(one.name.lower(), one) != one:
            raise RegistryError(
                f'the stream "{one.name}" is declared with other columns',
                hint="leave --schema out to use those, or say --redeclare to change them for all queries",
            )
    known = present | {one.name.lower(): one for one in declared}
    if not known:
        raise typer.BadParameter("the registry has no stream yet: say what its columns are with --schema")
    return Declared(declared, Compiler(known.values(), time_zone=time_zone))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did to a registry; `change` is None where nothing was done."""

    where: str
    version: int
    change: Change | None
    findings: Sequence[Finding]

    @property
    def exit_code(self) -> Exit:
        """Findings and failures have codes of their own."""
        severities = {finding.severity for finding in self.findings}
        if FAILURE in severities:
            return Exit.FAILURE
        return Exit.FINDINGS if ERROR in severities else Exit.FINE

    def as_json(self) -> dict[str, object]:
        """For machines: counts, and the findings."""
        done = self.change or Change(self.version)
        refused = {
            (f.file, f.line, f.query)
            for f in self.findings
            if f.severity == ERROR
            and (f.query, f.line) != (None, None)  # else it is the file's, as being empty
        }
        return {
            "registry": self.where,
            "version": self.version,
            "added": len(done.added),
            "changed": len(done.changed),
            "removed": len(done.removed),
            "unchanged": len(done.unchanged),
            "refused": len(refused),
            "spark_only": list(done.spark_only),
            "findings": [finding.as_json() for finding in self.findings],
        }

    def show(self, output: Output) -> None:
        """For people: the findings, then the sum."""
        for finding in self.findings:
            finding.show(output)
            output.line()
        counts = self.as_json()
        parts = [
            f"{counts[name]:,} {name}"
            for name in ("added", "changed", "removed", "unchanged", "refused")
            if counts[name]
        ]
        notes = sum(finding.severity == NOTE for finding in self.findings)
        parts += [f"{notes:,} {'note' if notes == 1 else 'notes'}"] if notes else []
        done = ", ".join(parts) or "nothing changed"
        style = "green" if self.exit_code is Exit.FINE else "bold"
        output.line(f"{self.where}, version {self.version}: {done}", style)

    def tell(self, *, as_json: bool) -> None:
        """Print it, and end the command with its exit code."""
        if as_json:
            print_json(self.as_json())
        else:
            self.show(Output())
        raise typer.Exit(self.exit_code)


def make(
    registry: Registry,
    edits: Edits,
    at: Declared,
    *,
    author: str | None,
    reason: str,
    base: int | None = None,
    all_or_nothing: bool = False,
    over_budget: OverBudget | None = None,
) -> Outcome:
    """Put the queries of files into a registry: those that are fine, or all or none of them."""
    looked = Admission(over_budget=over_budget).of(registry, edits.edits, at.compiler)
    with _progress(looked, len(edits.edits)) as check:
        if all_or_nothing and edits.findings:
            _look(edits, check)
            return Outcome(registry.where, registry.version, None, edits.findings)
        try:
            change = registry.change(
                edits.edits,
                streams=at.streams,
                author=author,
                reason=reason,
                check=check,
                all_or_nothing=all_or_nothing,
                base=base,
            )
        except RefusedError as refused:
            for problem in refused.problems:
                edits.refuse(problem)
            return Outcome(registry.where, registry.version, None, edits.findings)
    for problem in change.refused:
        edits.refuse(problem)
    for id, text in change.notes.items():
        edits.note(id, text)
    return Outcome(registry.where, change.version, change, edits.findings)


def _look(edits: Edits, check: Check) -> None:
    """Find what is wrong with queries that will not be entered."""
    for edit in edits.edits:
        try:
            check(Query(edit.id, edit.sql))
        except QueryError as error:
            error.query = edit.id
            edits.refuse(error)


@contextmanager
def _progress(check: Check, total: int) -> Iterator[Check]:
    """A check that moves a bar on a terminal; standard output stays for results."""
    if total < LONG_WORK or not sys.stderr.isatty():
        yield check
        return
    columns = (TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task, seen = bar.add_task("", total=total), 0

        def checked(query: Query) -> Verdict:
            nonlocal seen
            seen += 1
            if seen % STEP == 0:
                bar.update(task, completed=seen)
            return check(query)

        yield checked
