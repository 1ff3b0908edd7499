"""The case of the restart level that an example has: what each message contains, and the rows as of each
resolved-ts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

import msgspec

from ticdc_producer.conformance.compare import ExpectedRows
from ticdc_producer.conformance.delivery import Order, delivered
from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.restart.case import DeliveredMessage, RestartCase, partition_name
from ticdc_producer.conformance.restart.wire import RestartStart
from ticdc_producer.conformance.wire import Event, KafkaRecord
from ticdc_producer.model.event import Kind
from ticdc_producer.model.fidelity import has_commit_ts
from ticdc_producer.simulate.job import Job

MAX_STATES = 64
"""Commits after which the rows are requested, if a resolved-ts follows them."""
_KINDS = {kind.label: kind for kind in Kind}


class ExampleTopic(Protocol):
    """The topic of an example."""

    @property
    def example(self) -> FuzzExample: ...

    @property
    def job(self) -> Job: ...

    @property
    def records(self) -> list[KafkaRecord]: ...

    @property
    def claims(self) -> dict[str, str] | msgspec.UnsetType: ...

    @property
    def schemas(self) -> dict[str, str] | msgspec.UnsetType: ...

    @property
    def events(self) -> Mapping[tuple[str, int, int], list[Event]]:
        """The expected events by the position of their message."""
        ...

    def expected_tables(self, resolved_ts: int | None) -> tuple[ExpectedRows, ...]:
        """Return the rows that a consumer must have as of a time stamp; None: at the end."""
        ...


def restart_cases(topic: ExampleTopic, case: str) -> Iterator[RestartCase]:
    """Yield the case of the first delivery, unless no table can be compared. Restarts are its rebalances.

    :param case: its id.
    """
    example, delivery = topic.example, topic.example.deliveries[0]
    tables = topic.expected_tables(None)
    if not tables:
        return
    order: Order = "mixed" if delivery.order == "rebalance" else delivery.order
    messages = tuple(_messages(topic, delivered(topic.records, order, delivery.seed)))
    request = RestartStart(
        case=case,
        protocol=example.protocol,
        options=example.consumer_options,
        directory="",
        partitions={message.record.topic: example.partitions for message in messages},
        assigned=[],
        committed={},
        schemas=topic.schemas,
        claims=topic.claims,
        follows_ddl=example.follows_ddl or msgspec.UNSET,
    )
    yield RestartCase(
        id=case,
        description="",
        request=request,
        messages=messages,
        batch=example.batch,
        expected=tables,
        expected_at=_expected_at(topic, messages),
        seed=delivery.seed,
        lives=example.lives or None,
        max_stops=example.max_stops,
    )


def _messages(topic: ExampleTopic, records: Iterable[KafkaRecord]) -> Iterator[DeliveredMessage]:
    events = topic.events
    for record in records:
        content = events.get((record.topic, record.partition, record.offset), [])
        resolved = [event.commit_ts for event in content if event.kind == "resolved"]
        yield DeliveredMessage(
            record=record,
            partition=partition_name(record),
            kinds=tuple(_KINDS[event.kind] for event in content),
            resolved_ts=max(resolved, default=0),
            ddls=tuple(
                (event.commit_ts, f"{event.schema}.{event.table}: {event.query}")
                for event in content
                if event.kind == "ddl"
            ),
        )


def _expected_at(
    topic: ExampleTopic, messages: Iterable[DeliveredMessage]
) -> Mapping[int, tuple[ExpectedRows, ...]]:
    """Return the expected rows as of each resolved-ts whose state the history has."""
    job, rows = topic.job, dict[int, tuple[ExpectedRows, ...]]()
    if not has_commit_ts(job.encoder.fidelity.commit_ts):
        return {}
    by_commits: dict[int, tuple[ExpectedRows, ...]] = {}
    for ts in sorted({message.resolved_ts for message in messages} - {0}):
        commits = job.commits_until(ts)
        if commits in job.history.state_at and commits not in by_commits:
            by_commits[commits] = topic.expected_tables(ts)
        if by_commits.get(commits):
            rows[ts] = by_commits[commits]
    return rows
