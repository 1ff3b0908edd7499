"""A case of the apply level: a whole topic, and the rows that a consumer of it has.

The topic comes through the Spark stages, once; the cases of one share it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ticdc_producer.conformance.apply_spec import Applying
from ticdc_producer.conformance.compare_tables import ExpectedTable
from ticdc_producer.conformance.wire import ApplyRequest, Record
from ticdc_producer.model import record
from ticdc_producer.runs.topic_cache import Topic, kept_topic
from ticdc_producer.targets.golden import read as source


@dataclass(frozen=True, kw_only=True)
class ApplyCase:
    """One question to a testee.

    :param says: what it asks of a consumer.
    :param expected: the rows of the tables that are asked.
    :param golden: golden folder of the topic.
    """

    id: str
    says: str
    request: ApplyRequest
    expected: tuple[ExpectedTable, ...]
    golden: Path


def build_apply(applying: Applying, say: Callable[[str], None]) -> ApplyCase:
    """The case of a topic; Spark makes the topic if this machine does not have it yet.

    :param say: is told when it does.
    :raises ProducerError: if Spark does not start, or the topic cannot be kept.
    """
    form = applying.form
    topic = Topic(
        scenario=form.scenario,
        sink_uri=applying.sink_uri,
        sets=form.sets,
        inject=form.inject,
        moments=applying.moments,
    )
    kept = kept_topic(topic, say)
    tables = msgspec.convert(kept.tables(form.resolved_ts), list[ExpectedTable])
    asked = tuple(table for table in tables if not form.tables or table.name in form.tables)
    request = ApplyRequest(
        case=applying.id,
        level="apply",
        protocol=applying.protocol,
        options=dict(applying.options),
        messages=_delivered(kept.golden),
        tables=[table.name for table in asked],
        resolved_ts=form.resolved_ts,
    )
    return ApplyCase(id=applying.id, says=applying.says, request=request, expected=asked, golden=kept.golden)


def _delivered(folder: Path) -> list[Record]:
    """The messages as a consumer may get them: each partition in its order, one of each in turn."""
    records = source.records(folder / "messages.jsonl")
    return [
        Record(
            topic=one.topic,
            partition=one.partition,
            offset=one.offset,
            key=_base64(one.key),
            value=_base64(one.value),
        )
        for one in sorted(records, key=_turn)
    ]


def _turn(one: record.Record) -> tuple[int, str, int]:
    return one.offset, one.topic, one.partition


def _base64(part: bytes | None) -> str | None:
    return None if part is None else b64encode(part).decode("ascii")
