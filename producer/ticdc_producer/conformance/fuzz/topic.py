"""The requests of an example and their expected answers: plain functions, without Spark jobs and files."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.conformance.case import Case, TopicCase
from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.compare import ExpectedRows
from ticdc_producer.conformance.delivery import delivered
from ticdc_producer.conformance.fuzz.example import MAX_COMMIT, FuzzExample, TopicRequest
from ticdc_producer.conformance.fuzz.restarts import MAX_STATES, restart_cases
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.wire import ApplyRequest, Event, KafkaRecord, Request, event_of
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import ClaimObject, Message
from ticdc_producer.model.event_line import DecodedRow, event_line
from ticdc_producer.model.fidelity import has_commit_ts
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.model.values.sql_value import DEFAULT_NOW
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.runs.topic_cache import consumer_state_of_sql
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.scenario_file import ScenarioFile, SQLStep
from ticdc_producer.scenario.sql.dml.statement_cache import shared_statements
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import planned
from ticdc_producer.simulate.scenario_changefeed import with_traps
from ticdc_producer.simulate.simulate import SimulatedTopic, simulated_topic

NAME = "fuzz"
"""Name of the scenario and of its topic."""
_STATEMENTS = shared_statements(max_trees=4096)
_EVENT_FIELDS = frozenset(Event.__struct_fields__)
_DESCRIBES = ("bootstrap", "ddl")
"""Types of Simple's messages that have the schema of a table."""


def _moves(rows: Iterable[DecodedRow]) -> bool:
    """Return whether the events of a row, by its handle key, are in several partitions."""
    partitions: dict[object, tuple[str, int]] = {}
    for row in rows:
        handle = [column["name"] for column in row["columns"] or () if column["flag"] & ColumnFlag.HANDLE_KEY]
        image = dict((row["before"] if row["op"] == "delete" else row["after"]) or ())
        key = row["schema"], row["table"], *((name, image.get(name)) for name in handle)
        partition = row["topic"], row["partition"]
        if handle and partitions.setdefault(key, partition) != partition:
            return True
    return False


