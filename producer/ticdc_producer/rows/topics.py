"""Messages in ranges of topics, and how they decode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.local import LocalEngine, local
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.rows.origin import TABLE_DESCRIPTIONS, ExpectedRows, KnownTable, Origin, unknown_rows
from ticdc_producer.targets.kafka.read import OffsetRange, range_rows
from ticdc_producer.targets.kafka.schema_registry import schemas_of_registry


def messages_of_topics(
    changefeed: Changefeed,
    brokers: Brokers,
    ranges: Sequence[OffsetRange],
    *,
    descriptions: Sequence[bytes] | None = None,
    schemas: Mapping[int, str] | None = None,
    tables: Mapping[str, KnownTable] | None = None,
    expected: ExpectedRows = unknown_rows,
) -> Origin:
    """Return the messages of topics, in a part per range.

    :param descriptions: the messages that describe tables; None: those in the ranges.
    :param schemas: the Avro schemas by their ids; None: those of the registry.
    :param tables: the tables whose definition is known, by ``SCHEMA.TABLE``.
    :param expected: of the scenario whose messages these are.
    :raises ChangefeedError: for a protocol with schemas, if no registry is named.
    """
    options = changefeed.codec_options()
    if changefeed.spec.schemas is not None and schemas is None:
        options["schema_of"] = schemas_of_registry(changefeed)
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
        expected=expected,
    )
