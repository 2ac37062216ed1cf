"""A change of a registry: files or single queries let in by the admission, every refusal kept with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.admission import Admission
from eddyline.admission.present import RegisteredEntries
from eddyline.compile import Compiler
from eddyline.errors import QueryError, RefusedError, RegistryError, UsageError
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.query import Query
from eddyline.model.query_state import State
from eddyline.registry import KEEP, Change, Check, Drop, Edit, Registry, Set
from eddyline.registry.values import Keep, what_differs
from eddyline.service.compiled_sets import CompiledSets
from eddyline.service.data_sources import check_zone
from eddyline.service.edits import Edits
from eddyline.service.files.event_times import NO_OPTIONS, TimeOptions, stated_window, window_text
from eddyline.service.files.schemas import read_source, streams_of
from eddyline.service.findings import ERROR, Finding
from eddyline.service.records import streams_json
from eddyline.service.registries import open_registry
from eddyline.service.watcher import SILENT, Watcher

NO_WINDOW: Final = "none"  # said instead of a length
RELATED: Final = Admission(if_same="warn", if_implied="warn")


@dataclass(frozen=True, slots=True)
class Signature:
    """Who makes a change and why; `base` is the version it was made for, which must still be the newest then."""

    author: str | None = None
    reason: str = ""
    base: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Streams that come with queries, as `read_source` takes them; `name` is that of a lone one.

    `times` says more about event times. `join_window` is that of joins that name none, NO_WINDOW removes it. A stream
    that is there with other columns, or another event time, and another join window are changed only where that is asked
    for (`redeclare`).
    """

    schemas: Sequence[str] = ()
    name: str | None = None
    times: TimeOptions = NO_OPTIONS
    join_window: str | None = None
    time_zone: str = "UTC"
    redeclare: bool = False


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """What was done to a registry; `change` is None where nothing was, `join_window` KEEP where it stayed."""

    where: str
    version: int
    change: Change | None
    findings: Sequence[Finding] = ()
    join_window: Length | Keep | None = KEEP

    @property
    def counts(self) -> dict[str, int]:
        """How many queries met which fate."""
        done = self.change or Change(self.version)
        refused = {
            (f.file, f.line, f.query)
            for f in self.findings
            if f.severity == ERROR
            and (f.query, f.line) != (None, None)  # else it is the file's, as being empty
        }
        return {
            "added": len(done.added),
            "changed": len(done.changed),
            "removed": len(done.removed),
            "unchanged": len(done.unchanged),
            "refused": len(refused),
        }

    def as_json(self) -> dict[str, object]:
        """For machines: counts, streams that are declared otherwise, and the findings."""
        return {
            "registry": self.where,
            "version": self.version,
            **self.counts,
            **({} if self.join_window is KEEP else {"join_window": self.join_window}),
            "spark_only": [] if self.change is None else list(self.change.spark_only),
            "streams": [] if self.change is None else streams_json(self.change.streams),
            "findings": [finding.as_json() for finding in self.findings],
        }


def enter(
    where: str,
    edits: Edits,
    declaration: Declaration,
    signature: Signature,
    *,
    all_or_nothing: bool = False,
    admission: Admission = RELATED,
    watcher: Watcher = SILENT,
) -> ChangeOutcome:
    """Put queries into a registry, which is made if it is not there: those that are let in, or all or none of them."""
    check_zone(declaration.time_zone)
    with open_registry(where, must_exist=False) as registry:
        window = _stated_window(registry, declaration)
        declared, compiler = _declared(registry, declaration, edits.queries, window)
        present = RegisteredEntries(registry, CompiledSets(registry, where))
        check = admission.of(registry, edits.edits, compiler, present=present, listener=watcher)
        if all_or_nothing and edits.findings:
            _look(edits, check)
            return ChangeOutcome(registry.where, registry.version, None, edits.findings)
        try:
            change = registry.change(
                edits.edits,
                streams=declared,
                join_window=window,
                author=signature.author,
                reason=signature.reason,
                base=signature.base,
                check=check,
                all_or_nothing=all_or_nothing,
                digested=present.digested,
            )
        except RefusedError as refused:
            for problem in refused.problems:
                edits.refuse(problem)
            return ChangeOutcome(registry.where, registry.version, None, edits.findings)
    for problem in change.refused:
        edits.refuse(problem)
    for id, text in change.notes.items():
        edits.note(id, text)
    return ChangeOutcome(registry.where, change.version, change, edits.findings, window)


