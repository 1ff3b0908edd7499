"""Writes claim-check objects to their storage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.config.file_system import claim_storage, failures, make_folder, storage_error
from ticdc_producer.errors import StorageError
from ticdc_producer.model.event import ClaimObject
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents
from ticdc_producer.targets.encoding.row_batches import NEEDED

CLAIMS = "name string, content binary"
"""Claim-check objects as a DataFrame."""

_ARROW = pa.schema([("name", pa.string()), ("content", pa.binary())])


class ClaimWriter:
    """Writes objects to one storage.

    Existing objects are overwritten; their names are derived from their content, so this changes nothing.

    :param storage: ``claim-check-storage-uri``, or the path of a local folder.
    :raises StorageError: if the storage cannot be written.
    """

    def __init__(self, storage: str) -> None:
        self._storage = storage
        self._system, self._folder = claim_storage(storage)
        try:
            make_folder(self._system, self._folder)
        except failures() as error:
            raise self._failure(error) from None

    def write(self, claims: Iterable[ClaimObject]) -> None:
        """Store objects, before the message that names them is sent.

        :raises StorageError: if the storage rejects one.
        """
        try:
            for claim in claims:
                self._system.pipe_file(f"{self._folder}/{claim.name}", claim.content)
        except failures() as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> StorageError:
        return storage_error(
            f"claim-check objects cannot be written to {self._storage}", self._storage, error
        )


def claims(events: OrderedEvents, plan: EncodePlan) -> DataFrame:
    """The claim-check objects of an event stream (``CLAIMS``).

    :param events: the ordered event stream, one Spark partition per Kafka partition.
    """

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return
        # Message faults do not change the objects.
        for message in PartitionEncoder(replace(plan, faults=None)).messages(chain([first], filled)):
            if message.claims:
                rows = [{"name": claim.name, "content": claim.content} for claim in message.claims]
                yield pa.RecordBatch.from_pylist(rows, schema=_ARROW)

    return events.mapped(encode, CLAIMS, NEEDED)
