"""What queries may cost and what they have counted: beside the versions, so that counting makes none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from sqlalchemy import Connection, and_, bindparam, delete, insert, select, update

from eddyline.registry.reading import chunks
from eddyline.registry.rows import microseconds
from eddyline.registry.tables import BUDGETS, COUNTED, COUNTERS
from eddyline.registry.values import Budget


def write_budget(connection: Connection, budget: Budget, author: str) -> None:
    """Set a budget, or take it away where it has no limit."""
    connection.execute(delete(BUDGETS).where(BUDGETS.c.scope == budget.scope, BUDGETS.c.name == budget.name))
    if budget.bytes is None and budget.nanoseconds is None:
        return
    connection.execute(
        insert(BUDGETS).values(
            scope=budget.scope,
            name=budget.name,
            bytes=budget.bytes,
            nanoseconds=budget.nanoseconds,
            over=budget.over,
            at=microseconds(datetime.now(UTC)),
            author=author,
        )
    )


def read_budgets(connection: Connection) -> list[Budget]:
    """All budgets: those of owners, then those of queries, by name."""
    columns = (BUDGETS.c.scope, BUDGETS.c.name, BUDGETS.c.bytes, BUDGETS.c.nanoseconds, BUDGETS.c.over)
    rows = connection.execute(select(*columns).order_by(BUDGETS.c.scope, BUDGETS.c.name))
    return [Budget(*row) for row in rows]


def is_counted(connection: Connection, origin: str, batch: int) -> bool:
    """Whether the counts of a batch were added before; if not, write down that they are now."""
    place = COUNTED.c.origin == origin
    last = connection.scalar(select(COUNTED.c.batch).where(place))
    if last is None:
        connection.execute(insert(COUNTED).values(origin=origin, batch=batch))
    elif last < batch:
        connection.execute(update(COUNTED).where(place).values(batch=batch))
    return last is not None and last >= batch


def add_counters(connection: Connection, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Add to counters, each of which starts at zero."""
    known = {
        (id, name)
        for chunk in chunks(counts)
        for id, name in connection.execute(
            select(COUNTERS.c.id, COUNTERS.c.name).where(COUNTERS.c.id.in_(chunk))
        )
    }
    wanted = [(id, name, n) for id, named in counts.items() for name, n in named.items() if n]
    more = [{"at": id, "of": name, "more": n} for id, name, n in wanted if (id, name) in known]
    if more:
        place = and_(COUNTERS.c.id == bindparam("at"), COUNTERS.c.name == bindparam("of"))
        connection.execute(
            update(COUNTERS).where(place).values(value=COUNTERS.c.value + bindparam("more")), more
        )
    fresh = [{"id": id, "name": name, "value": n} for id, name, n in wanted if (id, name) not in known]
    if fresh:
        connection.execute(insert(COUNTERS), fresh)


def read_counters(connection: Connection, id: str | None = None) -> dict[str, dict[str, int]]:
    """All counters by query and name, or those of one query."""
    found: dict[str, dict[str, int]] = {}
    rows = select(COUNTERS.c.id, COUNTERS.c.name, COUNTERS.c.value).order_by(COUNTERS.c.id, COUNTERS.c.name)
    if id is not None:
        rows = rows.where(COUNTERS.c.id == id)
    for counted, name, value in connection.execute(rows):
        found.setdefault(counted, {})[name] = value
    return found
