"""Results posted to web addresses as JSON documents, from the process in which batches are made.

    {"pipeline": ..., "sink": ..., "source": ..., "batch": 7, "version": 3, "chunk": 0,
     "results": [{"query_id": ..., "query_revision": ..., ..., "payload": {...}}, ...]}

Each has the header `Idempotency-Key: <pipeline>/<sink>/<source>/<batch>/<chunk>`, by which a receiver can leave out what
it has. A batch that comes again is sent in the same documents: they are in the checkpoint before the first one is sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from eddyline.delivery.addresses import Address, AddressError, Allowed, read_address
from eddyline.delivery.retry import Patience, TryAgainError
from eddyline.delivery.webhook import NotTakenError, Poster
from eddyline.errors import DeliveryError, SinkError
from eddyline.runtime.spark.base.secrets import Secret, Value, revealed, scrubbed, secrets_in
from eddyline.runtime.spark.base.settings import SinkSettings
from eddyline.runtime.spark.base.storages import open_storage
from eddyline.runtime.spark.base.values import Batch, PipelineIdentity
from eddyline.runtime.spark.sinks.base import RefusedResult, RowsRefusedError, TextSink, delivering
from eddyline.runtime.spark.sinks.documents import Document, DocumentRecord, cut
from eddyline.runtime.spark.sinks.shape import as_json, payload_in
from eddyline.runtime.spark.sinks.typed import TypedList

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

HEADER: Final = "header."  # options of this form are headers
NUMBERS: Final = {"timeout": 10.0, "attempts": 5.0, "rows": 500.0, "bytes": 1_000_000.0}
REFUSED: Final = ("query_id", "query_revision", "version", "tuple_key")  # what dead letters say of a result
ORDER: Final = ("destination", "query_number", "tuple_key", "payload")


class WebhookSink(TextSink):
    """Posts to the address of its settings, or to that which a query names where the settings allow it."""

    def __init__(self, settings: SinkSettings, poster: Poster | None = None) -> None:
        super().__init__(settings)
        self._given = poster  # tests bring one that does not sleep
        self._record: DocumentRecord | None = None
        # by source: batch, answers by document
        self._answered: dict[str, tuple[int, dict[int, str | None]]] = {}

    def inspect(self, pipeline: PipelineIdentity | None = None) -> None:
        """Refuse addresses, prefixes, headers and options that cannot be used."""
        allowed_of(self._settings)
        if self._settings.url is not None:
            self._address(None)
        elif not self._settings.allow:
            raise SinkError(
                f'sink "{self.name}" goes nowhere',
                hint='url = "https://...", or allow = ["https://host/path"]',
            )
        self._poster().close()
        known = [*NUMBERS, "first_pause"]
        for name in self._settings.options:
            if name not in known and not name.startswith(HEADER):
                raise SinkError(
                    f'sink "{self.name}" has an option "{name}", which webhooks do not have',
                    hint=f"allowed: {', '.join(known)}, and headers as {HEADER}Name",
                )

    def open(self, pipeline: PipelineIdentity) -> None:
        """Inspect; connections are made when there are rows."""
        self.inspect(pipeline)
        self._record = DocumentRecord(open_storage(pipeline.checkpoint), self.name)

    def deliver(self, rows: DataFrame, batch: Batch, typed: TypedList | None = None) -> int | None:
        """Post a batch, document by document; what the receiver refuses for good is told at the end."""
        poster = self._given or self._poster()
        delivered, refused = 0, list[RefusedResult]()
        answered = self._answers(batch)
        try:
            with delivering(self._settings, batch):
                for document in self._documents(rows, batch):
                    if document.number not in answered:
                        answered[document.number] = self._post(poster, document, batch)
                    reason = answered[document.number]
                    if reason is None:
                        delivered += len(document.results)
                    else:
                        refused += [_refused(document, text, reason) for text in document.results]
        finally:
            poster.close()
        if refused:
            raise RowsRefusedError(
                f'sink "{self.name}" refused {len(refused)} results of {batch}: {refused[0].reason}',
                tuple(refused),
                delivered,
            )
        return delivered

    def _documents(self, rows: DataFrame, batch: Batch) -> Iterator[Document]:
        """The documents of a batch, as they were cut when it ran first, on disk before one of them is sent."""
        assert self._record is not None, "a sink is opened before it gets rows"
        found = self._record.find(batch)
        if found is None:
            texts = rows.orderBy(*ORDER).select("destination", as_json()).toLocalIterator()
            most, size = int(self._option("rows")), int(self._option("bytes"))
            self._record.write(batch, cut(texts, most, size))
            found = self._record.find(batch)
            assert found is not None, "documents that were just written"
        return found

    def _answers(self, batch: Batch) -> dict[int, str | None]:
        """What came of the documents of a batch so far: an attempt after a failure goes on where that one ended."""
        known = self._answered.get(batch.source)
        if known is None or known[0] != batch.batch_id:
            known = self._answered[batch.source] = (batch.batch_id, {})
        return known[1]

    def _post(self, poster: Poster, document: Document, batch: Batch) -> str | None:
        """Send a document; the reason where it will never be taken."""
        key = f"{batch.pipeline}/{self.name}/{batch.source}/{batch.batch_id}/{document.number}"
        try:
            poster.post(self._address(document.destination), body(self.name, document, batch), key)
            return None
        except (NotTakenError, AddressError) as error:
            return self._scrubbed(str(error))
        except TryAgainError as error:
            raise DeliveryError(
                f'sink "{self.name}" did not take {batch}: {self._scrubbed(error.reason)}',
                hint="the batch is delivered again; receivers know by Idempotency-Key what they have already",
            ) from None

    def _scrubbed(self, text: str) -> str:
        return scrubbed(text, secrets_in(self._settings))

    def _address(self, destination: str | None) -> Address:
        """Where rows of a destination go: checked here again, whoever routed them."""
        if destination is None or destination == self.name or "://" not in destination:
            if self._settings.url is None:
                raise AddressError(f'the sink "{self.name}" has no address of its own')
            try:
                return read_address(revealed(self._settings.url))
            except AddressError as error:
                raise SinkError(f'the address of sink "{self.name}" is not accepted: {error}') from None
        address = read_address(destination)
        if not allowed_of(self._settings).covers(address):
            raise AddressError(f"no webhook is allowed to go to this address at {address.place}")
        return address

    def _poster(self) -> Poster:
        headers = {
            name.removeprefix(HEADER): revealed(value)
            for name, value in self._settings.options.items()
            if name.startswith(HEADER)
        }
        first = _number(self._settings.options, "first_pause", Patience().first, self.name)
        patience = Patience(attempts=int(self._option("attempts")), first=first)
        try:
            return Poster(
                headers, self._option("timeout"), patience, quotes_answers=not secrets_in(self._settings)
            )
        except ValueError as error:
            raise SinkError(f'sink "{self.name}": {error}') from None

    def _option(self, name: str) -> float:
        return _number(self._settings.options, name, NUMBERS[name], self.name)


def allowed_of(settings: SinkSettings) -> Allowed:
    """The addresses that queries may name as their destination and that this sink takes."""
    try:
        return Allowed.read(settings.allow)
    except AddressError as error:
        raise SinkError(
            f'sink "{settings.name}" allows an address that is not accepted: {error}',
            hint='prefixes with scheme and host: allow = ["https://hooks.example.com/alerts"]',
        ) from None


def body(sink: str, document: Document, batch: Batch) -> bytes:
    """What is sent of a document."""
    lead = {
        "pipeline": batch.pipeline,
        "sink": sink,
        "source": batch.source,
        "batch": batch.batch_id,
        "version": batch.version,
        "chunk": document.number,
    }
    return f'{json.dumps(lead)[:-1]}, "results": [{",".join(document.results)}]}}'.encode()


def _refused(document: Document, text: str, reason: str) -> RefusedResult:
    result: dict[str, Any] = json.loads(text)
    kept = {name: result[name] for name in REFUSED}
    payload = payload_in(text)
    return RefusedResult(destination=document.destination, payload=payload, reason=reason, **kept)


def _number(options: Mapping[str, Value], name: str, otherwise: float, sink: str) -> float:
    given = options.get(name)
    try:
        number = otherwise if given is None else float(revealed(given))
    except ValueError:
        number = 0.0
    if number <= 0:
        shown = "***" if isinstance(given, Secret) else given
        raise SinkError(f'the option "{name}" of sink "{sink}" is {shown}, which is not a number above zero')
    return number
