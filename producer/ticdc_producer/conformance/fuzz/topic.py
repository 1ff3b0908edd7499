"""The requests of an example and their expected answers: plain functions, without Spark jobs and files."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.conformance.apply_case import TopicCase
from ticdc_producer.conformance.case import Case
from ticdc_producer.conformance.compare_tables import ExpectedTable
from ticdc_producer.conformance.fuzz.deliveries import delivered
from ticdc_producer.conformance.fuzz.example import Example
from ticdc_producer.conformance.level import Level
from ticdc_producer.conformance.wire import ApplyRequest, Event, Record, Request, event_of
from ticdc_producer.model.clock import Clock
from ticdc_producer.model.event_line import event_line
from ticdc_producer.model.sql_mode import DEFAULT_NOW
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.runs.consumer_state import consumer_state_of_sql
from ticdc_producer.runs.prepare import Job, prepare
from ticdc_producer.runs.simulate import Simulation, simulate
from ticdc_producer.scenario.load import ScenarioFile, SQLStep
from ticdc_producer.scenario.sql.statement_cache import shared_statements

NAME = "fuzz"
"""Name of the scenario and of its topic."""
_STATEMENTS = shared_statements(max_trees=4096)
_EVENT_FIELDS = frozenset(Event.__struct_fields__)
_DESCRIBES = ("bootstrap", "ddl")
"""Types of Simple's messages that have the schema of a table."""


@dataclass(frozen=True)
class FuzzTopic:
    """The topic of an example.

    :param job: the prepared scenario.
    :param simulation: what a changefeed sends for it.
    """

    example: Example
    job: Job
    simulation: Simulation

    @cached_property
    def records(self) -> list[tuple[Record, str]]:
        """All messages, each with its type."""
        return [
            (
                Record(
                    topic=part.topic,
                    partition=part.partition,
                    offset=offset,
                    key=_base64(message.key),
                    value=_base64(message.value),
                ),
                message.type,
            )
            for part in self.simulation.partitions
            for offset, message in enumerate(one for batch in part.batches for one in batch.messages())
        ]

    @cached_property
    def _expected(self) -> list[dict[str, Any]]:
        """The expected events, with their positions."""
        events: list[dict[str, Any]] = self.simulation.expected_events.to_pylist()
        return events

    @property
    def _has_reduced_rows(self) -> bool:
        return any(event["handle_key_only"] for event in self._expected)

    @property
    def traps(self) -> frozenset[str]:
        """The traps of the catalogue that the topic has."""
        rows = [event for event in self._expected if event["kind"] == "row"]
        found = set(self.example.traps)
        if self.job.faults is not None:
            found |= {str(fault["trap"]) for fault in self.simulation.fault_occurrences}
        if self._has_reduced_rows:
            found.add("handle-key-only")
        if rows and {part.partition for part in self.simulation.partitions} - {
            row["partition"] for row in rows
        }:
            found.add("idle-partition")
        return frozenset(found)

    def cases(self, name: str) -> Iterator[Case | TopicCase]:
        """The requests with the expected answers.

        :param name: what the ids begin with.
        """
        if Level.DECODE in self.example.levels:
            yield from self._decode_cases(name)
        if Level.APPLY in self.example.levels and (case := self._apply_case(name)) is not None:
            yield case

    def _decode_cases(self, name: str) -> Iterator[Case]:
        """A case per message; equal messages, such as a DDL in every partition, are one case."""
        events, known = self._events(), set()
        described: dict[int, list[str]] = {}
        describes = BUILT_IN[self.example.protocol].described_versions is not None
        for record, kind in self.records:
            position = record.topic, record.partition, record.offset
            before = described.setdefault(record.partition, [])
            content = record.key, record.value
            if position in events and content not in known:
                known.add(content)
                request = Request(
                    case=f"{name}.message-{record.partition}-{record.offset}",
                    level="decode",
                    protocol=self.example.protocol,
                    options=self.example.consumer_options,
                    key=record.key,
                    value=record.value,
                    described=list(before) or msgspec.UNSET,
                )
                yield Case(id=request.case, description="", request=request, expected=tuple(events[position]))
            if describes and kind in _DESCRIBES and record.value is not None:
                before.append(record.value)

    def _events(self) -> Mapping[tuple[str, int, int], list[Event]]:
        """The expected events by the position of their message."""
        found: dict[tuple[str, int, int], list[Event]] = {}
        for row in self._expected:
            line = event_line(row)
            event = event_of({name: value for name, value in line.items() if name in _EVENT_FIELDS})
            found.setdefault((row["topic"], row["partition"], row["offset"]), []).append(event)
        return found

    def _apply_case(self, name: str) -> TopicCase | None:
        """The case of the whole topic; None if no table can be requested.

        Nobody knows the rows of which only the handle key was sent, without the upstream database.
        """
        example, moments = self.example, self.job.state_at
        resolved_ts = moments[0] if moments and self.job.encoder.fidelity.resolved else None
        if (moments and resolved_ts is None) or self._has_reduced_rows:
            return None
        found = consumer_state_of_sql(
            self.job,
            resolved_ts,
            follows_ddl=example.follows_ddl,
            left_out=self.simulation.skipped_tables,
        )
        if not found:
            return None
        tables = tuple(msgspec.convert(found, list[ExpectedTable]))
        request = ApplyRequest(
            case=f"{name}.topic",
            level="apply",
            protocol=example.protocol,
            options=example.consumer_options,
            messages=delivered([record for record, _ in self.records], example.order, example.seed),
            tables=[table.name for table in tables],
            resolved_ts=resolved_ts,
            follows_ddl=example.follows_ddl or msgspec.UNSET,
        )
        return TopicCase(id=request.case, description="", request=request, expected=tables)


