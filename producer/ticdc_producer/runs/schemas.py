"""The schemas that messages name by number: from the tables of a job to a registry, and back for readers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.config import Changefeed
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.protocols.avro.decoder import schema_number
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.protocols.avro.schemas import Schema, SchemaIDs, schemas
from ticdc_producer.protocols.registry import Options, known
from ticdc_producer.targets.kafka.schema_registry import SchemaRegistry

_IDS = pa.schema([("id", pa.int64())])
_MOST = 10_000
"""Schemas of one stream that are looked up; what lies beyond is an id that nobody knows."""


def schemas_of(feed: Changefeed, stream: StreamPlan, options: Options) -> Sequence[Schema]:
    """The schemas of the tables that a stream may have rows of; none but with Avro."""
    if feed.protocol != "avro":
        return ()
    tables = [stream.selection.of(table) for table in stream.replicated if not table.is_view]
    return schemas(
        tables,
        lambda table: stream.router.route(table).topic,
        AvroOptions(**known(AvroOptions, options)),
    )


def registered(feed: Changefeed, wanted: Iterable[Schema]) -> SchemaIDs | None:
    """The ids that the changefeed's registry gives; None where it has none.

    :raises RegistryError: for a registry that does not answer, or does not take a schema.
    """
    return SchemaRegistry(feed.schema_registry).registered(wanted) if feed.schema_registry else None


def with_schemas(options: Options, feed: Changefeed, messages: DataFrame, own: Mapping[int, str]) -> Options:
    """A decoder's options with the schemas that messages name.

    :param messages: looked through for ids where the changefeed has a registry.
    :param own: those of a folder or job, where it has none.
    :raises RegistryError: for a registry that does not answer.
    """
    if feed.protocol != "avro":
        return options
    return {**options, "schemas": fetched_schemas(feed, messages) if feed.schema_registry else dict(own)}


def fetched_schemas(feed: Changefeed, messages: DataFrame) -> dict[int, str]:
    """What the registry has of the ids in some messages; few, on the driver."""
    found = messages.select("key", "value").mapInArrow(_ids, "id long").distinct().limit(_MOST).collect()
    asked = SchemaRegistry(feed.schema_registry)
    told = {int(row["id"]): asked.schema(int(row["id"])) for row in found}
    return {number: schema for number, schema in told.items() if schema is not None}


def _ids(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        parts: Collection[Any] = [*batch.column("key").to_pylist(), *batch.column("value").to_pylist()]
        numbers = {number for part in parts if part and (number := schema_number(part)) is not None}
        yield pa.record_batch([pa.array(sorted(numbers), pa.int64())], schema=_IDS)
