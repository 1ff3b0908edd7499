"""Schemas of a schema registry: register those of a job's tables, and fetch those that messages refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.protocols.spec import Options, Schema, SchemaIDs
from ticdc_producer.targets.kafka.schema_registry import SchemaRegistry

_MOST = 10_000
"""Schemas of one stream that are fetched; further ids are treated as unknown."""


def schemas_of(changefeed: Changefeed, stream: StreamPlan, options: Options) -> Sequence[Schema]:
    """Return the schemas of the tables of a stream; empty for protocols that need no schema registry."""
    if changefeed.spec.schemas is None:
        return ()
    tables = [stream.selection.of(table) for table in stream.replicated if not table.is_view]
    return changefeed.spec.schemas.of_tables(
        tables, lambda table: stream.router.route(table).topic, changefeed.spec.typed(options)
    )


def registered(changefeed: Changefeed, schemas: Iterable[Schema]) -> SchemaIDs | None:
    """Return the ids that the changefeed's registry assigns; None without a registry.

    :raises RegistryError: for a registry that does not answer or rejects a schema.
    """
    return (
        SchemaRegistry(changefeed.schema_registry).registered(schemas) if changefeed.schema_registry else None
    )


def with_schemas(
    options: Options, changefeed: Changefeed, messages: Dataset, own: Mapping[int, str]
) -> Options:
    """Return a decoder's options with the schemas that messages refer to.

    :param messages: with ``key`` and ``value`` of ``MESSAGES``, in any order; searched for schema ids if the
        changefeed has a registry.
    :param own: schemas of a folder or job, used without a registry.
    :raises RegistryError: for a registry that does not answer.
    """
    if changefeed.spec.schemas is None:
        return options
    if not changefeed.schema_registry:
        return {**options, "schemas": dict(own)}
    ids = partial(_ids, changefeed.spec.schemas.id_in)
    numbers = frozenset[int]().union(*messages.select("key", "value").results(ids))
    registry = SchemaRegistry(changefeed.schema_registry)
    schemas = {number: registry.schema(number) for number in sorted(numbers)[:_MOST]}
    return {
        **options,
        "schemas": {number: schema for number, schema in schemas.items() if schema is not None},
    }


def _ids(id_in: Callable[[bytes], int | None], _part: Part, batches: Batches) -> frozenset[int]:
    """Return the schema ids in the messages of a part, at most as many as are fetched."""
    numbers: set[int] = set()
    for batch in batches:
        parts = (part for name in ("key", "value") for part in batch.column(name).to_pylist())
        numbers.update(number for part in parts if part and (number := id_in(part)) is not None)
        if len(numbers) > _MOST:
            numbers = set(sorted(numbers)[:_MOST])
    return frozenset(numbers)
