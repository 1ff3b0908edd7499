"""A case of the apply level: a whole topic, and the rows that a consumer of it must have.

Spark makes each topic once; all cases of a topic share it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ticdc_producer.conformance.apply_spec import ApplyCaseSpec
from ticdc_producer.conformance.compare import ExpectedRows
from ticdc_producer.conformance.wire import ApplyRequest, KafkaRecord
from ticdc_producer.model import event
from ticdc_producer.runs.topic_cache import Topic, cached_topic
from ticdc_producer.targets.golden import read as source


@dataclass(frozen=True, kw_only=True)
class TopicCase:
    """One request to a testee, and the expected rows.

    :param description: what the case requires of a consumer.
    :param expected: the rows of the requested tables.
    """

    id: str
    description: str
    request: ApplyRequest
    expected: tuple[ExpectedRows, ...]


@dataclass(frozen=True, kw_only=True)
class ApplyCase(TopicCase):
    """A case of a stored topic.

    :param golden: golden folder of the topic.
    """

    golden: Path


def build_apply_case(spec: ApplyCaseSpec, on_status: Callable[[str], None]) -> ApplyCase:
    """The case of a topic; Spark makes the topic if it is not in the cache.

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
    request = ApplyRequest(
        case=spec.id,
        level="apply",
        protocol=spec.protocol,
        options=dict(spec.options),
        messages=_delivered(cached.golden),
        tables=[table.name for table in requested],
        schemas={str(number): schema for number, schema in source.schemas(cached.golden).items()}
        or msgspec.UNSET,
        resolved_ts=topic_spec.resolved_ts,
        follows_ddl=topic_spec.follows_ddl or msgspec.UNSET,
    )
    return ApplyCase(
        id=spec.id, description=spec.description, request=request, expected=requested, golden=cached.golden
    )


def _delivered(folder: Path) -> list[KafkaRecord]:
    """The messages in a possible order of delivery: round-robin over the partitions, each in its order."""
    records = source.records(folder / "messages.jsonl")
    return [
        KafkaRecord(
            topic=one.topic,
            partition=one.partition,
            offset=one.offset,
            key=_base64(one.key),
            value=_base64(one.value),
        )
        for one in sorted(records, key=_delivery_order)
    ]


def _delivery_order(one: event.Record) -> tuple[int, str, int]:
    return one.offset, one.topic, one.partition


def _base64(part: bytes | None) -> str | None:
    return None if part is None else b64encode(part).decode("ascii")
