"""The event stream of one Kafka partition to its messages, inside a Spark worker.

The same function serves a dry run, a folder and Kafka, so what was checked is what is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import pyarrow as pa

from producer.codec import registry
from producer.codec.base import EncodedRow
from producer.codec.registry import Options
from producer.errors import EncodeError
from producer.model.catalog import Catalog
from producer.model.event import Message
from producer.sink.row_batches import encoded

Item: TypeAlias = EncodedRow | Message


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

    def messages(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Message]:
        """Messages in delivery order, the same for every size of the Arrow batches.

        :raises EncodeError: for a row that TiCDC refuses, unless such rows are left out.
        """
        encoder = registry.encoder(self._plan.protocol, self._plan.options)
        every = (item for batch in batches for item in encoded(batch, encoder, self._plan.catalog))
        items = (item for item in every if item is not None)
        for are_rows, run in groupby(
            enumerate(items), key=lambda numbered: isinstance(numbered[1], EncodedRow)
        ):
            if are_rows:
                yield from encoder.messages(self._kept(run))
            else:
                yield from (item for _, item in run if isinstance(item, Message))

    def _kept(self, rows: Iterable[tuple[int, Item]]) -> Iterator[EncodedRow]:
        for place, row in rows:
            if not isinstance(row, EncodedRow):
                continue
            if row.refusal is not None and self._plan.skip_refused:
                self.refused[place] = row.refusal
                continue
            if row.handle_key_only:
                self.handle_key_only.append(place)
            yield row
