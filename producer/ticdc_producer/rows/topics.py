"""Messages in ranges of topics, and how they decode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.local import LocalEngine, local
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.rows.origin import TABLE_DESCRIPTIONS, KnownTable, Origin
from ticdc_producer.targets.kafka.read import OffsetRange, range_rows


def messages_of_topics(
    changefeed: Changefeed,
    brokers: Brokers,
    ranges: Sequence[OffsetRange],
    *,
    descriptions: Sequence[bytes] | None = None,
    schemas: Mapping[int, str] | None = None,
    tables: Mapping[str, KnownTable] | None = None,
) -> Origin:
    """Return the messages of topics, in a part per range.

    :param descriptions: the messages that describe tables; None: those in the ranges.
    :param schemas: the Avro schemas by their ids; None: those of the registry.
    :param tables: the tables whose definition is known, by ``SCHEMA.TABLE``.
    :raises ChangefeedError: for a protocol with schemas, if no registry is named.
    """
    options = changefeed.codec_options()
    if changefeed.spec.schemas is not None and schemas is None:
        options["schema_of"] = _RegisteredSchemas(changefeed)
    elif changefeed.spec.schemas is not None:
        options["schemas"] = schemas
    if descriptions is not None:
        options[TABLE_DESCRIPTIONS] = tuple(descriptions)
    return Origin(
        changefeed=changefeed,
        messages=local(range_rows(LocalEngine(), brokers, ranges)),
        options=options,
        claims=changefeed.claim_check_storage_uri,
        tables=tables or {},
    )


class _RegisteredSchemas:
    """The schemas of a registry by their ids, which a task fetches when it needs them."""

    def __init__(self, changefeed: Changefeed) -> None:
        if not changefeed.schema_registry:
            what = "Avro messages cannot be decoded without schemas"
            raise ChangefeedError(what, parameter="schema-registry", hint="name the schema registry")
        self._url = changefeed.schema_registry

    def __call__(self, number: int) -> str | None:
        from ticdc_producer.targets.kafka.schema_registry import SchemaRegistry

        return SchemaRegistry(self._url).schema(number)
