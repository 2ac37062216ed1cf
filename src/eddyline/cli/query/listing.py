"""`query list` and `query show`: what a registry holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Final

import typer

from eddyline.admission.redundant import Redundant
from eddyline.cli.options import AsJson, Id, Owner, RegistryOption, Search, States, Tags, VersionNumber
from eddyline.cli.output.terminal import Printer, print_json
from eddyline.cli.query.versions import step_rows
from eddyline.errors import EddylineError
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.registry import Entry
from eddyline.service.files.event_times import times_text, window_text
from eddyline.service.records import entry_json, step_json, streams_read, takes_join_window, times_json
from eddyline.service.registries import DEFAULT, open_registry
from eddyline.service.related_queries import RelatedQueries, related_queries

LONGEST_TEXT: Final = 60  # characters of a text in a table
TIGHTEST: Final = 3  # of the queries that cover another, as many are shown


def list_queries(
    registry: RegistryOption = DEFAULT,
    tag: Tags = [],  # noqa: B006 (typer copies it)
    owner: Owner = None,
    state: States = None,
    search: Search = None,
    version: VersionNumber = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Show at most so many.")] = None,
    as_json: AsJson = False,
) -> None:
    """List queries, in the order in which they were entered.

    \b
    Examples:
      eddyline query list
      eddyline query list --tag fx --state shadow
      eddyline query list --search "price <" --json
      eddyline query list --version 3
    """
    with open_registry(registry) as opened:
        at = opened.version if version is None else version
        entries = opened.entries(at, state=state, tags=tag, owner=owner, search=search)
        window = opened.join_window(at)
    listed = entries[:limit]
    if as_json:
        found = {"registry": opened.where, "version": at, "total": len(entries), "join_window": window}
        print_json(found | {"queries": [entry_json(entry) for entry in listed]})
        return
    output = Printer()
    if listed:
        output.table(
            ("id", "state", "revision", "tags", "owner", "text"), [_row(e) for e in listed], right=(2,)
        )
    more = f", {len(listed):,} shown" if len(listed) < len(entries) else ""
    noun = "query" if len(entries) == 1 else "queries"
    said = "" if window is None else f", {window_text(window)}"
    output.line(f"{opened.where}, version {at}: {len(entries):,} {noun}{more}{said}", "bold")


def _row(entry: Entry) -> tuple[str, ...]:
    text = " ".join(entry.sql.split())
    text = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."
    state = f"{entry.state}, Spark only" if entry.spark_only else entry.state.value
    return (entry.id, state, str(entry.revision), " ".join(entry.tags), entry.owner or "", text)


def show(
    id: Id,
    registry: RegistryOption = DEFAULT,
    version: VersionNumber = None,
    as_json: AsJson = False,
) -> None:
    """Show all that is known of a query: its text, what stands beside it, which queries are the same, and its history.

    "same query as", "same rows as" and "covered by" name other queries of the newest version that are evaluated: those
    with the same rows, with and without the same SELECT list, and the tightest of those that match all that it matches.
    A query that is not there makes the exit code 3; one that was removed still has a history (query history ID).

    \b
    Examples:
      eddyline query show cheap
      eddyline query show cheap --version 3 --json
    """
    with open_registry(registry) as opened:
        at = opened.version if version is None else version
        entry = opened.entry(id, at)
        near = get_close_matches(id, [e.id for e in opened.entries(at)], n=1) if entry is None else []
        steps = opened.history(id)
        counters = opened.counters(id).get(id, {})
        streams = [] if entry is None else streams_read(entry, opened.streams(at))
        window = opened.join_window(at)
        related = RelatedQueries()
        if entry is not None and at == opened.version:
            related = related_queries(entry, opened, registry)
    if entry is None:
        hint = f'did you mean "{near[0]}"?' if near else None
        if steps and not near:
            hint = f"it was there once, see: eddyline query history {id}"
        raise EddylineError(f'there is no query "{id}" in version {at}', hint=hint)
    if not takes_join_window(entry, streams, window):
        window = None
    if as_json:
        found = {"registry": opened.where, "version": at, **entry_json(entry), "counters": counters}
        found |= {"event_times": times_json(streams), "join_window": window}
        found |= {"relations": related.as_json()}
        print_json(found | {"history": [step_json(step) for step in steps]})
        return
    output = Printer()
    output.line(f'query "{id}", version {at}', "bold")
    output.line()
    for line in entry.sql.split("\n"):
        output.line(f"  {line}")
    output.line()
    output.table(("field", "value"), _facts(entry, streams, window, counters, related))
    output.heading("history")
    output.table(("version", "time", "author", "what", "reason"), step_rows(steps), right=(0,))


def _facts(
    entry: Entry,
    streams: Sequence[Stream],
    window: Length | None,
    counters: dict[str, int],
    related: RelatedQueries,
) -> list[tuple[str, str]]:
    facts = [
        ("state", entry.state.value),
        ("revision", str(entry.revision)),
        ("number", str(entry.number)),
        ("tags", " ".join(entry.tags)),
        ("owner", entry.owner or ""),
        ("destination", entry.destination or ""),
        ("metadata", json.dumps(entry.metadata) if entry.metadata else ""),
        ("alias of", ", ".join(filter(None, (entry.same_as, related.alias_note)))),
        *_relations(related.redundant),
        ("runtime", "Spark only, and unverified" if entry.spark_only else ""),
        *((f"stream {stream.name}", times_text(stream)) for stream in streams),
        ("join window", "" if window is None else str(window)),
        *((name, f"{value:,}") for name, value in counters.items()),
    ]
    return [(name, value) for name, value in facts if value]


def _relations(related: Redundant) -> list[tuple[str, str]]:
    queries = [same.other.id for same in related.alike if same.likeness != "rows"]
    rows = [same.other.id for same in related.alike if same.likeness == "rows"]
    covers = [entry.id for entry in related.covers]
    shown, more = covers[:TIGHTEST], related.more + len(covers[TIGHTEST:])
    return [
        ("never matches", related.never_text if related.never else ""),
        ("same query as", ", ".join(queries)),
        ("same rows as", ", ".join(rows)),
        ("covered by", ", ".join(shown) + (f" and {more:,} more" if more else "")),
    ]
