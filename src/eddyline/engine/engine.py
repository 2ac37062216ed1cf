"""The engine: standing queries that come and go while tuples flow, and what they deliver."""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

import pyarrow as pa

from eddyline.admission import Admission
from eddyline.compile import Compiler
from eddyline.config import DEFAULT_INDEX, DEFAULT_JOINS, IndexSettings, JoinSettings
from eddyline.engine.account import BatchAccount
from eddyline.engine.changes import Changes, Edit
from eddyline.engine.deliveries import Deliveries, DeliveryFailure, rows_of
from eddyline.engine.delivery_log import DeliveryLog
from eddyline.engine.join_report import JoinReport, report
from eddyline.engine.joining import Joining
from eddyline.engine.ledger import Ledger
from eddyline.engine.push import evaluate
from eddyline.engine.receivers import (
    WAITING,
    Callback,
    DeliveryIterator,
    DeliveryStream,
    Queue,
    Subscription,
    hand_over,
)
from eddyline.engine.synchronize import counters_of, entries_of, write_through
from eddyline.engine.why_partners import why_partners
from eddyline.errors import ConflictError, EddylineError, QueryError, RegistryError
from eddyline.execute.reading.batch import arrow_of
from eddyline.execute.steering.live import OrderReport
from eddyline.execute.why import Why
from eddyline.execute.why_partners import PartnersWhy
from eddyline.model.catalog import Stream
from eddyline.model.event_time import Length
from eddyline.model.names import check_id, is_unicode, short_repr
from eddyline.model.query import Query, StandingQuery
from eddyline.project.made_select_lists import MadeSelectLists
from eddyline.standing.merging.merger import Where
from eddyline.standing.rows.columns import Columns
from eddyline.standing.rows.table import Table
from eddyline.standing.standing import Change, Moved, Standing
from eddyline.standing.version import Version

if TYPE_CHECKING:
    from eddyline.registry import Registry