@dataclass(frozen=True)
class FuzzTopic:
    """The topic of an example.

    :param job: the prepared scenario.
    :param simulation: the messages that a changefeed sends for it.
    """

    example: FuzzExample
    job: Job
    simulation: SimulatedTopic

    @property
    def records(self) -> list[KafkaRecord]:
        """All messages; each partition is in the order of its offsets."""
        return [record for record, _ in self._messages]

    @property
    def claims(self) -> dict[str, str] | msgspec.UnsetType:
        """All claim-check objects by their file name; unset if there are none."""
        return _objects(claim for _, message in self._messages for claim in message.claims)

    @cached_property
    def _messages(self) -> list[tuple[KafkaRecord, Message]]:
        """All messages, as records and as the encoders return them."""
        return [
            (
                KafkaRecord(
                    topic=topic,
                    partition=partition,
                    offset=offset,
                    key=_base64(message.key),
                    value=_base64(message.value),
                ),
                message,
            )
            for (topic, partition), messages in self.simulation.partitions.items()
            for offset, message in enumerate(messages)
        ]

    @cached_property
    def _expected(self) -> list[DecodedRow]:
        """The expected events, with their positions."""
        events: list[DecodedRow] = self.simulation.expected_events.to_pylist()
        return events

    @cached_property
    def _reduced_tables(self) -> frozenset[str]:
        """Tables with rows of which only the handle key was sent, by all their names.

        Nobody knows their other columns without the upstream database.
        """
        reduced = {
            f"{event['schema']}.{event['table']}" for event in self._expected if event["handle_key_only"]
        }
        catalog = self.job.history.catalog
        for ddl in catalog.ddls if reduced else ():
            of_ddl = [
                catalog.tables[version] for version in (ddl.version_before, ddl.version_after) if version >= 0
            ]
            if ddl.job_type == Action.EXCHANGE_TABLE_PARTITION:
                of_ddl = list(catalog.tables)
            names = {table.qualified_name for table in of_ddl}
            reduced |= names if names & reduced else set()
        return frozenset(reduced)

    @property
    def traps(self) -> frozenset[str]:
        """The traps of the catalogue that the topic has."""
        rows = [event for event in self._expected if event["kind"] == "row"]
        traps = set(self.example.traps)
        if self.job.faults is not None:
            traps |= self.simulation.injected_traps
        if self._reduced_tables:
            traps.add("handle-key-only")
        if any(message.claims for _, message in self._messages):
            traps.add("claim-check")
        if rows and {*self.simulation.partitions} - {(row["topic"], row["partition"]) for row in rows}:
            traps.add("idle-partition")
        if _moves(rows):
            traps.add("changed-dispatch-column")
        return frozenset(traps)

    def cases(self, name: str) -> Iterator[Case | TopicCase | RestartCase]:
        """Yield the requests with the expected answers.

        :param name: prefix of the ids.
        """
        if Level.DECODE in self.example.levels:
            yield from self._decode_cases(name)
        if Level.APPLY in self.example.levels:
            yield from self._apply_cases(name)
        if Level.RESTART in self.example.levels:
            yield from restart_cases(self, f"{name}.restart")

    def _decode_cases(self, name: str) -> Iterator[Case]:
        """Yield a case per message. Equal messages, such as a DDL in every partition, are one case."""
        events, known = self.events, set()
        described: dict[int, list[str]] = {}
        describes = BUILT_IN[self.example.protocol].described_versions is not None
        for record, message in self._messages:
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
                    schemas=self.schemas,
                    claims=_objects(message.claims),
                )
                yield Case(id=request.case, description="", request=request, expected=tuple(events[position]))
            if describes and message.type in _DESCRIBES and record.value is not None:
                before.append(record.value)

    @cached_property
    def events(self) -> Mapping[tuple[str, int, int], list[Event]]:
        """The expected events by the position of their message."""
        events: dict[tuple[str, int, int], list[Event]] = {}
        for row in self._expected:
            line = event_line(row)
            event = event_of({name: value for name, value in line.items() if name in _EVENT_FIELDS})
            events.setdefault((row["topic"], row["partition"], row["offset"]), []).append(event)
        return events

    def _apply_cases(self, name: str) -> Iterator[TopicCase]:
        """Yield a case of the whole topic per delivery. Equal requests are one case."""
        example, records, known = self.example, self.records, list[Any]()
        for number, delivery in enumerate(example.deliveries):
            resolved_ts = self._resolved_ts(delivery)
            messages = delivered(records, delivery.order, delivery.seed)
            tables = self.expected_tables(resolved_ts)
            if not tables or (resolved_ts, messages) in known:
                continue
            known.append((resolved_ts, messages))
            request = ApplyRequest(
                case=f"{name}.delivery-{number}",
                level="apply",
                protocol=example.protocol,
                options=example.consumer_options,
                messages=messages,
                tables=[table.name for table in tables],
                schemas=self.schemas,
                claims=self.claims,
                resolved_ts=resolved_ts,
                follows_ddl=example.follows_ddl or msgspec.UNSET,
            )
            yield TopicCase(id=request.case, description="", request=request, expected=tables)

    def _resolved_ts(self, delivery: TopicRequest) -> int | None:
        """Return the time stamp of the requested rows; None for the rows at the end."""
        fidelity = self.job.encoder.fidelity
        if delivery.at_commit is None or not fidelity.resolved or not has_commit_ts(fidelity.commit_ts):
            return None
        return _ts_of(delivery.at_commit)

    def expected_tables(self, resolved_ts: int | None) -> tuple[ExpectedRows, ...]:
        """Return the rows that a consumer must have as of a time stamp; None: at the end."""
        if resolved_ts not in self._tables:
            tables = consumer_state_of_sql(
                self.job,
                resolved_ts,
                follows_ddl=self.example.follows_ddl,
                omitted=self.simulation.rejected_tables | self._reduced_tables,
            )
            self._tables[resolved_ts] = tuple(msgspec.convert(tables, list[ExpectedRows]))
        return self._tables[resolved_ts]

    @cached_property
    def _tables(self) -> dict[int | None, tuple[ExpectedRows, ...]]:
        """The expected tables by time stamp, of those time stamps that were requested so far."""
        return {}

    @cached_property
    def schemas(self) -> dict[str, str] | msgspec.UnsetType:
        """The schemas of a registry; unset for protocols without one."""
        return {str(number): schema for number, schema in self.job.known_schemas.items()} or msgspec.UNSET


