"""The event stream of one Kafka partition to its messages, inside a Spark worker.

The same function serves a dry run, a folder and Kafka, so what was checked is what is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Message
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.registry import Options
from ticdc_producer.targets.encoding import row_batches
from ticdc_producer.targets.encoding.interleave import Interleaver
from ticdc_producer.targets.encoding.row_batches import EncodedPart


class MessageStage(Protocol):
    """What is done to the messages of one partition between encoder and sink."""

    def __call__(
        self, batches: Iterable[MessageBatch], topic: str, partition: int, notes: list[dict[str, Any]]
    ) -> Iterator[MessageBatch]:
        """:param notes: is filled with what is worth telling, as JSON has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodePlan:
    """All that a worker needs to encode; small, goes with the task.

    :param skip_refused: leave out what TiCDC refuses and report it, instead of stopping.
    :param faults: what goes wrong with messages on purpose.
    """

    protocol: str
    options: Options
    catalog: Catalog
    skip_refused: bool = False
    faults: MessageStage | None = None

    @property
    def claim_storage(self) -> str:
        """URI of the storage that large rows go to; empty if none do."""
        claimed = self.options.get("large_message_handle_option") == "claim-check"
        return str(self.options["claim_check_storage_uri"]) if claimed else ""


class PartitionEncoder:
    """Encodes one Kafka partition.

    :ivar refused: rows that were left out because TiCDC would not send them, by their place among the
        events of the partition.
    :ivar handle_key_only: places of the rows that were too large and are sent as their handle key.
    :ivar faults: what the plan's ``faults`` did.
    """

    def __init__(self, plan: EncodePlan, topic: str = "", partition: int = 0) -> None:
        self._plan, self._topic, self._partition = plan, topic, partition
        self.refused: dict[int, EncodeError] = {}
        self.handle_key_only: list[int] = []
        self.faults: list[dict[str, Any]] = []
        self._events = 0

    def messages(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Message]:
        """Messages in delivery order, the same for every size of the Arrow batches.

        :raises EncodeError: for a row that TiCDC refuses, unless such rows are left out.
        """
        for batch in self.batches(batches):
            yield from batch.messages()

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[MessageBatch]:
        """The same, many at a time."""
        if self._plan.faults is None:
            return self._encoded(batches)
        return self._plan.faults(self._encoded(batches), self._topic, self._partition, self.faults)

    def _encoded(self, batches: Iterable[pa.RecordBatch]) -> Iterator[MessageBatch]:
        encoder = registry.encoder(self._plan.protocol, self._plan.options)
        catalog = self._plan.catalog
        pieces = (piece for batch in batches for piece in row_batches.pieces(batch, catalog))
        parts = (self._kept(row_batches.encoded(piece, encoder, catalog)) for piece in pieces)
        for first in parts:
            yield from Interleaver(encoder).batches(_until_barrier(first, parts))

    def _kept(self, part: EncodedPart) -> EncodedPart:
        """The part without the rows that are to be left out."""
        start, self._events = self._events, self._events + len(part)
        if part.rows is None or not part.rows.notes:
            return part
        refused = dict(part.rows.refused()) if self._plan.skip_refused else {}
        for place, note in sorted(part.rows.notes.items()):
            event = start + place + int(part.before[place])
            if place in refused:
                self.refused[event] = refused[place]
            elif note.handle_key_only:
                self.handle_key_only.append(event)
        return part.without(list(refused)) if refused else part


def _until_barrier(first: EncodedPart, parts: Iterator[EncodedPart]) -> Iterator[EncodedPart]:
    """Parts up to one behind which no row can share a message with a row before."""
    part: EncodedPart | None = first
    while part is not None:
        yield part
        part = None if part.ends_with_barrier else next(parts, None)
