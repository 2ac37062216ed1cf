"""How a set is compiled, and how one of its queries is served, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eddyline.execute.pricing.cost_text import side_title, stem_text
from eddyline.model.arrays import Integers
from eddyline.model.join import NormalJoin
from eddyline.model.predicate import ALWAYS
from eddyline.model.roles import Roles, role_row
from eddyline.normalize import explain_join
from eddyline.normalize.explain import explain as explain_normal
from eddyline.sql.render import render, render_joined
from eddyline.standing.version import Version


def explain_set(version: Version) -> str:
    """The size of a compiled set: subjects, conditions, regions, steps, bytes; joins, and the SteMs that they share."""
    joins = len(version.table.alive_joins)
    noun = f"{len(version.table)} queries{f', {joins} of them joins,' if joins else ''}"
    lines = [f"version {version.version}: {noun} in {len(version.segments)} segments"]
    for place, placed in enumerate(version.segments):
        lines.append(f"segment {place}, stream {placed.segment.stream}")
        for executor in placed.executor.executors.values():
            lines += [f"  {line}" for line in executor.describe(None)]
    return "\n".join([*lines, *_stems_of_set(version)])


def explain_query(version: Version, number: int) -> str:
    """The normal form of a query, who serves it, and why."""
    query = version.normal_form(number)
    if isinstance(query, NormalJoin):
        streams = {stream.name: stream for stream in version.compiler.streams}
        normal = f"{_sources(query)}\n{explain_join(query, streams, render, render_joined)}"
        served = list(_served_join(version, query, number))
    else:
        normal = explain_normal(query.predicate, render=render)
        served = list(_served(version, number))
    return "\n".join([query.sql, "normal form", normal, *(served or ["served by nothing: it is never true"])])


def _sources(join: NormalJoin) -> str:
    return "joins " + " and ".join(f"{source.stream} as {source.alias}" for source in join.sources)


def _served(version: Version, number: int) -> Iterator[str]:
    for placed in version.segments:
        slot = placed.numbering.slot(number)
        for executor in placed.executor.executors.values() if slot >= 0 else ():
            yield from executor.describe(slot)


def _served_join(version: Version, join: NormalJoin, number: int) -> Iterator[str]:
    """Who serves the sides of each branch, and the SteMs in which their tuples wait for partners."""
    for nth, branch in enumerate(join.branches):
        for side, source in enumerate(join.sources):
            title = side_title(join, nth, side)
            if branch.sides[side] == ALWAYS:
                yield f"{title} is free: every tuple of {source.stream} is kept, and it is in no list"
                continue
            yield title
            yield from (f"  {line}" for line in _served(version, role_row(number, nth, side)))
    roles = version.roles
    assert roles is not None, "there is a join"
    first, end = role_row(number, 0, 0), role_row(number, len(join.branches), 0)
    for stem in dict.fromkeys(roles.stem[first:end].tolist()):
        others = len(_joins_by(roles, stem)) - 1
        shared = f"shared with {others:,} other join{'s' * (others > 1)}" if others else "for this join alone"
        yield f"SteM {stem_text(roles.stems[stem])}, {shared}"


def _stems_of_set(version: Version) -> Iterator[str]:
    roles = version.roles
    if roles is None:
        return
    alive = roles.alive[: roles.size]
    free = int(np.count_nonzero(roles.free[: roles.size] & alive))
    stems = np.unique(roles.stem[: roles.size][alive]).tolist()
    if stems:
        yield f"joins: {np.count_nonzero(alive)} roles, {free} of them free, {len(stems)} SteMs"
    for stem in stems:
        joins = len(_joins_by(roles, stem))
        yield f"  {stem_text(roles.stems[stem])}, for {joins:,} join{'s' * (joins > 1)}"


def _joins_by(roles: Roles, stem: int) -> Integers:
    """The joins that keep tuples in a SteM."""
    own = roles.alive[: roles.size] & (roles.stem[: roles.size] == stem)
    joins: Integers = np.unique(roles.query[: roles.size][own])
    return joins