def build_topic(example: FuzzExample) -> FuzzTopic:
    """Run the statements of an example and encode its topic.

    :raises ProducerError: if a statement fails, or a trap cannot be injected.
    """
    changefeed = changefeed_of(example)
    states = MAX_STATES if Level.RESTART in example.levels else MAX_COMMIT
    plain, history = _executed(example.text, changefeed.force_replicate, changefeed.profile, states)
    scenario, traps = with_traps(replace(plain, seed=example.seed), example.inject)
    moments = sorted(
        {_ts_of(delivery.at_commit) for delivery in example.deliveries if delivery.at_commit is not None}
    )
    job = planned(scenario, changefeed, replace(history), traps=traps, state_at=moments)
    return FuzzTopic(example, job, simulated_topic(job))


def _ts_of(commit: int) -> int:
    """Return the commit-ts of the last of a number of commits."""
    return CommitClock().ts(commit - 1)


@lru_cache(maxsize=8)
def _executed(
    text: str, force_replicate: bool, profile: Profile, states: int
) -> tuple[ScenarioFile, History]:
    """Execute a script, and retain the states after its first commits. Examples share scripts.

    :param states: number of commits.
    """
    scenario = _scenario(text)
    history = execute(
        scenario,
        force_replicate=force_replicate,
        profile=profile,
        state_after=range(1, states + 1),
        statements=_STATEMENTS,
    )
    return scenario, history


def _scenario(text: str) -> ScenarioFile:
    clock = CommitClock()
    return ScenarioFile(
        file=f"{NAME}.sql",
        sha256=sha256(text.encode()).hexdigest(),
        name=NAME,
        description="",
        seed=0,
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


def changefeed_of(example: FuzzExample) -> Changefeed:
    """Return the changefeed of an example.

    :raises ChangefeedError: for options that do not exist.
    """
    options = json.dumps(example.options, sort_keys=True)
    return _changefeed(example.protocol, options, example.partitions, example.dispatch, example.topic)


@lru_cache(maxsize=1024)
def _changefeed(protocol: str, options: str, partitions: int, dispatch: str, topic: str) -> Changefeed:
    """Return the changefeed of some examples. Its validation takes longer than a small history."""
    plain = _plain_changefeed(protocol, partitions)
    rule = {name: value for name, value in (("partition", dispatch), ("topic", topic)) if value}
    rules = [{"matcher": ["*.*"], **rule}] if rule else []
    given = json.loads(options)
    sends_ddl = BUILT_IN[protocol].sends_ddl({**plain, **given})
    return Changefeed.from_manifest({**plain, "output-ddl": sends_ddl, "dispatchers": rules, **given})


@cache
def _plain_changefeed(protocol: str, partitions: int) -> Mapping[str, Any]:
    return resolve(f"kafka:///{NAME}?protocol={protocol}&partition-num={partitions}").as_manifest()


def _objects(claims: Iterable[ClaimObject]) -> dict[str, str] | msgspec.UnsetType:
    """Return claim-check objects by their file name; unset if there are none."""
    return {claim.name: b64encode(claim.content).decode("ascii") for claim in claims} or msgspec.UNSET


def _base64(part: bytes | None) -> str | None:
    return None if part is None else b64encode(part).decode("ascii")
