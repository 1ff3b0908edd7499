"""Encodes the event stream of one Kafka partition, in the task of an engine.

A dry run, a folder and Kafka use the same function, so the checked messages are the messages that are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypedDict, cast

import pyarrow as pa

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Message, MessageNote
from ticdc_producer.model.shapes import EventBatch
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import DescribingEncoder
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.spec import Options
from ticdc_producer.protocols.wire_digests import WireDigests
from ticdc_producer.targets import row_batches
from ticdc_producer.targets.row_batches import EncodedPart, Interleaver

MAX_LISTED_REJECTED = 1000
"""Rejected events that a report lists; it counts all of them."""


class MessageStage(Protocol):
    """A transformation of the messages of one partition between encoder and sink.

    :ivar repeat_distance: a message is sent again at most this number of messages after its first delivery.
    """

    @property
    def repeat_distance(self) -> int: ...

    def __call__(
        self, batches: Iterable[MessageBatch], topic: str, partition: int, notes: list[MessageNote]
    ) -> Iterator[MessageBatch]:
        """Transform messages.

        :param notes: filled by this call with JSON objects that describe the changes.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodePlan:
    """Everything that a task needs to encode; small, sent with the task.

    :param skip_rejected: skip and report rows that TiCDC rejects, instead of stopping.
    :param faults: injects faults into messages.
    :param wire: computes the digests of the events; None: they are not needed.
    :param partition_keys: whether the keys of row messages are dispatch keys, as those of Pulsar are.
    :param key_updates: counts the updates of a batch that change a key; None: they are not counted.
    """

    protocol: str
    options: Options
    catalog: Catalog
    skip_rejected: bool = False
    faults: MessageStage | None = None
    wire: WireDigests | None = None
    partition_keys: bool = False
    key_updates: Callable[[pa.RecordBatch], int] | None = None

    @property
    def describes_in_first(self) -> bool:
        """Whether messages of partition 0 that describe tables follow from the rows of all partitions."""
        return registry.protocol_spec(self.protocol).describes_in_first(self.options)

    @property
    def claim_storage(self) -> str:
        """URI of the claim-check storage; empty without claim-check."""
        claimed = self.options.get("large_message_handle_option") == "claim-check"
        return str(self.options["claim_check_storage_uri"]) if claimed else ""


class Rejection(TypedDict):
    """An event that TiCDC's encoder rejects, as reports list it.

    :ivar event: number of the event in its partition.
    """

    error: str
    code: str
    table: str
    commit_ts: int
    event: int


def rejection(ordinal: int, error: EncodeError) -> Rejection:
    """Return an event that TiCDC's encoder rejects, for reports.

    :param ordinal: number of the event in its partition.
    """
    return Rejection(
        error=error.what, code=error.code, table=error.table, commit_ts=error.commit_ts, event=ordinal
    )


class PartitionEncoder:
    """The encoder of one Kafka partition.

    :ivar rejected: rows that were skipped because TiCDC would not send them, by event ordinal in the
        partition.
    :ivar handle_key_only: event ordinals of the rows that were too large and are sent with their handle key
        only.
    :ivar large_rows: number of the rows that were too large, with those that are in the claim-check storage.
    :ivar faults: notes of the plan's ``faults``.
    """

    def __init__(self, plan: EncodePlan, topic: str = "", partition: int = 0) -> None:
        self._plan, self._topic, self._partition = plan, topic, partition
        self.rejected: dict[int, EncodeError] = {}
        self.handle_key_only: list[int] = []
        self.large_rows = 0
        self.faults: list[MessageNote] = []
        self._events = 0

    def messages(self, batches: Iterable[EventBatch]) -> Iterator[Message]:
        """Yield the messages in delivery order, independent of the size of the Arrow batches.

        :param batches: events of the partition in delivery order, with the columns of ``EVENTS_ARROW``.
        :raises EncodeError: for a row that TiCDC rejects, unless such rows are skipped.
        """
        for batch in self.batches(batches):
            yield from batch.messages()

    def batches(self, batches: Iterable[EventBatch]) -> Iterator[MessageBatch]:
        """Yield ``messages`` as batches, of the same events (``EVENTS_ARROW``)."""
        if self._plan.faults is None:
            return self._encoded(batches)
        return self._plan.faults(self._encoded(batches), self._topic, self._partition, self.faults)

    def _encoded(self, batches: Iterable[EventBatch]) -> Iterator[MessageBatch]:
        encoder = registry.encoder(self._plan.protocol, self._plan.options)
        describes = self._plan.describes_in_first and self._partition == 0
        describer = cast("DescribingEncoder", encoder) if describes else None
        catalog = self._plan.catalog
        bounded = (part for batch in batches for part in row_batches.bounded_batches(batch, catalog))
        encoded = (row_batches.encoded(part, encoder, catalog, describer) for part in bounded)
        parts = map(self._without_rejected, encoded)
        for first in parts:
            interleaver = Interleaver(encoder, partition_keys=self._plan.partition_keys)
            yield from interleaver.batches(_until_barrier(first, parts))

    def _without_rejected(self, part: EncodedPart) -> EncodedPart:
        """Remove rejected rows if they are to be skipped, and record them."""
        start, self._events = self._events, self._events + len(part)
        if part.rows is None or not part.rows.statuses:
            return part
        rejected = dict(part.rows.rejected()) if self._plan.skip_rejected else {}
        events_before = part.events_before
        for row, status in sorted(part.rows.statuses.items()):
            event = start + row + int(events_before[row])
            if row in rejected:
                self.rejected[event] = rejected[row]
                continue
            self.large_rows += status.handle_key_only or status.claim is not None
            if status.handle_key_only:
                self.handle_key_only.append(event)
        return part.without(list(rejected)) if rejected else part


def _until_barrier(first: EncodedPart, parts: Iterator[EncodedPart]) -> Iterator[EncodedPart]:
    """Yield parts up to one after which no row can share a message with an earlier row."""
    part: EncodedPart | None = first
    while part is not None:
        yield part
        part = None if part.ends_with_barrier else next(parts, None)
