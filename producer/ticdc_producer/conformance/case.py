"""A case: one message, and what a consumer has to make of it. No Spark and no broker is needed."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.conformance.damage import DAMAGES
from ticdc_producer.conformance.decode_spec import Story, Telling
from ticdc_producer.conformance.expected_events import told_ddl, told_resolved, told_row
from ticdc_producer.conformance.stream import StoryStream, played
from ticdc_producer.conformance.wire import Event, Request, event_of
from ticdc_producer.model.event import Message
from ticdc_producer.model.event_line import event_line
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.protocols import registry
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder

_DESCRIPTION = "bootstrap"
_PLACE = ("topic", "partition", "offset", "index")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question to a testee.

    :param says: what it asks of a consumer.
    :param expected: the events; None where the message is damaged and an error is the right answer.
    """

    id: str
    says: str
    request: Request
    expected: tuple[Event, ...] | None


def build(telling: Telling) -> Case:
    """The case of a story in one protocol.

    :raises ProducerError: for a story that does not run, which the tests rule out.
    :raises ValueError: for one that does not make exactly one message, beside those that describe its table.
    """
    story, changefeed = telling.story, changefeed_of(telling.protocol, telling.options)
    stream = played(
        story.given,
        story.sql,
        profile=changefeed.profile,
        force_replicate=changefeed.force_replicate,
        time_zone=changefeed.time_zone,
    )
    options = changefeed.model_dump(exclude={"sink_uri", "dispatchers", "warnings"})
    plan = EncodePlan(protocol=telling.protocol, options=options, catalog=stream.catalog)
    messages = list(PartitionEncoder(plan).messages(stream.batches(story.resolved)))
    *described, message = messages
    if any(one.type != _DESCRIPTION for one in described):
        raise ValueError(f"{telling.id} makes {len(messages)} messages")
    losses = registry.encoder(telling.protocol, options).losses
    expected = None if story.damage else tuple(_expected(stream, story, losses))
    return Case(
        id=telling.id, says=story.says, request=_request(telling, described, message), expected=expected
    )


def changefeed_of(protocol: str, options: Mapping[str, Any]) -> Changefeed:
    """The changefeed that a case's message comes from.

    :param options: those that differ from their defaults.
    """
    plain = resolve(f"kafka:///conformance?protocol={protocol}")
    return Changefeed.from_manifest({**plain.as_manifest(), **options})


def _request(telling: Telling, described: Sequence[Message], message: Message) -> Request:
    key, value = message.key, message.value
    if telling.story.damage:
        key, value = DAMAGES[telling.story.damage](key, value)
    return Request(
        case=telling.id,
        level="decode",
        protocol=telling.protocol,
        options=dict(telling.options),
        key=_base64(key),
        value=_base64(value),
        described=[b64encode(one.value or b"").decode("ascii") for one in described] or msgspec.UNSET,
    )


def _base64(part: bytes | None) -> str | None:
    return None if part is None else b64encode(part).decode("ascii")


def _expected(stream: StoryStream, story: Story, losses: Losses) -> Iterator[Event]:
    """The events in the order of the message."""
    tables, by_key = stream.catalog.tables, story.handle_key_only
    for change in stream.changes:
        table, ts = tables[change.table_version], stream.commit_ts(change)
        yield _event(told_row(change, table, ts, losses, handle_key_only=by_key))
    for _, job in stream.ddls:
        yield _event(told_ddl(job, stream.commit_ts(job), stream.catalog, losses))
    if story.resolved:
        yield _event(told_resolved(stream.last_ts))


def _event(fields: dict[str, Any]) -> Event:
    """As a line of ``events.jsonl`` has it, but for where it stands in the topic."""
    line = event_line(fields)
    return event_of({name: line[name] for name in line if name not in _PLACE})
