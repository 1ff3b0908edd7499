"""Verification of a stream: against TiCDC's guarantees, and against the events of a scenario."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TypeAlias

from pyspark.sql import DataFrame

from ticdc_producer.config import Changefeed
from ticdc_producer.model.dataframes import DECODED
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.spec import Options
from ticdc_producer.runs.expected_state import expected_rows
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.protocol_hint import with_protocol_hint
from ticdc_producer.runs.schemas import with_schemas
from ticdc_producer.runs.step_rows import StepRows
from ticdc_producer.runs.unverifiable_tables import unverifiable_tables, with_keys_of_ddls
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.targets.decoding.dataframes import with_table_schemas
from ticdc_producer.targets.decoding.decode import event_decoder
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.distributed import check_messages
from ticdc_producer.verifier.distributed_comparison import ExpectedState, ExpectedStream
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import enabled_invariants
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import Strictness, VerifyOptions
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import Verdict

_USUAL = Strictness()


class Expectation(ABC):
    """What a stream of any size is compared with.

    :ivar job: the prepared scenario; None if only its results are known.
    :ivar skipped: ``schema.table`` of tables with rejected rows; their state is not compared.
    """

    job: Job | None
    skipped: frozenset[str]

    @abstractmethod
    def expected_events(self) -> ExpectedStream | None:
        """The expected events; None if they are unknown."""

    @abstractmethod
    def states(self, facts: StreamFacts) -> list[ExpectedState]:
        """The expected rows at the end, and at other times; empty if they are unknown.

        :param facts: what one pass over the stream shows.
        """

    def complete(self, comparison: Comparison | None) -> Comparison | None:
        """The comparison of events with what is known without reading the stream."""
        return comparison


@dataclass(frozen=True)
class Expected(Expectation):
    """What a scenario requires of a stream.

    :param steps: the rows of the scenario's ``generate`` and ``data`` steps.
    """

    job: Job
    steps: StepRows
    events: ExpectedStream
    skipped: frozenset[str]

    def expected_events(self) -> ExpectedStream:
        return self.events

    def states(self, facts: StreamFacts) -> list[ExpectedState]:
        """The rows at the end, and at the job's ``state_at`` after all events up to that commit-ts."""
        return [
            expected_rows(self.steps, self.job, not_compared(self.job, facts, ts), self.skipped, ts)
            for ts in (None, *self.job.state_at)
        ]


@dataclass(frozen=True)
class VerifiedStream:
    """A stream with its verdict, as passed to ``on_verdict``.

    :param scenario: name of the scenario it was compared with; empty without one.
    :param decode: returns the decoded events (shape ``DECODED``).
    :param seconds: how long reading and verifying it took; 0 if it was not measured.
    """

    changefeed: Changefeed
    scenario: str
    decode: Callable[[], DataFrame]
    verdict: Verdict
    seconds: float = 0.0

    @cached_property
    def stream(self) -> DataFrame:
        """The decoded events (shape ``DECODED``); reports query them during the call."""
        return self.decode()


OnVerdict: TypeAlias = Callable[[VerifiedStream], None]


def ignore_verdict(_verified: VerifiedStream) -> None:
    """The default ``on_verdict``: does nothing."""


def verify_messages(
    changefeed: Changefeed,
    messages: Messages,
    expected: Expectation | None = None,
    *,
    topics: Sequence[str] | None = None,
    strictness: Strictness = _USUAL,
    skipped: Collection[str] = (),
    claims: str = "",
    schemas: Mapping[int, str] | None = None,
    on_verdict: OnVerdict = ignore_verdict,
) -> Verdict:
    """Verify messages, and compare them with what is expected.

    :param messages: those that were read from a topic or folder.
    :param expected: what a scenario or folder requires; None: no comparison.
    :param topics: the topics that were read; None: the scenario's, or those in the messages.
    :param skipped: ``schema.table`` of tables with rejected rows, as far as known without a scenario.
    :param claims: location of the claim-check objects, as URI or path; empty: the objects are not read.
    :param schemas: Avro schemas stored in a folder, by the ids in its messages.
    :param on_verdict: called with the decoded stream and the verdict.
    """
    started, read_messages = perf_counter(), messages.frame
    job = None if expected is None else expected.job
    decode_options: Options = changefeed.codec_options()
    fidelity = registry.fidelity(changefeed.protocol, decode_options)
    own = schemas or ({} if job is None else job.known_schemas)
    decode_options = with_schemas(decode_options, changefeed, read_messages, own)
    decode_options = with_table_schemas(read_messages, changefeed.protocol, decode_options)
    if topics is None:
        topics = _topics(read_messages) if job is None else job.stream.topic_partitions.topics
    rejected = {*skipped, *(() if expected is None else expected.skipped)}
    options = verify_options(changefeed, fidelity, topics, strictness, job, rejected)
    states: list[ExpectedState] = []

    def expected_states(facts: StreamFacts) -> list[ExpectedState]:
        states.extend(() if expected is None else expected.states(facts))
        return states

    checked = check_messages(
        messages,
        event_decoder(changefeed.protocol, decode_options, claims),
        options,
        None if expected is None else expected.expected_events(),
        expected_states,
    )
    comparison = checked.comparison if expected is None else expected.complete(checked.comparison)
    compared = {state.until: found for state, found in zip(states, checked.states, strict=True)}
    findings = with_protocol_hint(checked.findings, checked.kinds, changefeed.protocol, read_messages)
    found = verdict(options, findings, checked.kinds, comparison, compared)

    def stream() -> DataFrame:
        return messages.mapped(event_decoder(changefeed.protocol, decode_options, claims), DECODED)

    scenario = "" if job is None else job.scenario.name
    on_verdict(VerifiedStream(changefeed, scenario, stream, found, perf_counter() - started))
    return found


def _topics(messages: DataFrame) -> list[str]:
    return [row["topic"] for row in messages.select("topic").distinct().collect()]


def not_compared(job: Job, facts: StreamFacts, until: int | None = None) -> dict[str, str]:
    """``schema.table`` of the tables whose rows cannot be derived from the stream, and the reason.

    :param until: the time of the rows as TSO; None: the end.
    """
    return facts.underivable(until) | with_keys_of_ddls(unverifiable_tables(job), facts, until)


def verdict(
    options: VerifyOptions,
    findings: Sequence[Finding],
    kinds: dict[str, int],
    comparison: Comparison | None,
    states: Mapping[int | None, StateComparison],
) -> Verdict:
    """The verdict.

    :param states: the comparisons of the rows, by time stamp (TSO); None: at the end.
    """
    unchecked = {finding.id for finding in findings if finding.severity == "not checked"}
    return Verdict(
        findings=tuple(findings),
        checked=tuple(one.id for one in enabled_invariants(options) if one.id not in unchecked),
        kinds=kinds,
        comparison=comparison,
        state=states.get(None),
        states={ts: compared for ts, compared in states.items() if ts is not None},
    )