Q = TypeVar("Q", DeliveryIterator, DeliveryStream)
ATTEMPTS: Final = 10  # to change a registry that others change at the same time
log = logging.getLogger("eddyline.engine")


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Engine:
    """Standing queries over streams. A query sees the tuples that are pushed after it was added and before it is removed.

    All methods may be called from any thread. A change never disturbs a push that is under way, and a push never waits
    for a change or for the merging of compiled queries, which goes on in a thread of its own.

    >>> import pyarrow as pa
    >>> quotes = Stream("quotes", pa.schema([("symbol", pa.string()), ("price", pa.float64())]))
    >>> engine = Engine(streams=[quotes])
    >>> engine.add("cheap", "SELECT symbol FROM quotes WHERE price < 10")
    1
    >>> deliveries = engine.push("quotes", pa.record_batch({"symbol": ["A", "B"], "price": [5.0, 50.0]}))
    >>> deliveries.of("cheap").to_pylist()
    [{'symbol': 'A'}]
    >>> [table.to_pylist() for table in deliveries]
    [[{'query': 'cheap', 'number': 0, 'revision': 1, 'version': 1, 'symbol': 'A'}]]
    >>> engine.replace("cheap", "SELECT symbol FROM quotes WHERE price < 3")
    2
    >>> list(engine), engine["cheap"].sql
    (['cheap'], 'SELECT symbol FROM quotes WHERE price < 3')
    >>> engine.remove("cheap"), len(engine)
    (3, 0)
    """

    def __init__(
        self,
        streams: Iterable[Stream] | None = None,
        *,
        time_zone: str = "UTC",
        settings: IndexSettings = DEFAULT_INDEX,
        registry: Registry | None = None,
        deliveries: str | Path | None = None,
        merging: Where = "thread",
        admission: Admission = Admission(),  # noqa: B008 (a frozen value)
        join_window: Length | None = None,
        joins: JoinSettings = DEFAULT_JOINS,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        """An engine without queries, or with those of a registry.

        `registry` is the durable truth about queries: the engine takes over its newest version now and at every `sync`,
        and changes of the engine are changes of the registry. `deliveries` is a folder in which every push is kept, see
        `push`. `merging` says where compiled queries are merged: in a thread, or in a process of its own, which leaves
        pushes undisturbed where many queries change at a high rate. `admission` says which queries are let in, by policies
        and budgets; those of a registry hold without it.

        `join_window`, "5 minutes" say, is that of joins that name none: event times differ by at most so much. Without one
        the registry's holds. `joins` limits the tuples that are kept for joins. `clock` tells the time, which tuples may
        lie ahead of only so far.
        """
        if streams is None and registry is None:
            raise EddylineError(
                "an engine needs streams", hint="Engine(streams=[...]) or Engine(registry=...)"
            )
        known = list(streams) if streams is not None else []
        self._ledger = Ledger(for_saving=registry is not None)
        empty = Version(
            0,
            Compiler(known, time_zone=time_zone, join_window=join_window),
            settings,
            Table(columns=Columns()),
        )
        self._log = None if deliveries is None else DeliveryLog(deliveries)
        starts_anew = self._log is not None and len(self._log) > 0
        self._joining = Joining(joins, time_zone, clock, starts_anew=starts_anew)
        self._standing = Standing(empty, self._note, merging)
        self._changes = Changes(self._standing, admission)
        self._select_lists = MadeSelectLists(time_zone)
        self._admission = admission
        self._registry = registry
        self._own_join_window = join_window
        self._closed = False
        # Locks are taken in this order: _pushing, _counting, the ledger's. A callback may change queries, so the lock of
        # the standing set may be taken inside of _pushing, never the other way round.
        self._pushing = threading.RLock()  # held to the end of handing out, which may wait for readers
        self._counting = threading.Lock()  # held while a batch is evaluated and entered into the ledger
        self._subscriptions: tuple[Subscription, ...] = ()
        self._queues: tuple[weakref.ref[Queue], ...] = ()  # weak: a reader who forgets its queue is gone
        self._problems: list[QueryError] = []
        if registry is not None:
            self.sync()
        if self._log is not None:
            self._log.hold()  # last: an engine that is not made holds no folder

    @property
    def version(self) -> int:
        """The version in force; every change makes a new one."""
        return self._standing.current.version

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams that queries may read."""
        return tuple(self._standing.current.compiler.streams)

    @property
    def problems(self) -> list[QueryError]:
        """Queries of the registry that are not evaluated here, with the reason."""
        return list(self._problems)

    def __len__(self) -> int:
        return len(self._standing.current.table)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._standing.current.table.find(id) is not None

    def __iter__(self) -> Iterator[str]:
        """The ids of the queries, in the order in which they were added."""
        return iter(self.queries())

    def __getitem__(self, id: str) -> StandingQuery:
        """A query by its id; an `UnknownQueryError`, which is a `KeyError`, if there is none."""
        version = self._standing.current
        dense = version.table.dense(id)
        stream, _ = version.table.columns.selection(dense)
        return StandingQuery(id, version.table.query(dense).sql, stream.name)

    @overload
    def why(self, id: str, row: Mapping[str, Any] | Any, /) -> Why: ...

    @overload
    def why(self, id: str, stream: str, row: Mapping[str, Any] | Any, /) -> PartnersWhy: ...

    def why(self, id: str, *given: Any) -> Why | PartnersWhy:
        """Why a tuple, given as a mapping or as a batch of one row, matches a query or not; nothing is delivered.

        A join is asked about two tuples, `why(id, {alias: row, ...})`, or about one tuple of a stream and those that are
        kept of its partners: `why(id, stream, row)` says which pairs it would complete if it were pushed now, and what
        the nearest partner lacks.

        >>> import pyarrow as pa
        >>> engine = Engine(streams=[Stream("quotes", pa.schema([("price", pa.float64())]))])
        >>> engine.add("cheap", "SELECT * FROM quotes WHERE price < 10")
        1
        >>> print(engine.why("cheap", {"price": 50.0}))
        does not match, because
          price is 50.0, which does not lie in (-inf, 10.0)
        """
        if len(given) == 1:
            return self._standing.current.why(id, given[0])
        if len(given) != 2 or not isinstance(given[0], str):
            raise EddylineError(
                "why looks at a row, at a row for each alias of a join, or at a row of a stream that is joined",
                hint="why(id, row), why(id, {alias: row, ...}) or why(id, stream, row)",
            )
        stream, row = given
        with self._counting:  # a push that is being evaluated may change what is kept
            self._refuse_if_closed()
            return why_partners(self._standing.current, self._joining, id, stream, row)

    def order_report(self) -> tuple[OrderReport, ...]:
        """Of each segment that evaluated tuples row by row: in which order, ASCs visited and time taken so far."""
        return self._standing.current.order_report()

    def queries(self) -> dict[str, str]:
        """The SQL text of every query, by id, in the order in which they were added."""
        return {query.id: query.sql for _, query in self._standing.current.table.queries()}

    def add(self, queries: str | Mapping[str, str] | Iterable[Query], sql: str | None = None) -> int:
        """Add one query, `add(id, sql)`, or many, `add({id: sql, ...})`, as one change; gives the new version."""
        return self.change(add=_given(queries, sql, "add"))

    def remove(self, ids: str | Iterable[str]) -> int:
        """Remove a query, or many as one change; gives the new version."""
        return self.change(remove=ids)

    def replace(self, queries: str | Mapping[str, str], sql: str | None = None) -> int:
        """Give a query another text, or many as one change; gives the new version. Its next delivery has a new revision."""
        return self.change(replace=_given(queries, sql, "replace"))

    def change(
        self,
        *,
        add: Mapping[str, str] | Iterable[Query] = (),
        remove: str | Iterable[str] = (),
        replace: Mapping[str, str] | Iterable[Query] = (),
    ) -> int:
        """Add, remove and replace as one change: between two pushes all of it takes effect, or, if refused, nothing."""
        edit = Edit.of(add, remove, replace)
        with self._standing.lock:
            self._refuse_if_closed()
            if self._registry is not None:
                return self._change_registry(self._registry, edit)
            version = self._changes.make(edit)
            self._enter_changes()
            return version

    def _note(self, event: Change | Moved) -> None:
        self._ledger.note(event)
        self._joining.note(event)

    def _enter_changes(self) -> None:
        """Have the ledger know of changes now, unless a push is under way: where nothing is pushed they would pile up."""
        if self._counting.acquire(blocking=False):
            try:
                self._ledger.advance(self._standing.current)
            finally:
                self._counting.release()

    def sync(self) -> int:
        """Take over the newest version of the registry as one change; gives it.

        Queries that are enabled or shadows are evaluated; of shadows the matches are counted and not delivered. What
        cannot be evaluated here (functions that only Spark has) is in `problems`.
        """
        if self._registry is None:
            raise EddylineError("the engine has no registry", hint="Engine(registry=Registry.open(...))")
        with self._standing.lock:
            self._refuse_if_closed()
            if self._registry.version != self.version:
                found = entries_of(self._registry)
                if found.version < self.version:
                    raise RegistryError(
                        f'the registry "{self._registry.where}" is at version {found.version}, behind the '
                        f"engine's {self.version}: it is another one, or was restored from a copy",
                        hint="make a new engine",
                    )
                own = self._own_join_window
                window = found.join_window if own is None else own
                self._problems = self._changes.take_over(found.version, found.streams, found.entries, window)
                self._enter_changes()
            return self.version

    def push(self, stream: str, batch: Any, *, batch_id: str | None = None) -> Deliveries:
        """Evaluate the queries in force on a batch (Arrow, pandas or polars) and deliver what they select.

        With a folder for deliveries, `batch_id` names the batch among those of its stream: its deliveries are on disk
        when this returns, and if it is pushed again, say after a crash, they are given as they were, and nobody else
        gets them a second time. A batch without a name gets one, and is a new batch every time.
        """
        _check_batch_id(batch_id)
        with self._pushing:
            self._refuse_if_closed()
            recorded = self._recorded(self._standing.current.stream(stream), batch_id)
            if recorded is not None:
                return recorded
            with self._counting, self._standing.pushing() as version:
                self._refuse_if_closed()  # from here on `close` waits, so that nobody else gets the folder meanwhile
                source = version.stream(stream)
                self._ledger.advance(version)
                pushed = evaluate(version, source, arrow_of(batch, source), self._select_lists, self._joining)
                account = pushed.account
                if self._log is not None:
                    name = self._log.unused_id() if batch_id is None else batch_id
                    self._log.write(name, pushed.tables, account)
                of_pairs = {} if pushed.step is None else pushed.step.failures
                self._ledger.commit(
                    account, pushed.accounts, pushed.failures, of_pairs, pushed.output_failures
                )
                if pushed.step is not None:
                    # Last: had evaluation or the log failed, the batch would be pushed again and must be new to the
                    # joins. Once it is in the log it counts as done: were this to fail, for want of memory, its tuples
                    # would be missing from later pairs.
                    pushed.step.take_over()
            deliveries = Deliveries(pushed.tables, account, pushed.errors, empty=self._empty)
            self._hand_out(deliveries)
            return deliveries

    async def apush(self, stream: str, batch: Any, *, batch_id: str | None = None) -> Deliveries:
        """The same as `push`, in another thread, so that the event loop goes on."""
        return await asyncio.to_thread(self.push, stream, batch, batch_id=batch_id)

    def on(self, id: str | None, callback: Callback) -> Subscription:
        """Call back with every delivery that has rows of a query, and these rows alone; with all deliveries if id is None.

        Called in the thread of the push, in the order of pushes. A callback that fails is reported in the push's
        `errors` and logged; the others are called all the same.
        """
        if id is not None:
            check_id(id)  # what no query can be called would fail in every push, for everybody
        subscription = Subscription(id, callback, self._unsubscribe)
        with self._standing.lock:
            self._refuse_if_closed()
            self._subscriptions = (*self._subscriptions, subscription)
        return subscription

    def deliveries(self, *, waiting: int = WAITING) -> DeliveryIterator:
        """An iterator over the deliveries of all pushes from now on, for a thread of its own.

        When `waiting` deliveries were not read yet, the next push waits for the reader, and says so in the log after a
        second. An iterator that is closed or that nobody holds any more gets nothing, and nobody waits for it.
        """
        return self._joined(DeliveryIterator(waiting, self._leave))

    def stream(self, *, waiting: int = WAITING) -> DeliveryStream:
        """The same for `async for`, in the running event loop."""
        return self._joined(DeliveryStream(waiting, self._leave))

    def _joined(self, queue: Q) -> Q:
        with self._standing.lock:
            self._refuse_if_closed()
            self._queues = (*(known for known in self._queues if known() is not None), weakref.ref(queue))
        return queue

    def advance(self, stream: str, to: datetime | date | int) -> Deliveries:
        """Tell that a stream has nothing more from before a moment of event time: tuples that come all the same are late.

        For streams that fall silent, so that partners are not kept for tuples that will not come. Gives what that leads to
        being delivered, as `push` does.
        """
        with self._pushing, self._counting:
            self._refuse_if_closed()
            version = self._standing.current
            source = version.stream(stream)
            self._joining.follow(version)
            self._joining.advance(source, to)
            return Deliveries([], BatchAccount(source.name, version.version), empty=self._empty)

    def state(self) -> JoinReport:
        """What is kept of the streams that are joined: tuples, bytes, how far each stream has come, what was left out.

        Changes since the last push are entered first, so this waits for a push that is being evaluated.
        """
        with self._counting:
            version = self._standing.current
            if not self._closed:
                self._joining.follow(version)
            return report(self._joining.state.describe(), version.compiler.streams)

    @property
    def ledger(self) -> Ledger:
        """Accounts of all batches and queries.

        Changes since the last push are entered first, so this waits for a push that is being evaluated.
        """
        with self._counting:
            self._ledger.advance(self._standing.current)
            return self._ledger

    def save_counters(self) -> None:
        """Add what the accounts of queries have gained since the last time to the counters of the registry."""
        if self._registry is None:
            raise EddylineError("the engine has no registry", hint="Engine(registry=Registry.open(...))")
        gains = self.ledger.take_gains()
        try:
            self._registry.add_counters(counters_of(gains))
        except BaseException:
            self._ledger.give_back(gains)
            raise

    def merge(self) -> None:
        """Merge all compiled queries into one segment per stream now, in this thread; no delivery changes."""
        self._refuse_if_closed()
        self._standing.merger.merge(everything=True)

    @property
    def log(self) -> DeliveryLog | None:
        """The deliveries on disk."""
        return self._log

    def close(self) -> None:
        """Take no more batches and changes, end all iterators, and let go of the deliveries' folder.

        What was delivered can still be read: tables that wait in iterators, accounts, queries, the log. A push that is
        under way in another thread ends as if nothing had happened.
        """
        with self._standing.lock:
            self._closed = True
            queues = self._queues
        for reader in queues:  # before all else: a push may be waiting for one of them
            queue = reader()
            if queue is not None:
                queue.close()
        self._standing.merger.close()
        with self._counting:
            self._joining.state.close()
            if self._log is not None:
                self._log.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _change_registry(self, registry: Registry, edit: Edit) -> int:
        """Make an edit in the registry, again if others were first, and take over its version; the caller holds the lock."""
        for attempt in range(ATTEMPTS):
            base = self.sync()
            self._changes.check(edit)
            try:
                if edit:
                    compiler = self._standing.current.compiler
                    write_through(registry, edit, compiler, base, self._admission)
                return self.sync()
            except ConflictError:
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise EddylineError("the engine is closed", hint="make a new one")

    def _recorded(self, stream: Stream, batch_id: str | None) -> Deliveries | None:
        """The deliveries of a batch that was pushed before."""
        if self._log is None or batch_id is None or (stream.name, batch_id) not in self._log:
            return None
        found = self._log.read(stream.name, batch_id)
        return Deliveries(found.tables, found.account, empty=self._empty, repeated=True)

    def _empty(self, id: str) -> pa.Table:
        version = self._standing.current
        return self._select_lists.of(version.table.columns, version.table.dense(id)).schema.empty_table()

    def _hand_out(self, deliveries: Deliveries) -> None:
        subscriptions, queues = self._subscriptions, self._queues
        for table in deliveries:
            for subscription, rows in _addressed(subscriptions, table):
                try:
                    subscription.callback(rows)
                except Exception as error:
                    self._report(deliveries, DeliveryFailure("callback", _named(subscription), error))
            for queue in queues:
                hand_over(queue, table)

    def _report(self, deliveries: Deliveries, error: DeliveryFailure) -> None:
        deliveries.errors.append(error)
        self._ledger.add_error(error.queries)
        log.error("%s", error, exc_info=error.error)

    def _unsubscribe(self, subscription: Subscription) -> None:
        with self._standing.lock:
            self._subscriptions = tuple(s for s in self._subscriptions if s is not subscription)

    def _leave(self, queue: object) -> None:
        with self._standing.lock:
            self._queues = tuple(q for q in self._queues if q() not in (None, queue))


def _given(
    queries: str | Mapping[str, str] | Iterable[Query], sql: str | None, call: str
) -> Mapping[str, str] | Iterable[Query]:
    """What `add` and `replace` are given: an id and a text, or many queries."""
    if sql is not None:
        check_id(queries)
        assert isinstance(queries, str), "an id is text"
        return {queries: sql}
    if isinstance(queries, str):
        raise EddylineError(f'query "{queries}" has no text', hint=f"{call}(id, sql)")
    return queries


def _check_batch_id(batch_id: object) -> None:
    if batch_id is None:
        return
    if not isinstance(batch_id, str):
        raise EddylineError(f"the id of a batch is text, not {short_repr(batch_id)}", hint='batch_id="..."')
    if not is_unicode(batch_id):
        raise EddylineError(
            f"the id {short_repr(batch_id)} of a batch has half of a character (a lone surrogate)",
            hint="no file can be named so; give the batch another id",
        )


def _named(subscription: Subscription) -> tuple[str, ...]:
    return () if subscription.id is None else (subscription.id,)


def _addressed(
    subscriptions: tuple[Subscription, ...], table: pa.Table
) -> Iterator[tuple[Subscription, pa.Table]]:
    """Who gets which rows of a delivery."""
    ids = list(dict.fromkeys(s.id for s in subscriptions if s.id is not None))
    own = dict(rows_of(table, ids)) if ids else {}
    for subscription in subscriptions:
        if subscription.id is None:
            yield subscription, table
        elif subscription.id in own:
            yield subscription, own[subscription.id]
