"""The cases: one message and its events, or a whole topic and the rows that a consumer of it must have.

Each topic is written once; all cases of a topic share it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.conformance.case_spec import ApplyCaseSpec, DecodeCase, DecodeSpec
from ticdc_producer.conformance.compare import ExpectedRows
from ticdc_producer.conformance.damage import DAMAGES
from ticdc_producer.conformance.stream import (
    CaseStream,
    expected_ddl,
    expected_resolved,
    expected_row,
    run_spec,
)
from ticdc_producer.conformance.wire import (
    ApplyRequest,
    Event,
    KafkaRecord,
    LoadedTable,
    Request,
    StorageRequest,
    event_of,
)
from ticdc_producer.model import event
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Message
from ticdc_producer.model.event_line import DecodedRow, event_line
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.avro.schemas import assign_ids
from ticdc_producer.protocols.base import SchemaIDs
from ticdc_producer.runs.topic_cache import LoadedTableState, Topic, cached_topic
from ticdc_producer.targets.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.golden import read as source

_SCHEMA_MESSAGE = "bootstrap"
_POSITION = ("topic", "partition", "offset", "index")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One request to a testee, and the expected events.

    :param description: the requirement for a consumer.
    :param expected: the events; None if the message is damaged and an error is the right answer.
    """

    id: str
    description: str
    request: Request
    expected: tuple[Event, ...] | None


def build_decode_case(decode_case: DecodeCase) -> Case:
    """Run the SQL of a case and encode its message.

    :raises ProducerError: if the SQL fails, which the tests rule out.
    :raises ValueError: if it does not make exactly one message, besides BOOTSTRAP messages of Simple.
    """
    spec, changefeed = decode_case.spec, changefeed_of(decode_case.protocol, decode_case.options)
    stream = run_spec(
        spec.setup,
        spec.sql,
        profile=changefeed.profile,
        force_replicate=changefeed.force_replicate,
        time_zone=changefeed.time_zone,
    )
    options = changefeed.codec_options()
    known = registered_schemas(decode_case.protocol, stream.catalog, options)
    with_ids = {**options, "schema_ids": known}
    plan = EncodePlan(protocol=decode_case.protocol, options=with_ids, catalog=stream.catalog)
    messages = list(PartitionEncoder(plan).messages(stream.batches(spec.resolved)))
    *described, message = messages
    if any(earlier.type != _SCHEMA_MESSAGE for earlier in described):
        raise ValueError(f"{decode_case.id} makes {len(messages)} messages")
    fidelity = registry.fidelity(decode_case.protocol, options)
    return Case(
        id=decode_case.id,
        description=spec.description,
        request=_request(decode_case, described, message, known),
        expected=None if spec.damage else () if spec.tombstone else tuple(_expected(stream, spec, fidelity)),
    )


def changefeed_of(protocol: str, options: Mapping[str, object]) -> Changefeed:
    """Return the changefeed of a case's message.

    :param options: the options that differ from their defaults.
    """
    plain = resolve(f"kafka:///conformance?protocol={protocol}")
    return Changefeed.from_manifest({**plain.as_manifest(), **options})


def registered_schemas(protocol: str, catalog: Catalog, options: Mapping[str, object]) -> SchemaIDs:
    """Return the ids of the tables' schemas in the registry of a case.

    The result is empty for protocols without a registry.
    """
    spec = registry.protocol_spec(protocol)
    if spec.schemas is None:
        return {}
    return assign_ids(spec.schemas.of_tables(catalog.tables, lambda _: "conformance", spec.typed(options)))


def _request(
    decode_case: DecodeCase, described: Sequence[Message], message: Message, known: SchemaIDs
) -> Request:
    spec, key, value = decode_case.spec, message.key, None if decode_case.spec.tombstone else message.value
    if spec.damage:
        key, value = DAMAGES[spec.damage](key, value)
    return Request(
        case=decode_case.id,
        level="decode",
        protocol=decode_case.protocol,
        options=dict(decode_case.options),
        key=_base64(key),
        value=_base64(value),
        described=[b64encode(earlier.value or b"").decode("ascii") for earlier in described] or msgspec.UNSET,
        schemas={str(number): schema for (_, schema), number in known.items()} or msgspec.UNSET,
    )


