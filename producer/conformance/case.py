"""A case: one message, and what a consumer has to make of it. No Spark and no broker is needed."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from producer.changefeed import Changefeed, resolve
from producer.codec import registry
from producer.codec.base import Encoder
from producer.conformance.damage import DAMAGES
from producer.conformance.exchange import Event, Request, event_of
from producer.conformance.story import Telling
from producer.conformance.told import told_ddl, told_resolved, told_row
from producer.model.clock import Clock
from producer.model.event import Kind, Message
from producer.model.event_line import event_line
from producer.model.profile import Profile
from producer.scenario.history import Change, History
from producer.scenario.sql.session import Session
from producer.sink.encode import EncodePlan, PartitionEncoder

_CLOCK = Clock()
_IMAGE = pa.list_(pa.binary())
_STREAM = pa.schema(
    [
        ("kind", pa.int8()), ("commit_ts", pa.int64()), ("table_version", pa.int32()),
        ("table_id", pa.int64()), ("row_id", pa.int64()), ("op", pa.int8()), ("before", _IMAGE),
        ("after", _IMAGE), ("dispatch_key", pa.string()), ("ddl", pa.int32()),
    ]
)  # fmt: skip


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
    :raises ValueError: for one that does not make exactly one message.
    """
    story, changefeed = telling.story, _changefeed(telling)
    history, before = _played(story.given, story.sql, changefeed.profile)
    options = changefeed.model_dump(exclude={"sink_uri", "dispatchers", "warnings"})
    encoder = registry.encoder(telling.protocol, options)
    events = list(_events(history, before, story.resolved))
    plan = EncodePlan(protocol=telling.protocol, options=options, catalog=history.catalog)
    table = pa.Table.from_pylist(events, schema=_STREAM)
    messages = list(PartitionEncoder(plan).messages(table.combine_chunks().to_batches()))
    if len(messages) != 1:
        raise ValueError(f"{telling.id} makes {len(messages)} messages")
    told = None if story.damage else tuple(_expected(history, before, encoder, telling))
    return Case(id=telling.id, says=story.says, request=_request(telling, messages[0]), expected=told)


def _request(telling: Telling, message: Message) -> Request:
    key, value = message.key, message.value
    if telling.story.damage:
        key, value = DAMAGES[telling.story.damage](key, value)
    return Request(
        case=telling.id,
        level="decode",
        protocol=telling.protocol,  # type: ignore[arg-type]  # a test checks the corpus against the schema
        options=dict(telling.options),
        key=_base64(key),
        value=_base64(value),
    )


def _base64(part: bytes | None) -> str | None:
    return None if part is None else b64encode(part).decode("ascii")


def _changefeed(telling: Telling) -> Changefeed:
    plain = resolve(f"kafka:///conformance?protocol={telling.protocol}")
    return Changefeed.from_manifest({**plain.as_manifest(), **telling.options})


@lru_cache(maxsize=8)
def _played(given: str, sql: str, profile: Profile) -> tuple[History, int]:
    """The history, and how many commits of it come before the story.

    The protocols of a story follow each other, so that few are kept.
    """
    session = Session(profile=profile)
    session.run(given)
    before = session.commits
    session.run(sql)
    return session.history(), before


def _changes(history: History, before: int) -> list[Change]:
    return [change for change in history.changes if change.commit_seq >= before]


def _events(history: History, before: int, resolved: bool) -> Iterator[dict[str, Any]]:
    """The event stream of one partition: rows or DDLs, then the resolved event."""
    for change in _changes(history, before):
        yield {
            "kind": int(Kind.ROW),
            "commit_ts": _CLOCK.ts(change.commit_seq),
            "table_version": change.table_version,
            "table_id": change.table_id,
            "row_id": change.row_id,
            "op": int(change.op),
            "before": change.before,
            "after": change.after,
            "dispatch_key": "",
        }
    for place, job in enumerate(history.catalog.ddls):
        if job.commit_seq >= before and job.sent:
            yield {"kind": int(Kind.DDL), "commit_ts": _CLOCK.ts(job.commit_seq), "ddl": place}
    if resolved:
        yield {"kind": int(Kind.RESOLVED), "commit_ts": _CLOCK.ts(history.commits - 1)}


def _expected(history: History, before: int, encoder: Encoder, telling: Telling) -> Iterator[Event]:
    losses, story = encoder.losses, telling.story
    rows = [
        told_row(
            change,
            history.catalog.tables[change.table_version],
            _CLOCK.ts(change.commit_seq),
            losses,
            handle_key_only=story.handle_key_only,
        )
        for change in _changes(history, before)
    ]
    ddls = [
        told_ddl(job, _CLOCK.ts(job.commit_seq), losses)
        for job in history.catalog.ddls
        if job.commit_seq >= before and job.sent
    ]
    resolved = [told_resolved(_CLOCK.ts(history.commits - 1))] if story.resolved else []
    for event in (*rows, *ddls, *resolved):
        yield event_of(_without_place(event))


def _without_place(event: dict[str, Any]) -> dict[str, Any]:
    """As a line of ``events.jsonl``, but for where it stands in the topic."""
    line = event_line(event)
    return {name: line[name] for name in line if name not in ("topic", "partition", "offset", "index")}
