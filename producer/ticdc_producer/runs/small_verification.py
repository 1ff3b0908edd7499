"""Verifies few messages in one process; the plain functions of ``verifier.check`` do the work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.config import Changefeed
from ticdc_producer.model.shapes import DECODED, MESSAGES
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.spec import Options
from ticdc_producer.runs.expected_state import sql_state
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.preview import first_lines
from ticdc_producer.runs.protocol_hint import with_protocol_hint
from ticdc_producer.runs.schemas import fetched_schemas, with_schemas
from ticdc_producer.runs.simulate import simulate
from ticdc_producer.runs.step_rows import (
    GeneratedRows,
    Session,
    StepStates,
    call_with_generated_rows,
    state_rows,
    table_marker,
)
from ticdc_producer.runs.topic_ranges import SMALL_BYTES, TopicRanges
from ticdc_producer.runs.verification import VerifiedStream, not_compared, verdict
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.targets.decoding.dataframes import kafka_messages, with_table_schemas
from ticdc_producer.targets.decoding.decode import decoded, event_decoder
from ticdc_producer.verifier.check import CheckedStream
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.options import Strictness
from ticdc_producer.verifier.table_state import STATE, StateComparison
from ticdc_producer.verifier.verdict import Verdict

SMALL_MESSAGES = 100_000
"""Up to this many messages, one process is faster than many."""


class SmallExpectation(ABC):
    """What a small stream is compared with.

    :ivar job: the prepared scenario; None if only its results are known.
    :ivar skipped: ``schema.table`` of tables with rejected rows; their state is not compared.
    """

    job: Job | None
    skipped: frozenset[str]

    def simulated(self, _generated: GeneratedRows, /) -> SmallExpectation:
        """This with the events, if they have to be simulated."""
        return self

    @abstractmethod
    def comparison(self, stream: CheckedStream) -> Comparison | None:
        """The comparison of events; None if the expected ones are unknown."""

    @abstractmethod
    def states(self, stream: CheckedStream) -> dict[int | None, StateComparison]:
        """The comparisons of the rows by time stamp (TSO), None for the end; empty if they are unknown."""


@dataclass(frozen=True, kw_only=True)
class SmallExpected(SmallExpectation):
    """What a scenario requires of a small stream.

    :param events: shape ``EXPECTED_EVENTS``; None: those of the simulated job, without illegal faults.
    :param step_states: the rows of the tables that ``generate`` steps filled; with ``events`` only.
    """

    job: Job
    events: pa.Table | None = None
    skipped: frozenset[str] = frozenset()
    step_states: StepStates = field(default_factory=dict)

    def simulated(self, generated: GeneratedRows, /) -> SmallExpected:
        if self.events is not None:
            return self
        simulation = simulate(self.job, generated.changes, faults=False)
        skipped = simulation.skipped_tables if self.job.scenario.on_error == "skip" else frozenset[str]()
        return replace(self, events=simulation.expected_events, skipped=skipped, step_states=generated.states)

    def comparison(self, stream: CheckedStream) -> Comparison | None:
        return None if self.events is None else stream.comparison(self.events)

    def states(self, stream: CheckedStream) -> dict[int | None, StateComparison]:
        return {ts: self._state(stream, ts) for ts in (None, *self.job.state_at)}

    def _state(self, stream: CheckedStream, ts: int | None) -> StateComparison:
        unverifiable = not_compared(self.job, stream.facts, ts)
        left_out = self.skipped | unverifiable.keys()
        steps = [one for one in self.step_states.get(ts, ()) if one[0].qualified_name not in left_out]
        state = pa.concat_tables([sql_state(self.job, left_out, ts), *self._step_rows(steps)])
        return stream.state(state, unverifiable, ts)

    def _step_rows(self, steps: Iterable[tuple[TableInfo, pa.Table]]) -> Iterator[pa.Table]:
        for table, rows in steps:
            records = (state_rows(self.job, table, batch) for batch in rows.to_batches())
            yield pa.Table.from_batches([table_marker(self.job, table), *records], STATE)


@dataclass(frozen=True)
class SmallVerdict:
    """The verdict of a small stream.

    :param preview: the first messages, see ``runs.preview``.
    :param seconds: how long reading and verifying took.
    """

    verdict: Verdict
    preview: list[str]
    seconds: float


@dataclass(frozen=True, kw_only=True)
class SmallVerification:
    """A verification of few messages, as a function that can be sent to a task.

    :param messages: what was read (shape ``MESSAGES``), or what is to be read.
    :param topics: the topics that are read.
    :param skipped: ``schema.table`` of tables with rejected rows, as far as known without a scenario.
    :param claims: location of the claim-check objects, as URI or path; empty: the objects are not read.
    :param schemas: Avro schemas of a folder or registry, by the ids in its messages.
    """

    changefeed: Changefeed
    messages: pa.Table | TopicRanges
    topics: Collection[str]
    expected: SmallExpectation | None = None
    strictness: Strictness = field(default_factory=Strictness)
    skipped: Collection[str] = ()
    claims: str = ""
    schemas: Mapping[int, str] = field(default_factory=dict)

    def with_fetched_schemas(self) -> SmallVerification:
        """This with the schemas of the changefeed's registry, if it has one; then the messages are read."""
        if self.changefeed.spec.schemas is None or not self.changefeed.schema_registry:
            return self
        messages = self.messages.read() if isinstance(self.messages, TopicRanges) else self.messages
        if messages is None:
            return self
        return replace(self, messages=messages, schemas=fetched_schemas(self.changefeed, messages))

    @property
    def _registered_schemas(self) -> Mapping[int, str]:
        job = None if self.expected is None else self.expected.job
        return self.schemas or ({} if job is None else job.known_schemas)

    def __call__(self, generated: GeneratedRows) -> SmallVerdict | None:
        """The verdict; None if the messages are too many to be verified at once.

        :param generated: rows of ``generate`` steps, if the scenario's events are not known.
        """
        started = perf_counter()
        messages = self.messages.read() if isinstance(self.messages, TopicRanges) else self.messages
        if messages is None:
            return None
        expected = None if self.expected is None else self.expected.simulated(generated)
        verdict = replace(self, expected=expected)._verdict(messages)
        return SmallVerdict(verdict, first_lines(messages, self.changefeed), perf_counter() - started)

    def _verdict(self, messages: pa.Table) -> Verdict:
        stream, expected = self._stream(messages), self.expected
        return verdict(
            stream.options,
            with_protocol_hint(stream.findings, stream.kinds, self.changefeed.protocol, messages),
            stream.kinds,
            None if expected is None else expected.comparison(stream),
            {} if expected is None else expected.states(stream),
        )

    def _stream(self, messages: pa.Table) -> CheckedStream:
        changefeed, job = self.changefeed, None if self.expected is None else self.expected.job
        decode_options: Options = changefeed.codec_options()
        fidelity = registry.fidelity(changefeed.protocol, decode_options)
        if changefeed.spec.schemas is not None:
            decode_options = {**decode_options, "schemas": dict(self._registered_schemas)}
        decode_options = with_table_schemas(messages, changefeed.protocol, decode_options)
        decode = event_decoder(changefeed.protocol, decode_options, self.claims)
        rejected = {*self.skipped, *(() if self.expected is None else self.expected.skipped)}
        options = verify_options(changefeed, fidelity, self.topics, self.strictness, job, rejected)
        return CheckedStream(pa.Table.from_batches(decode(iter(messages.to_batches())), DECODED), options)