def _base64(part: bytes | None) -> str | None:
    return None if part is None else b64encode(part).decode("ascii")


def _expected(stream: CaseStream, spec: DecodeSpec, fidelity: Fidelity) -> Iterator[Event]:
    """Yield the events in the order of the message."""
    tables, by_key = stream.catalog.tables, spec.handle_key_only
    for change in stream.changes:
        table, ts = tables[change.table_version], stream.commit_ts(change)
        yield _event(expected_row(change, table, ts, fidelity, handle_key_only=by_key))
    for _, job in stream.ddls:
        yield _event(expected_ddl(job, stream.commit_ts(job), stream.catalog, fidelity))
    if spec.resolved:
        yield _event(expected_resolved(stream.last_ts))


def _event(fields: DecodedRow) -> Event:
    """Return the event as in a line of ``events.jsonl``, without its position in the topic."""
    line = event_line(fields)
    return event_of({name: line[name] for name in line if name not in _POSITION})


@dataclass(frozen=True, kw_only=True)
class RowsCase:
    """A request of tables to a testee, and the expected rows.

    :param description: the requirement for a consumer.
    :param expected: the rows of the requested tables.
    """

    id: str
    description: str
    request: ApplyRequest | StorageRequest
    expected: tuple[ExpectedRows, ...]


@dataclass(frozen=True, kw_only=True)
class TopicCase(RowsCase):
    """A case of messages."""

    request: ApplyRequest


@dataclass(frozen=True, kw_only=True)
class ApplyCase(TopicCase):
    """A case of a stored topic.

    :param golden: golden folder of the topic.
    """

    golden: Path


def build_apply_case(spec: ApplyCaseSpec, on_status: Callable[[str], None]) -> ApplyCase:
    """Build the case of a topic. Spark makes the topic if it is not in the cache.

    :param on_status: called when Spark starts.
    :raises ProducerError: if Spark does not start, or the topic cannot be stored.
    """
    topic_spec = spec.topic_spec
    topic = Topic(
        scenario=topic_spec.scenario,
        sink_uri=spec.sink_uri,
        overrides=topic_spec.overrides,
        inject=topic_spec.inject,
        moments=spec.moments,
    )
    cached = cached_topic(topic, on_status)
    tables = msgspec.convert(
        cached.tables(topic_spec.resolved_ts, follows_ddl=topic_spec.follows_ddl), list[ExpectedRows]
    )
    requested = tuple(table for table in tables if not topic_spec.tables or table.name in topic_spec.tables)
    messages, partitions = _delivered(cached.golden), topic_spec.partitions
    request = ApplyRequest(
        case=spec.id,
        level="apply",
        protocol=spec.protocol,
        options=dict(spec.options),
        messages=messages,
        tables=[table.name for table in requested],
        schemas={str(number): schema for number, schema in source.schemas(cached.golden).items()}
        or msgspec.UNSET,
        resolved_ts=topic_spec.resolved_ts,
        follows_ddl=topic_spec.follows_ddl or msgspec.UNSET,
        partitions=dict.fromkeys((message.topic for message in messages), partitions)
        if partitions
        else msgspec.UNSET,
        snapshot=_snapshot(cached.snapshot(), requested) or msgspec.UNSET,
    )
    return ApplyCase(
        id=spec.id, description=spec.description, request=request, expected=requested, golden=cached.golden
    )


def _snapshot(tables: Sequence[LoadedTableState], requested: Sequence[ExpectedRows]) -> list[LoadedTable]:
    """Return the tables of a snapshot that are requested at the end."""
    names = {table.name for table in requested}
    named = {f"{table['schema']}.{table['table']}": table for table in tables}
    content = [
        {"name": name, "key": table["key"], "create": table["create"], "rows": table["rows"]}
        for name, table in named.items()
        if name in names
    ]
    return msgspec.convert(content, list[LoadedTable])


def _delivered(folder: Path) -> list[KafkaRecord]:
    """Return the messages in a possible order of delivery: round-robin, each partition in its order."""
    records = source.records(folder / "messages.jsonl")
    return [
        KafkaRecord(
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            key=_base64(record.key),
            value=_base64(record.value),
        )
        for record in sorted(records, key=_delivery_order)
    ]


def _delivery_order(record: event.Record) -> tuple[int, str, int]:
    return record.offset, record.topic, record.partition
