"""Decodes a DataFrame of messages."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.model.dataframes import DECODED
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.registry import Options
from ticdc_producer.targets.decoding.claims import with_claim_check
from ticdc_producer.targets.decoding.event_batch import event_batch
from ticdc_producer.targets.decoding.event_rows import event_rows
from ticdc_producer.targets.decoding.schema_messages import with_table_schemas

_CHUNK = 1024


def decoded(messages: DataFrame, protocol: str, options: Options, claims: str = "") -> DataFrame:
    """The events of a DataFrame of messages (shape ``DECODED``).

    A message that does not decode gives a row of kind ``error`` after the events before the error.

    :param claims: URI or path of the storage of claim-check objects; if empty, rows that refer to one have
        only the handle key of their message.
    """

    options = with_table_schemas(messages, protocol, options)

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decoder = with_claim_check(registry.decoder(protocol, options), claims)
        for batch in batches:
            for start in range(0, batch.num_rows, _CHUNK):
                records = batch.slice(start, _CHUNK).to_pylist()
                rows = [row for record in records for row in event_rows(record, decoder)]
                yield event_batch(rows)

    needed = messages.select("topic", "partition", "offset", "key", "value")
    return needed.mapInArrow(decode, DECODED)