def build_topic(example: Example) -> FuzzTopic:
    """Run the statements of an example and encode its topic.

    :raises ProducerError: if a statement fails, or a trap cannot be injected.
    """
    at_commit = example.at_commit
    job = prepare(
        _scenario(example),
        changefeed=changefeed_of(example),
        inject=example.inject,
        state_at=() if at_commit is None else (Clock().ts(at_commit - 1),),
        statements=_STATEMENTS,
    )
    return FuzzTopic(example, job, simulate(job))


def _scenario(example: Example) -> ScenarioFile:
    text = example.text
    clock = Clock()
    return ScenarioFile(
        file=f"{NAME}.sql",
        sha256=sha256(text.encode()).hexdigest(),
        name=NAME,
        description="",
        seed=example.seed,
        start=clock.start,
        every=timedelta(microseconds=clock.every_us),
        build_time=None,
        database="test",
        time_zone="+00:00",
        now=DEFAULT_NOW,
        resolved_every=None,
        changefeed={},
        steps=(SQLStep(text=text, line=1),),
        on_error="skip",
    )


def changefeed_of(example: Example) -> Changefeed:
    """The changefeed of an example.

    :raises ChangefeedError: for options that do not exist.
    """
    options = json.dumps(example.options, sort_keys=True)
    return _changefeed(example.protocol, options, example.partitions, example.dispatch)


@lru_cache(maxsize=1024)
def _changefeed(protocol: str, options: str, partitions: int, dispatch: str) -> Changefeed:
    """The changefeed of some examples; its validation takes longer than a small history."""
    plain = resolve(f"kafka:///{NAME}?protocol={protocol}&partition-num={partitions}").as_manifest()
    rules = [{"matcher": ["*.*"], "partition": dispatch}] if dispatch else []
    return Changefeed.from_manifest({**plain, "dispatchers": rules, **json.loads(options)})


def _base64(part: bytes | None) -> str | None:
    return None if part is None else b64encode(part).decode("ascii")
