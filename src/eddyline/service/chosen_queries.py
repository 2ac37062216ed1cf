"""Which queries a job runs: those of files, those of a registry, or both, each problem kept as a finding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from eddyline.errors import EddylineError, QueryError
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.names import unknown_query
from eddyline.model.query import Query
from eddyline.service.files.event_times import stated_window
from eddyline.service.files.queries import FileEntry, read_queries
from eddyline.service.findings import ERROR, NOTE, Finding
from eddyline.service.registries import open_registry, usual_registry


@dataclass
class ChosenQueries:
    """Queries in order, those of them that are only counted, the streams that a registry declares, and findings.

    `join_window` is that of joins that name none: as it was stated, else the registry's.
    """

    entries: list[FileEntry] = field(default_factory=list)
    shadow: set[str] = field(default_factory=set)
    streams: list[Stream] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    join_window: Length | None = None

    @property
    def queries(self) -> list[Query]:
        """The queries alone."""
        return [entry.query for entry in self.entries]

    def streams_besides(self, read: Iterable[Stream]) -> list[Stream]:
        """The streams that a registry declares, without those that are read."""
        names = {stream.name.lower() for stream in read}
        return [stream for stream in self.streams if stream.name.lower() not in names]

    def refused(self, problems: Iterable[QueryError]) -> None:
        """Note queries that were refused, where they stand."""
        known = {entry.query.id: entry for entry in self.entries}
        for problem in problems:
            entry = known.get(problem.query or "")
            if entry is not None:
                self.findings.append(entry.finding(ERROR, problem))
            else:
                self.findings.append(Finding(ERROR, problem.message, "queries", hint=problem.hint))


def choose(
    files: Sequence[str] | None,
    registry: str | None,
    *,
    only: str | None = None,
    on_spark: bool = False,
    join_window: str | None = None,
) -> ChosenQueries:
    """Read files and registry; `only` chooses one id, whatever its state, and refuses one that no query has.

    `on_spark`: also what only Spark can evaluate. `join_window` comes before the registry's.
    """
    chosen = ChosenQueries(join_window=stated_window(join_window))
    for file in files or ():
        found = read_queries(file)
        chosen.findings += found.problems
        chosen.entries += found.entries
    if registry is not None or not files:
        _take_registry(chosen, registry or usual_registry(), only, on_spark)
    _drop_repeated(chosen)
    if only is not None:
        _keep(chosen, only)
    return chosen


def _keep(chosen: ChosenQueries, only: str) -> None:
    kept = [entry for entry in chosen.entries if entry.query.id == only]
    left_out = [finding for finding in chosen.findings if finding.query == only and finding.severity == NOTE]
    if left_out and not kept:
        raise EddylineError(
            f'query "{only}" needs functions that only Spark has',
            hint="eddyline match --runtime spark evaluates it",
        )
    if not kept:
        raise unknown_query(only, (entry.query.id for entry in chosen.entries))
    chosen.entries = kept


def _take_registry(chosen: ChosenQueries, where: str, only: str | None, on_spark: bool) -> None:
    with open_registry(where) as registry:
        chosen.streams = registry.streams()
        if chosen.join_window is None:
            chosen.join_window = registry.join_window()
        for entry in registry.entries():
            if entry.spark_only and not on_spark:
                text = "needs functions that only Spark has, and is left out"
                chosen.findings.append(Finding(NOTE, text, where, query=entry.id))
            elif entry.state != "disabled" or entry.id == only:
                said = {"state": entry.state, "owner": entry.owner, "destination": entry.destination}
                chosen.entries.append(FileEntry(entry.query, where, 1, entry.sql, attributes=said))
                if entry.state == "shadow":
                    chosen.shadow.add(entry.id)


def _drop_repeated(chosen: ChosenQueries) -> None:
    first: dict[str, FileEntry] = {}
    for entry in chosen.entries:
        known = first.setdefault(entry.query.id, entry)
        if known is not entry:
            message = f"the id is used before, at {known.file}:{known.line}; this query is left out"
            hint = "give one of the two another id"
            chosen.findings.append(
                Finding(ERROR, message, entry.file, entry.line, query=entry.query.id, hint=hint)
            )
    chosen.entries = list(first.values())
