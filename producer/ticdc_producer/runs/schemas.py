"""Schemas of a schema registry: register those of a job's tables, and fetch those that messages refer to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.config import Changefeed
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.protocols.avro.schemas import Schema, SchemaIDs
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.kafka.schema_registry import SchemaRegistry

_IDS = pa.schema([("id", pa.int64())])
_MOST = 10_000
"""Schemas of one stream that are fetched; further ids are treated as unknown."""


def schemas_of(changefeed: Changefeed, stream: StreamPlan, options: Options) -> Sequence[Schema]:
    """The schemas of the tables of a stream; empty for protocols that need no schema registry."""
    if changefeed.spec.schemas is None:
        return ()
    tables = [stream.selection.of(table) for table in stream.replicated if not table.is_view]
    return changefeed.spec.schemas.of_tables(
        tables, lambda table: stream.router.route(table).topic, changefeed.spec.typed(options)
    )


def registered(changefeed: Changefeed, wanted: Iterable[Schema]) -> SchemaIDs | None:
    """The ids that the changefeed's registry assigns; None without a registry.

    :raises RegistryError: for a registry that does not answer or rejects a schema.
    """
    return (
        SchemaRegistry(changefeed.schema_registry).registered(wanted) if changefeed.schema_registry else None
    )


def with_schemas(
    options: Options, changefeed: Changefeed, messages: DataFrame | pa.Table, own: Mapping[int, str]
) -> Options:
    """A decoder's options with the schemas that messages refer to.

    :param messages: with ``key`` and ``value`` of ``MESSAGES``, in any order; searched for schema ids if the
        changefeed has a registry.
    :param own: schemas of a folder or job, used without a registry.
    :raises RegistryError: for a registry that does not answer.
    """
    if changefeed.spec.schemas is None:
        return options
    return {
        **options,
        "schemas": fetched_schemas(changefeed, messages) if changefeed.schema_registry else dict(own),
    }


def fetched_schemas(changefeed: Changefeed, messages: DataFrame | pa.Table) -> dict[int, str]:
    """The registry's schemas for the ids in some messages.

    :param messages: with ``key`` and ``value`` of ``MESSAGES``, in any order.
    """
    if changefeed.spec.schemas is None:
        return {}
    ids = partial(_ids, changefeed.spec.schemas.id_in)
    if isinstance(messages, pa.Table):
        found = {number for batch in ids(iter(messages.to_batches())) for number in batch["id"].to_pylist()}
    else:
        rows = messages.select("key", "value").mapInArrow(ids, "id long").distinct().limit(_MOST).collect()
        found = {int(row["id"]) for row in rows}
    registry = SchemaRegistry(changefeed.schema_registry)
    schemas_by_id = {number: registry.schema(number) for number in sorted(found)[:_MOST]}
    return {number: schema for number, schema in schemas_by_id.items() if schema is not None}


def _ids(id_in: Callable[[bytes], int | None], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        parts: Collection[Any] = [*batch.column("key").to_pylist(), *batch.column("value").to_pylist()]
        numbers = {number for part in parts if part and (number := id_in(part)) is not None}
        yield pa.record_batch([pa.array(sorted(numbers), pa.int64())], schema=_IDS)
