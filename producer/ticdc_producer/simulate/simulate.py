"""Simulates a changefeed: the composition of the write path, from a job to its encoded messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.faults.catalogue import trap
from ticdc_producer.simulate.change_log import UpstreamLog, UpstreamSource, change_batch
from ticdc_producer.simulate.encode import EncodedStream, encoded, sent_events
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.stream import ordered_events


def sources_of(job: Job) -> list[UpstreamSource]:
    """Return the sources of changes of a job besides its SQL. Only the modules of these are imported."""
    history = job.history
    sources: list[UpstreamSource] = []
    if history.data:
        from ticdc_producer.simulate.spark_sources import DataSteps

        sources.append(DataSteps(tuple(history.data)))
    if history.generated:
        from ticdc_producer.simulate.generated import GeneratedVolume

        sources.append(GeneratedVolume(tuple(history.generated)))
    return sources


@dataclass
class Simulation:
    """A changefeed on its way from a job to messages.

    :param log: what was committed upstream.
    :ivar events: the stream with all faults, and with the events that they removed.
    :ivar encoded: the stream with all faults, when it is encoded.
    :ivar correct: the stream without illegal faults, with which messages are compared, when it is encoded.
    """

    job: Job
    engine: Engine
    log: UpstreamLog
    events: Dataset = field(init=False)
    encoded: EncodedStream = field(init=False)
    correct: EncodedStream = field(init=False)

    @classmethod
    def of(cls, job: Job, engine: Engine, sources: Sequence[UpstreamSource] | None = None) -> Simulation:
        """Return the simulation of a job.

        :param sources: its sources besides SQL; None: those of the scenario's steps.
        """
        few = change_batch(job.history.changes)
        return cls(job, engine, UpstreamLog(few, sources_of(job) if sources is None else sources))

    def ordered_events(self, stack: ExitStack, *, illegal: bool = True) -> Dataset:
        """Return the event stream, divided by partition and in delivery order.

        Events that faults removed are in it.

        :param illegal: whether to inject illegal faults of events.
        :param stack: what is stored for the stream is removed with it.
        """
        faults = self.job.event_faults(illegal=illegal)
        if faults is not None and self.log.row_events is None and self.log.divided_source(faults) is None:
            # To inject faults, they are read several times.
            self.log = self.log.with_stored_rows(self.engine, self.job.stream, stack)
        return ordered_events(self.log, self.job.stream, self.engine, stack, faults)

    @property
    def is_divided(self) -> bool:
        """Whether the events are drawn by the part that encodes them, which takes less time than to store
        them."""
        return self.log.divided_source(self.job.event_faults()) is not None

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
    sources: Sequence[UpstreamSource] | None = None,
    messages: bool = True,
    carried: bool = True,
    faults: bool = True,
) -> Iterator[Simulation]:
    """Encode the whole stream of a job; events that TiCDC's encoder rejects are left out.

    The results live as long as the block.

    :param sources: its sources besides SQL; None: those of the scenario's steps.
    :param messages: whether the messages are wanted.
    :param carried: whether the expected events are wanted.
    :param faults: whether to inject illegal faults of events and faults of messages. Without them the
        result is the stream that TiCDC would have sent.
    """
    with ExitStack() as stack:
        simulation = Simulation.of(job, engine, sources)
        simulation.events = simulation.ordered_events(stack, illegal=faults)
        stream = encoded(job, simulation.events, messages=messages, carried=carried, faults=faults)
        simulation.encoded = stack.enter_context(stream)
        yield simulation
