"""The event stream of one Kafka partition to its messages, inside a Spark worker.

The same function serves a dry run, a folder and Kafka, so what was checked is what is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa

from producer.codec import registry
from producer.codec.encoded_rows import EncodedRows
from producer.codec.message_batch import MessageBatch
from producer.codec.registry import Options
from producer.errors import EncodeError
from producer.model.catalog import Catalog
from producer.model.event import Message
from producer.sink import row_batches
from producer.sink.row_batches import Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodePlan:
    """All that a worker needs to encode; small, goes with the task.

    :param skip_refused: leave out what TiCDC refuses and report it, instead of stopping.
    """

    protocol: str
    options: Options
    catalog: Catalog
    skip_refused: bool = False

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
    """

    def __init__(self, plan: EncodePlan) -> None:
        self._plan = plan
        self.refused: dict[int, EncodeError] = {}
        self.handle_key_only: list[int] = []
        self._events = 0

    def messages(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Message]:
        """Messages in delivery order, the same for every size of the Arrow batches.

        :raises EncodeError: for a row that TiCDC refuses, unless such rows are left out.
        """
        for batch in self.batches(batches):
            if isinstance(batch, Message):
                yield batch
            else:
                yield from batch.messages()

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[MessageBatch | Message]:
        """The same: those of rows column by column, those between them one by one."""
        encoder = registry.encoder(self._plan.protocol, self._plan.options)
        catalog = self._plan.catalog
        parts = (part for batch in batches for part in row_batches.pieces(batch, catalog))
        segments = (each for part in parts for each in row_batches.segments(part, encoder, catalog))
        for are_rows, run in groupby(segments, key=lambda segment: isinstance(segment, EncodedRows)):
            if are_rows:
                yield from encoder.messages(self._kept(run))
            else:
                yield from self._passed(run)

    def _kept(self, run: Iterable[Segment]) -> Iterator[EncodedRows]:
        for rows in run:
            if not isinstance(rows, EncodedRows):
                continue
            start, self._events = self._events, self._events + len(rows)
            refused = dict(rows.refused()) if self._plan.skip_refused else {}
            self.refused.update((start + place, reason) for place, reason in refused.items())
            self.handle_key_only += (
                start + place
                for place, note in sorted(rows.notes.items())
                if note.handle_key_only and place not in refused
            )
            yield rows.without(list(refused)) if refused else rows

    def _passed(self, run: Iterable[Segment]) -> Iterator[Message]:
        for message in run:
            if isinstance(message, Message):
                self._events += 1
                yield message
