"""Verification of a stream: against TiCDC's guarantees, and against the events of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from pyspark.sql import DataFrame

from ticdc_producer.config import Changefeed
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.registry import Options
from ticdc_producer.runs.change_log import StepRows
from ticdc_producer.runs.expected_state import state_frame
from ticdc_producer.runs.prepare import Job, codec_options
from ticdc_producer.runs.schemas import with_schemas
from ticdc_producer.runs.unverifiable_tables import unverifiable_tables
from ticdc_producer.runs.verify_options import partitioned_tables, untracked, verify_options
from ticdc_producer.targets.decoding.decode import decoded, event_decoder
from ticdc_producer.targets.decoding.schema_messages import with_table_schemas
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.distributed import ExpectedState, check_messages
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import enabled_invariants
from ticdc_producer.verifier.options import Strictness, VerifyOptions
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import Verdict

_USUAL = Strictness()


@dataclass(frozen=True)
class Expected:
    """What a scenario requires of a stream.

    :param steps: the rows of the scenario's ``generate`` and ``data`` steps.
    :param events: returns the expected events with ``offset`` and ``index``.
    :param skipped: ``schema.table`` of tables with rejected rows; their state is not compared.
    """

    job: Job
    steps: StepRows
    events: Callable[[], DataFrame]
    skipped: frozenset[str]


@dataclass(frozen=True)
class VerifiedStream:
    """A stream with its verdict, as passed to ``on_verdict``.

    :param scenario: name of the scenario it was compared with; empty without one.
    :param decode: returns the decoded events.
    """

    changefeed: Changefeed
    scenario: str
    decode: Callable[[], DataFrame]
    verdict: Verdict

    @cached_property
    def stream(self) -> DataFrame:
        """The decoded events (shape ``DECODED``); reports query them during the call."""
        return self.decode()


OnVerdict: TypeAlias = Callable[[VerifiedStream], None]


def ignore_verdict(_verified: VerifiedStream) -> None:
    """The default ``on_verdict``: does nothing."""


def verify_messages(
    changefeed: Changefeed,
    read_messages: DataFrame,
    expected: Expected | None = None,
    *,
    topics: Sequence[str] | None = None,
    strictness: Strictness = _USUAL,
    skipped: Collection[str] = (),
    claims: str = "",
    schemas: Mapping[int, str] | None = None,
    on_verdict: OnVerdict = ignore_verdict,
) -> Verdict:
    """Verify messages, and compare them with a scenario if one is given.

    :param read_messages: messages read from a topic or folder. A task has the messages of a partition in the
        order of their offsets, and those of two tasks do not overlap.
    :param expected: the scenario; None: no comparison.
    :param topics: the topics that were read; None: the scenario's, or those in the messages.
    :param skipped: ``schema.table`` of tables with rejected rows, as far as known without a scenario.
    :param claims: location of the claim-check objects, as URI or path; empty: the objects are not read.
    :param schemas: Avro schemas stored in a folder, by the ids in its messages.
    :param on_verdict: called with the decoded stream and the verdict.
    """
    job = None if expected is None else expected.job
    decode_options: Options = codec_options(changefeed)
    fidelity = registry.encoder(changefeed.protocol, decode_options).fidelity
    own = schemas or ({} if job is None else job.known_schemas)
    decode_options = with_schemas(decode_options, changefeed, read_messages, own)
    decode_options = with_table_schemas(read_messages, changefeed.protocol, decode_options)
    if topics is None:
        topics = _topics(read_messages) if job is None else job.stream.topic_partitions.topics
    catalog = None if job is None else job.history.catalog
    options = replace(
        verify_options(changefeed, fidelity, topics, strictness, catalog),
        untracked=untracked(changefeed, job, {*skipped, *(() if expected is None else expected.skipped)}),
        partitioned=None if job is None else partitioned_tables(job, fidelity),
    )
    checked = check_messages(
        read_messages,
        event_decoder(changefeed.protocol, decode_options, claims),
        options,
        None if expected is None else expected.events(),
        lambda facts: () if expected is None else _expected_states(expected, facts),
    )
    found = verdict(options, checked.findings, checked.kinds, checked.comparison, job, checked.states)

    def stream() -> DataFrame:
        return decoded(read_messages, changefeed.protocol, decode_options, claims)

    on_verdict(VerifiedStream(changefeed, "" if job is None else job.scenario.name, stream, found))
    return found


def _topics(messages: DataFrame) -> list[str]:
    return [row["topic"] for row in messages.select("topic").distinct().collect()]


def _expected_states(expected: Expected, facts: StreamFacts) -> list[ExpectedState]:
    """The rows at the end, and at the job's ``state_at`` after all events up to that commit-ts."""
    job = expected.job
    unverifiable = not_compared(job, facts)
    left_out = expected.skipped | unverifiable
    spark = expected.steps.spark
    return [
        ExpectedState(state_frame(spark, expected.steps, job, left_out, ts), sorted(unverifiable), ts)
        for ts in (None, *job.state_at)
    ]


def not_compared(job: Job, facts: StreamFacts) -> frozenset[str]:
    """``schema.table`` of the tables whose final rows cannot be derived from the stream."""
    reduced = {f"{schema}.{table}" for schema, table in facts.reduced_tables}
    return frozenset(unverifiable_tables(job) | reduced)


def verdict(
    options: VerifyOptions,
    findings: Sequence[Finding],
    kinds: dict[str, int],
    comparison: Comparison | None,
    job: Job | None,
    states: Sequence[StateComparison],
) -> Verdict:
    """The verdict.

    :param states: the comparisons of the rows at the end and at the job's ``state_at``.
    """
    unchecked = {finding.id for finding in findings if finding.severity == "not checked"}
    moments = () if job is None else job.state_at
    return Verdict(
        findings=tuple(findings),
        checked=tuple(one.id for one in enabled_invariants(options) if one.id not in unchecked),
        kinds=kinds,
        comparison=comparison,
        state=states[0] if states else None,
        states=dict(zip(moments, states[1:], strict=True)) if states else {},
    )
