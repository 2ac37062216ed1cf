"""Checks files of queries: every query compiled, every problem kept, nothing stops the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Final

from eddyline.admission.candidate import Candidate, candidate_of
from eddyline.admission.present import Present, RegisteredEntries
from eddyline.admission.redundant import UNCOMPARED, RedundancySearch, Redundant, is_compared
from eddyline.compile import Compiler, costly_patterns, needs_spark
from eddyline.errors import EddylineError, FileError, InternalError, QueryError, UsageError
from eddyline.functions.fold import fold
from eddyline.functions.java_regex import MOST_STEPS
from eddyline.model.expression import Call, Literal, externals_of, is_constant, walk
from eddyline.model.join import Normal, NormalJoin
from eddyline.model.names import check_id
from eddyline.model.predicate import ALWAYS, NEVER
from eddyline.model.query import BoundQuery, NormalQuery, Query
from eddyline.normalize import Contradiction, contradictions
from eddyline.registry import Put
from eddyline.runtime.spark.functions.asking import asking_spark
from eddyline.service.compiled_sets import CompiledSets
from eddyline.service.data_sources import check_zone
from eddyline.service.edits import beside
from eddyline.service.files.event_times import NO_OPTIONS, TimeOptions, stated_window
from eddyline.service.files.queries import FileEntry, QueryFile, read_queries
from eddyline.service.files.schemas import read_source, streams_of
from eddyline.service.findings import ERROR, FAILURE, NOTE, WARNING, Finding
from eddyline.service.registries import open_registry
from eddyline.sql.render import render


@dataclass(slots=True)
class Report:
    """What came out of one run."""

    files: list[str]
    queries: int = 0
    accepted: int = 0
    findings: list[Finding] = field(default_factory=list)

    def count(self, severity: str) -> int:
        """Number of findings of one severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def as_json(self) -> dict[str, object]:
        """For machines."""
        return {
            "files": self.files,
            "queries": self.queries,
            "accepted": self.accepted,
            "findings": [finding.as_json() for finding in self.findings],
        }


def check_files(
    paths: Sequence[str],
    schemas: Sequence[str],
    *,
    stream: str | None = None,
    times: TimeOptions = NO_OPTIONS,
    join_window: str | None = None,
    time_zone: str = "UTC",
    on_spark: bool = False,
    against: str | None = None,
) -> Report:
    """Check all queries of some files against schemas; `on_spark` asks Spark about functions that only it has.

    `against` is a registry: its streams and join window hold where none are stated, and queries that are the same as
    others there or in the files, or covered by others, are warned of.
    """
    check_zone(time_zone)
    if not schemas and against is None:
        raise UsageError(
            "say what the columns are with --schema, or which registry declares them with --against"
        )
    window = stated_window(join_window)
    sources = [read_source(option) for option in schemas]
    with (
        asking_spark(time_zone) if on_spark else nullcontext() as ask,
        open_registry(against) if against is not None else nullcontext() as registry,
    ):

        def compiler_for(queries: list[Query]) -> Compiler:
            streams = streams_of(sources, queries, name=stream, times=times) if sources else []
            stated = {each.name.lower() for each in streams}
            declared = [] if registry is None else registry.streams()
            streams = [*streams, *(each for each in declared if each.name.lower() not in stated)]
            taken = registry.join_window() if registry is not None and window is None else window
            return Compiler(streams, time_zone=time_zone, resolver=ask and ask(streams), join_window=taken)

        present = None
        if registry is not None and against is not None:
            present = RegisteredEntries(registry, CompiledSets(registry, against), for_change=False)
        return _check_files(paths, compiler_for, present)


def _check_files(
    paths: Sequence[str], compiler_for: Callable[[list[Query]], Compiler], present: Present | None
) -> Report:
    """`compiler_for` may look at the queries to name the streams; `present` is what they are compared with."""
    report = Report(list(paths))
    files: list[QueryFile] = []
    for path in paths:
        try:
            files.append(read_queries(path))
        except FileError as error:
            report.findings.append(Finding(FAILURE, error.message, path, hint=error.hint))
    entries = [entry for file in files for entry in file.entries]
    report.queries = len(entries)
    compiler = compiler_for([entry.query for entry in entries])
    first_uses: dict[str, FileEntry] = {}
    checked = [[(entry, _check(entry, compiler, first_uses)) for entry in file.entries] for file in files]
    accepted = [
        entry
        for file_checked in checked
        for entry, own in file_checked
        if not any(finding.severity in (ERROR, FAILURE) for finding in own)
    ]
    report.accepted = len(accepted)
    redundant = {} if present is None else _redundant(accepted, compiler, present)
    for file, file_checked in zip(files, checked, strict=True):
        found = list(file.problems)
        for entry, own in file_checked:
            texts = redundant.get(entry.query.id, Redundant()).texts
            found += own
            found += [Finding(WARNING, text, entry.file, entry.line, query=entry.query.id) for text in texts]
            if not texts and redundant.get(entry.query.id):
                found.append(Finding(NOTE, UNCOMPARED, entry.file, entry.line, query=entry.query.id))
        report.findings += sorted(found, key=lambda finding: finding.line or 0)
    return report