def small_verdict(
    task: SmallVerification, job: Job | None, session: Session, *, in_worker: bool
) -> SmallVerdict | None:
    """Read and verify few messages; see ``call_with_generated_rows``.

    :param job: a scenario whose events are yet unknown.
    :param session: called if Spark is needed.
    :param in_worker: whether to do it in a Spark task in any case.
    :return: None if the messages are too many to be verified at once.
    """
    return call_with_generated_rows(session, job, task.with_fetched_schemas(), in_worker=in_worker)


def is_small_folder(folder: Path) -> bool:
    """Whether the messages of a golden folder are few."""
    file = folder / "messages.jsonl"
    return file.exists() and file.stat().st_size <= 2 * SMALL_BYTES


def message_frame(spark: SparkSession, messages: pa.Table | TopicRanges) -> DataFrame:
    """The messages as a DataFrame (shape ``MESSAGES``)."""
    if isinstance(messages, TopicRanges):
        return kafka_messages(spark, messages.brokers, messages.ranges)
    if not messages.num_rows:  # pyspark cannot create it from an empty Arrow table
        return spark.createDataFrame([], from_arrow_schema(MESSAGES))
    return spark.createDataFrame(messages)


def small_stream(session: Session, task: SmallVerification, found: SmallVerdict) -> VerifiedStream:
    """The verified stream, whose events are decoded again if a report asks for them.

    :param session: called in that case.
    """
    job = None if task.expected is None else task.expected.job

    def stream() -> DataFrame:
        changefeed, messages = task.changefeed, message_frame(session(), task.messages)
        own = task.schemas or ({} if job is None else job.known_schemas)
        options = with_schemas(changefeed.codec_options(), changefeed, messages, own)
        return decoded(messages, changefeed.protocol, options, task.claims).localCheckpoint()

    scenario = "" if job is None else job.scenario.name
    return VerifiedStream(task.changefeed, scenario, stream, found.verdict, found.seconds)