def bring_into(
    where: str,
    state: State | None,
    signature: Signature,
    *,
    ids: Sequence[str] = (),
    tags: Sequence[str] = (),
    owner: str | None = None,
) -> ChangeOutcome:
    """Bring queries into a state, or take them out where it is None: those named, or all with some tags, of some owner."""
    with open_registry(where) as registry:
        return bring(registry, _chosen(registry, ids, tags, owner), state, signature)


def bring(registry: Registry, ids: Sequence[str], state: State | None, signature: Signature) -> ChangeOutcome:
    """The same for ids of a registry that is open."""
    edits: list[Edit] = [Drop(id) if state is None else Set(id, state=state) for id in ids]
    found = Edits()
    try:
        change = registry.change(edits, author=signature.author, reason=signature.reason, base=signature.base)
    except RefusedError as refused:
        for problem in refused.problems:
            found.refuse(problem)
        return ChangeOutcome(registry.where, registry.version, None, found.findings)
    return ChangeOutcome(registry.where, change.version, change)


def _chosen(registry: Registry, ids: Sequence[str], tags: Sequence[str], owner: str | None) -> list[str]:
    if ids and (tags or owner is not None):
        raise UsageError("name queries by id, or choose them by --tag and --owner, not both")
    if ids:
        return list(dict.fromkeys(ids))
    if not tags and owner is None:
        raise UsageError("name the queries, or choose them by --tag or --owner")
    return [entry.id for entry in registry.entries(tags=tags, owner=owner)]


def roll_back(where: str, version: int, signature: Signature) -> ChangeOutcome:
    """Make a new version that holds what an earlier one held."""
    with open_registry(where) as registry:
        change = registry.rollback(version, author=signature.author, reason=signature.reason)
    return ChangeOutcome(registry.where, change.version, change)


def _stated_window(registry: Registry, declaration: Declaration) -> Length | Keep | None:
    """The join window that a change brings; KEEP if it is the one that there is."""
    text = declaration.join_window
    if text is None:
        return KEEP
    present = registry.join_window()
    wanted = None if text.strip().lower() == NO_WINDOW else stated_window(text)
    if wanted == present:
        return KEEP
    if present is not None and not declaration.redeclare:
        raise RegistryError(
            f"the registry has the {window_text(present)}",
            hint="leave --join-window out to use it, or say --redeclare to change it for all joins",
        )
    return wanted


def _declared(
    registry: Registry, declaration: Declaration, queries: Sequence[Query], window: Length | Keep | None
) -> tuple[list[Stream], Compiler]:
    """The streams that come with a change, and a compiler for these, for the registry's own, and for the join window."""
    present = {stream.name.lower(): stream for stream in registry.streams()}
    schemas = declaration.schemas
    if declaration.name is not None and not schemas:
        raise UsageError("--stream gives a lone schema its name, and there is no --schema")
    sources = [read_source(option) for option in schemas]
    declared = streams_of(sources, queries, name=declaration.name, times=declaration.times)
    for one in declared:
        before = present.get(one.name.lower(), one)
        if not declaration.redeclare and before != one:
            raise RegistryError(
                f'the stream "{one.name}" is declared with {what_differs(before, one)}',
                hint="leave --schema out to use those, or say --redeclare to change them for all queries",
            )
    known = present | {one.name.lower(): one for one in declared}
    if not known:
        raise UsageError("the registry has no stream yet: say what its columns are with --schema")
    join_window = registry.join_window() if window is KEEP else window
    compiler = Compiler(known.values(), time_zone=declaration.time_zone, join_window=join_window)
    return declared, compiler


def _look(edits: Edits, check: Check) -> None:
    """Find what is wrong with queries that will not be entered."""
    for edit in edits.edits:
        try:
            check(Query(edit.id, edit.sql))
        except QueryError as error:
            error.query = edit.id
            edits.refuse(error)