def _redundant(entries: Sequence[FileEntry], compiler: Compiler, present: Present) -> dict[str, Redundant]:
    """What the door of a registry would note, by id; what can never match by its normal form is warned of already."""
    candidates = [_candidate(entry, compiler) for entry in entries]
    compared = [each for each in candidates if is_compared(each) and not _is_never(each.normal)]
    ids = [entry.query.id for entry in entries]  # what is registered under these would be replaced
    return RedundancySearch(compared, present, compiler, leaving=ids).found()


def _candidate(entry: FileEntry, compiler: Compiler) -> Candidate:
    """A query of a file as it would ask to be let in; what stands beside it is looked at when it does."""
    try:
        put = Put(entry.query.id, entry.query.sql, **beside(entry.attributes))
    except EddylineError:
        put = Put(entry.query.id, entry.query.sql)
    asking = candidate_of(put, None)
    try:
        verdict, normal = compiler.examine(entry.query)
    except QueryError:
        return asking
    return replace(asking, normal=normal, entry=replace(asking.entry, digest=verdict.digest))


def _check(entry: FileEntry, compiler: Compiler, first_uses: dict[str, FileEntry]) -> list[Finding]:
    found: list[Finding] = []
    id = entry.query.id
    first = first_uses.setdefault(id, entry)
    if first is not entry:
        message = f"the id is used before, at {first.file}:{first.line}"
        found.append(
            Finding(ERROR, message, entry.file, entry.line, query=id, hint="give one of the two another id")
        )
    try:
        check_id(id)
        normal = compiler.compile(entry.query)
    except QueryError as error:
        note = _left_to_spark(entry.query, compiler)
        if note is not None:
            return [*found, Finding(NOTE, note, entry.file, entry.line, query=id, hint=_UNVERIFIED_HINT)]
        severity = FAILURE if isinstance(error, InternalError) else ERROR
        return [*found, entry.finding(severity, error)]
    if names := needs_spark(normal):
        message = f"runs on Spark only: {', '.join(names)}"
        found.append(Finding(NOTE, message, entry.file, entry.line, query=id))
    for pattern in costly_patterns(normal):
        message = f"pattern '{pattern}' needs backtracking: at most {MOST_STEPS:,} steps per row, then NULL"
        found.append(Finding(NOTE, message, entry.file, entry.line, query=id, hint=_COSTLY_HINT))
    if _is_never(normal):
        what, hint = _never(entry.query, compiler)
        message = f"no {what} can ever match"
        found.append(Finding(WARNING, message, entry.file, entry.line, query=id, hint=hint))
    if isinstance(normal, NormalQuery) and normal.predicate == ALWAYS:
        found.append(Finding(NOTE, "every tuple matches", entry.file, entry.line, query=id))
    return found


def _is_never(normal: Normal | None) -> bool:
    if normal is None:
        return False
    return not normal.branches if isinstance(normal, NormalJoin) else normal.predicate == NEVER


def _never(query: Query, compiler: Compiler) -> tuple[str, str]:
    """What never matches, a tuple or a pair, and the likeliest reason."""
    bound = compiler.bind(query)
    if isinstance(bound, BoundQuery):
        return "tuple", _reason(bound)
    reasons = [_join_reason(each) for each in contradictions(compiler.plan_join(query, bound))]
    return "pair", "; ".join(dict.fromkeys(reasons)) or "its time bounds exclude each other"


def _join_reason(found: Contradiction) -> str:
    if found.side is None:
        return "what it asks of both sources is never true"
    return _reason(found.side, f'its conditions on "{found.alias}" exclude each other')


def _left_to_spark(query: Query, compiler: Compiler) -> str | None:
    """What a registry would note when it takes a query in that cannot be compiled here; None if it would refuse it too."""
    try:
        return compiler.check(query).note
    except QueryError:
        return None


_UNVERIFIED_HINT: Final = "--runtime spark asks Spark about them"
_COSTLY_HINT: Final = "docs/sql.md, regular expressions, says which patterns need no backtracking"
_COMPARISONS: Final = frozenset({"eq", "lt", "le", "gt", "ge"})


def _reason(bound: BoundQuery, otherwise: str = "its conditions exclude each other") -> str:
    """The likeliest reason for a predicate that is never true: a constant that turns out to be NULL."""
    for node in walk(bound.predicate):
        for argument in node.arguments if isinstance(node, Call) and node.function in _COMPARISONS else ():
            written = [part for part in walk(argument) if isinstance(part, Literal)]
            if (
                not is_constant(argument)
                or externals_of(argument)
                or fold(argument, bound.time_zone).value is not None
            ):
                continue
            if any(part.value is None for part in written):
                return "a comparison with NULL is never true; to ask for NULL write IS NULL"
            return f"{render(argument)} is NULL: the constant has no value of type {argument.type}"
    return otherwise
