"""Simulates a changefeed: the composition of the write path, from a job to its encoded messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from ticdc_producer.engine.choose import UNKNOWN_EVENTS, Estimate
from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.faults.catalogue import trap
from ticdc_producer.model.event import Message
from ticdc_producer.model.shapes import EXPECTED_EVENTS
from ticdc_producer.scenario.data_steps import DataPlan, LogPlan, PlannedChanges
from ticdc_producer.scenario.file_steps import DumpPlan
from ticdc_producer.simulate.change_log import UpstreamLog, UpstreamSource, change_batch
from ticdc_producer.simulate.encode import EncodedStream, encoded, sent_events
from ticdc_producer.simulate.fault_counts import FaultSummary, UnmetFaults
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.stream import ordered_events
from ticdc_producer.targets.encode_partition import FaultRow, split_by_partition
from ticdc_producer.targets.message_rows import STORED_MESSAGES
from ticdc_producer.targets.record_batches import stored_messages


def sources_of(job: Job) -> list[UpstreamSource]:
    """Return the sources of changes of a job besides its SQL. Only the modules of these are imported."""
    history = job.history
    sources: list[UpstreamSource] = []
    if history.data:
        sources.extend(map(_data_source, history.data))
    if history.generated:
        from ticdc_producer.simulate.generated import GeneratedVolume

        sources.append(GeneratedVolume(tuple(history.generated)))
    return sources


def _data_source(plan: PlannedChanges) -> UpstreamSource:
    if isinstance(plan, DataPlan | LogPlan | DumpPlan):
        from ticdc_producer.simulate.data_sources import DataChanges

        return DataChanges(plan)
    from ticdc_producer.simulate.data_sources import FrameSource, frame_plan

    return FrameSource(frame_plan(plan))


@dataclass
class Simulation:
    """A changefeed, from a job to its messages.

    :param log: the changes committed upstream.
    :ivar events: the stream with all faults, and with the events that they removed.
    :ivar encoded: the stream with all faults, when it is encoded.
    :ivar unmet: the recorded faults of which the stream lacks the event.
    :ivar correct: the stream without illegal faults, with which messages are compared, when it is encoded.
    """

    job: Job
    engine: Engine
    log: UpstreamLog
    events: Dataset = field(init=False)
    encoded: EncodedStream = field(init=False)
    correct: EncodedStream = field(init=False)
    unmet: UnmetFaults = field(default_factory=UnmetFaults, init=False)

    @classmethod
    def of(cls, job: Job, engine: Engine) -> Simulation:
        """Return the simulation of a job."""
        return cls(job, engine, UpstreamLog(change_batch(job.history.changes), sources_of(job)))

    def ordered_events(self, stack: ExitStack, *, illegal: bool = True) -> Dataset:
        """Return the event stream, divided by partition and in delivery order.

        Events that faults removed are in it.

        :param illegal: whether to inject illegal faults of events.
        :param stack: removes the data stored for the stream.
        """
        faults, plan = self.job.event_faults(illegal=illegal), self.job.stream
        if faults is not None and self.log.row_events is None and not self.log.divided_source(plan, faults):
            # To inject faults, they are read several times.
            self.log = self.log.with_stored_rows(self.engine, plan, stack)
        unmet = UnmetFaults()
        events = ordered_events(self.log, plan, self.engine, stack, faults, unmet)
        self.unmet = unmet
        return events

    def faults_of(self, stream: EncodedStream) -> FaultSummary:
        """Return the faults of a stream of this job, with the recorded ones of which it lacks the event."""
        return replace(stream.fault_summary, unmet=self.unmet)

    @property
    def is_divided(self) -> bool:
        """Whether the events are drawn by the part that encodes them, which takes less time than to store
        them."""
        return self.log.divided_source(self.job.stream, self.job.event_faults()) is not None

    def correct_events(self, faulted: Dataset, stack: ExitStack) -> Dataset:
        """Return the event stream with legal faults, without illegal ones.

        :param faulted: the event stream with all faults.
        """
        plan = self.job.faults
        if plan is not None and any(trap(fault.trap).mechanism == "event" for fault in plan.illegal):
            return self.ordered_events(stack, illegal=False)
        return sent_events(self.job, faulted)


@contextmanager
def simulate(
    job: Job,
    engine: Engine,
    *,
    messages: bool = True,
    expected_events: bool = True,
) -> Iterator[Simulation]:
    """Encode the whole stream of a job without the events that TiCDC's encoder rejects.

    The results live as long as the block.

    :param messages: whether to store the messages.
    :param expected_events: whether to store the events that follow from the messages.
    """
    with ExitStack() as stack:
        simulation = Simulation.of(job, engine)
        simulation.events = simulation.ordered_events(stack)
        stream = encoded(job, simulation.events, messages=messages, expected_events=expected_events)
        simulation.encoded = stack.enter_context(stream)
        yield simulation


def estimate_of(job: Job) -> Estimate:
    """Return the events and the bytes of a job. A ``data`` step counts as ``UNKNOWN_EVENTS``."""
    history = job.history
    images = (image for change in history.changes for image in (change.before, change.after) if image)
    generated = max((plan.most_bytes_of_a_row for plan in history.generated), default=0)
    size = 2 * generated * history.row_changes  # an update has two images
    size += sum(len(value) for image in images for value in image if value)
    return Estimate(
        events=UNKNOWN_EVENTS if history.data else history.row_changes + _control_events(job),
        nbytes=size,
        rows=history.row_changes,
        requires_spark=_requires_spark(job),
    )


def _control_events(job: Job) -> int:
    """Return the number of DDL and resolved events in all partitions.

    Resolved events at ticks of the clock follow from its span: far more of them than commits are possible.
    """
    resolved = job.stream.resolved
    ddls = sum(ddl.sent for ddl in job.history.catalog.ddls) if job.changefeed.output_ddl else 0
    each = resolved.regular + (len(resolved.explicit) if resolved.sent else 0)
    if resolved.sent and resolved.every_ms:
        each += ddls + 1
    return (each + ddls) * len(job.stream.topic_partitions)


def _requires_spark(job: Job) -> str:
    """Return the part of the work that only Spark can do; empty if there is none."""
    required = [plan.what for plan in job.history.data if plan.what]
    if required:
        return required[0]
    if not job.history.generated:
        return ""
    from ticdc_producer.scenario.generate.plan import has_expressions

    return "an `expression` of a generated column" if has_expressions(job.history.generated) else ""


@dataclass(frozen=True)
class SimulatedTopic:
    """The messages that a changefeed sends for a small job.

    :param messages: in the order of topic, partition and offset (``message_rows.STORED_MESSAGES``).
    :param expected_events: the events that a reader must decode, in order (shape ``EXPECTED_EVENTS``).
    :param rejected_tables: ``schema.table`` of the tables with events that TiCDC's encoder rejects.
    :param faults: one object per injected fault, in order.
    """

    messages: pa.Table
    expected_events: pa.Table
    rejected_tables: frozenset[str]
    faults: list[FaultRow]

    @cached_property
    def partitions(self) -> dict[tuple[str, int], list[Message]]:
        """The messages of each partition that has any, by topic and partition."""
        batches: Iterator[pa.RecordBatch] = iter(self.messages.to_batches())
        return {
            name: [message for batch in stored_messages(rows) for message in batch.messages()]
            for name, rows in split_by_partition(batches)
        }

    @property
    def injected_traps(self) -> frozenset[str]:
        """The traps that ``faults`` has."""
        return frozenset(fault["trap"] for fault in self.faults)


def simulated_topic(job: Job) -> SimulatedTopic:
    """Simulate a changefeed in this process, without the events that TiCDC's encoder rejects."""
    with simulate(job, LocalEngine()) as simulation:
        stream = simulation.encoded
        rows = stream.faults.batches() if job.faults is not None else iter(())
        return SimulatedTopic(
            messages=pa.Table.from_batches(stream.messages.batches(), STORED_MESSAGES),
            expected_events=pa.Table.from_batches(stream.expected_events.batches(), EXPECTED_EVENTS),
            rejected_tables=stream.rejected_tables,
            faults=[row for batch in rows for row in batch.to_pylist()],
        )
