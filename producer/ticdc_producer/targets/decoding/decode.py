"""Decodes messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from ticdc_producer.protocols import registry
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.decoding.claims import with_claim_check
from ticdc_producer.targets.decoding.event_batch import event_batch
from ticdc_producer.targets.decoding.event_rows import event_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Decode: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_CHUNK = 8192


def event_decoder(protocol: str, options: Options, claims: str = "") -> Decode:
    """Returns a function from messages (shape ``MESSAGES``) to events (shape ``DECODED``), in their order.

    A message that does not decode gives a row of kind ``error`` after the events before the error. The events
    of a message are never in two batches.

    :param options: with the table schemas in the messages, see ``with_table_schemas``.
    :param claims: URI or path of the storage of claim-check objects; if empty, rows that refer to one have
        only the handle key of their message.
    """

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decoder = with_claim_check(registry.decoder(protocol, options), claims)
        for batch in batches:
            needed = batch.select(["topic", "partition", "offset", "key", "value"])
            for start in range(0, batch.num_rows, _CHUNK):
                records = needed.slice(start, _CHUNK).to_pylist()
                yield event_batch([row for record in records for row in event_rows(record, decoder)])

    return decode


def decoded(messages: DataFrame, protocol: str, options: Options, claims: str = "") -> DataFrame:
    """The events of a DataFrame of messages (shape ``DECODED``), see :func:`event_decoder`."""
    from ticdc_producer.model.dataframes import DECODED
    from ticdc_producer.targets.decoding.schema_messages import with_table_schemas

    options = with_table_schemas(messages, protocol, options)
    needed = messages.select("topic", "partition", "offset", "key", "value")
    return needed.mapInArrow(event_decoder(protocol, options, claims), DECODED)
