"""Verification of a stream: against TiCDC's guarantees, and against the expectations of an oracle."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import TypeAlias

import pyarrow.compute as pc

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part
from ticdc_producer.model.shapes import DECODED, BatchFunction
from ticdc_producer.oracle import Oracle
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.registry import wire_digests
from ticdc_producer.protocols.spec import Options, ProtocolSpec
from ticdc_producer.protocols.wire_digests import WireDigests
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.runs.wrong_protocol import with_protocol_hint
from ticdc_producer.targets.claims import claimed_contents
from ticdc_producer.targets.decode import canonical_forms, event_decoder, eventless_digests
from ticdc_producer.targets.kafka.schema_registry import with_schemas
from ticdc_producer.targets.record_batches import TableDescriptions, described_rows, with_table_schemas
from ticdc_producer.verifier.check import check_messages
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.invariants.registry import enabled_invariants
from ticdc_producer.verifier.match import ExpectedState, ExpectedStream
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import Strictness, VerifyOptions
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import Verdict
from ticdc_producer.verifier.wire import Eventless, EventlessMessages, WireDecoder

_USUAL = Strictness()


@dataclass(frozen=True)
class VerifiedStream:
    """A stream with its verdict, as passed to ``on_verdict``.

    :param scenario: name of the scenario it was compared with; empty without one.
    :param events: the decoded events (shape ``DECODED``), decoded whenever they are read.
    :param decode: from messages to events.
    :param messages: the messages.
    :param options: those of the decoder.
    :param seconds: how long reading and verifying it took; 0 if it was not measured.
    """

    changefeed: Changefeed
    scenario: str
    events: Dataset
    verdict: Verdict
    decode: BatchFunction
    messages: Messages
    options: Options
    seconds: float = 0.0


OnVerdict: TypeAlias = Callable[[VerifiedStream], None]


def ignore_verdict(_verified: VerifiedStream) -> None:
    """Do nothing: the default ``on_verdict``."""


def verify_messages(
    engine: Engine,
    changefeed: Changefeed,
    messages: Messages,
    oracle: Oracle | None = None,
    *,
    topics: Sequence[str] | None = None,
    strictness: Strictness = _USUAL,
    skipped: Collection[str] = (),
    claims: str = "",
    schemas: Mapping[int, str] | None = None,
) -> VerifiedStream:
    """Verify messages, and compare them with the expected ones.

    :param engine: that of all datasets.
    :param messages: those that were read from a topic or folder.
    :param oracle: the requirements of a scenario or folder; None: no comparison.
    :param topics: the topics that were read; None: the scenario's, or those in the messages.
    :param skipped: ``schema.table`` of tables with rejected rows that are known without a scenario.
    :param claims: location of the claim-check objects, as URI or path; empty: the objects are not read.
    :param schemas: Avro schemas stored in a folder, by the ids in its messages. They replace the registry,
        whose ids are others.
    """
    started, job = perf_counter(), None if oracle is None else oracle.job
    decode_options: Options = changefeed.codec_options()
    fidelity = registry.fidelity(changefeed.protocol, decode_options)
    own = schemas or ({} if job is None else job.known_schemas)
    of_folder = changefeed.model_copy(update={"schema_registry": ""}) if schemas else changefeed
    decode_options = with_schemas(decode_options, of_folder, messages.rows, own)
    events = None if oracle is None else oracle.events()
    decode_options, eventless = _described(messages.rows, changefeed, decode_options, events)
    decode = event_decoder(changefeed.protocol, decode_options, claims)
    if topics is None:
        topics = _topics(messages.rows) if job is None else job.stream.topic_partitions.topics
    rejected = {*skipped, *(() if oracle is None else oracle.rejected_tables)}
    options = verify_options(changefeed, fidelity, topics, strictness, job, rejected)
    states: list[ExpectedState] = []

    def expected_states(stats: StreamStats) -> list[ExpectedState]:
        states.extend(() if oracle is None else oracle.states(stats))
        return states

    wire = wire_decoder(changefeed, decode_options, events, claims, eventless)
    read = decode if wire is None else wire.decode_bytes
    snapshot = None if oracle is None else oracle.snapshot()
    checked = check_messages(engine, messages, read, options, events, expected_states, wire, snapshot)
    comparison = checked.comparison if oracle is None else oracle.complete(checked.comparison)
    if comparison is not None and job is not None and wire is None:
        comparison = replace(comparison, not_compared=EVENTS_ALONE)
    compared = {state.until: rows for state, rows in zip(states, checked.states, strict=True)}
    findings = with_protocol_hint(checked.findings, checked.kinds, changefeed.protocol, messages.rows)
    result = verdict(options, findings, checked.kinds, comparison, compared)
    scenario = "" if job is None else job.scenario.name
    stream = messages.rows.map(decode, DECODED)
    seconds = perf_counter() - started
    return VerifiedStream(
        changefeed, scenario, stream, result, decode, messages, decode_options, seconds=seconds
    )


TIMESTAMPS = {"time stamps": "the wall clock when a message was sent"}
"""What is not compared of the records of topics."""
EVENTS_ALONE = {"bytes of messages": "the decoded events alone are compared here"}


def _described(
    messages: Dataset, changefeed: Changefeed, options: Options, expected: ExpectedStream | None
) -> tuple[Options, EventlessMessages | None]:
    """Add the table schemas in the messages to the options, and return the messages without events.

    Both are found in one pass.

    :param expected: the stream with which messages are compared; without its messages none are returned.
    """
    spec, by_partition = changefeed.spec, changefeed.describes_in_first
    digests = wire_digests(spec.name, options, canonical=True)
    eventless = _eventless(spec, digests)
    compares = expected is not None and expected.wire is not None
    if not compares or eventless is None or spec.described_versions is None:
        return with_table_schemas(messages, spec.name, options), None

    def of_part(_part: Part, batches: Batches) -> tuple[list[bytes], EventlessMessages]:
        own, others = TableDescriptions(spec), EventlessMessages(by_partition)
        for batch in batches:
            described = described_rows(spec, batch)
            own.add(filter(None, described.column("value").to_pylist()))
            others.add(described, eventless)
        return own.values, others

    descriptions, total = TableDescriptions(spec), EventlessMessages(by_partition)
    for values, others in messages.select(*_MESSAGE).results(of_part):
        descriptions.add(values)
        total.merge([others])
    return {**options, "table_descriptions": tuple(descriptions.values)}, total


_MESSAGE = ("topic", "partition", "offset", "key", "value", "headers")


def _eventless(spec: ProtocolSpec, digests: WireDigests | None) -> Eventless | None:
    if digests is None or digests.format.is_eventless is None:
        return None
    return partial(eventless_digests, spec, digests)


def wire_decoder(
    changefeed: Changefeed,
    options: Options,
    expected: ExpectedStream | None,
    claims: str = "",
    delivered_eventless: EventlessMessages | None = None,
) -> WireDecoder | None:
    """Return what reads the bytes of delivered messages; None if they are not compared.

    :param options: with the table schemas in the messages, see ``with_table_schemas``.
    :param expected: the stream with which they are compared.
    :param claims: location of the claim-check objects.
    :param delivered_eventless: the messages without events; None: they are not compared.
    """
    protocol, in_files = changefeed.protocol, changefeed.in_files
    digests = wire_digests(protocol, options, canonical=True, in_files=in_files)
    if digests is None or expected is None or expected.wire is None:
        return None
    of_bytes = wire_digests(protocol, options, in_files=in_files)
    return WireDecoder(
        decode=event_decoder(protocol, options, claims, digests),
        decode_bytes=event_decoder(protocol, options, claims, of_bytes),
        forms=partial(canonical_forms, digests, claimed_contents(claims)),
        not_compared={**digests.not_compared, **({} if in_files else TIMESTAMPS)},
        eventless=_eventless(changefeed.spec, digests),
        delivered_eventless=delivered_eventless,
    )


def _topics(messages: Dataset) -> list[str]:
    def topics(_part: Part, batches: Batches) -> set[str]:
        return {topic for batch in batches for topic in pc.unique(batch.column("topic")).to_pylist()}

    return sorted(set[str]().union(*messages.select("topic").results(topics)))


def verdict(
    options: VerifyOptions,
    findings: Sequence[Finding],
    kinds: dict[str, int],
    comparison: Comparison | None,
    states: Mapping[int | None, StateComparison],
) -> Verdict:
    """Return the verdict on a verified stream.

    :param states: the comparisons of the rows, by time stamp (TSO); None: at the end.
    """
    unchecked = {finding.id for finding in findings if finding.severity == "not checked"}
    return Verdict(
        findings=tuple(findings),
        checked=tuple(
            invariant.id for invariant in enabled_invariants(options) if invariant.id not in unchecked
        ),
        kinds=kinds,
        comparison=comparison,
        state=states.get(None),
        states={ts: compared for ts, compared in states.items() if ts is not None},
    )
