"""What a small run does in one process: encode all partitions, and write them to Kafka.

That process is the driver's, or a Spark worker. It returns the messages and events of a golden folder, which
the driver writes: its disk is the user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model import tso
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.runs.counts import Counts, stop_error
from ticdc_producer.runs.fault_occurrences import FaultSummary, summarize_faults
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.run_topics import RunTopics, prepare_topics, retried_starts
from ticdc_producer.runs.simulate import Simulation, simulate
from ticdc_producer.runs.step_rows import GeneratedRows, StepStates
from ticdc_producer.targets.encoding.encode import MAX_LISTED_REFUSED, rejection
from ticdc_producer.targets.golden import json_lines
from ticdc_producer.targets.kafka.delivery_stats import DeliveryStats
from ticdc_producer.targets.kafka.topics import Offsets


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the task returns.

    :param rejected: the first events that TiCDC's encoder rejects.
    :param skipped_tables: ``schema.table`` of the tables with such events.
    :param messages: for a golden folder (shape ``MESSAGES``); None if none is written.
    :param events: likewise the events that these messages carry (shape ``EXPECTED_EVENTS``).
    :param files: the other files of the folder by name, but for the states and the manifest.
    :param expected: the events that a correct stream has (shape ``EXPECTED_EVENTS``); None if they are not
        compared.
    :param starts: offset of the run's first message in each partition; empty without Kafka.
    :param step_states: the expected rows of the tables that ``generate`` steps filled.
    """

    counts: Counts
    rejected: Sequence[dict[str, Any]]
    faults: FaultSummary
    messages: pa.Table | None = None
    events: pa.Table | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    expected: pa.Table | None = None
    starts: Offsets = field(default_factory=dict)
    skipped_tables: frozenset[str] = frozenset()
    step_states: StepStates = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SmallTask:
    """The function that the task calls.

    :param brokers: where to write; None: nowhere.
    :param to_folder: whether to return what a golden folder has.
    :param compared: whether to return the expected events.
    """

    job: Job
    brokers: Brokers | None = None
    to_folder: bool = False
    compared: bool = False
    append: bool = False
    replace: bool = False
    resume: bool = False

    def __call__(self, generated: GeneratedRows) -> Outcome:
        """Encode everything, and write it if that is all right.

        :raises EncodeError: for a row that TiCDC's encoder rejects, with ``on-error: stop``.
        :raises ProducerError: for a topic that cannot be written, and failed deliveries.
        """
        simulation = simulate(self.job, generated.changes)
        rejected = _rejected(simulation)
        if rejected and self.job.scenario.on_error == "stop":
            raise stop_error(rejected[0])
        starts: Offsets = {}
        if self.brokers is not None:
            starts = self._starts(self.brokers)
            self._deliver(simulation, RunTopics(self.job.changefeed, self.brokers, starts))
        expected = None
        if self.compared:
            without = self.job.faults is None
            expected = (
                simulation if without else simulate(self.job, generated.changes, faults=False)
            ).expected_events
        return Outcome(
            counts=_counts(simulation, len(rejected)),
            rejected=rejected[:MAX_LISTED_REFUSED],
            faults=self._faults(simulation),
            messages=_messages(simulation) if self.to_folder else None,
            events=simulation.expected_events if self.to_folder else None,
            files=dict(_files(simulation)) if self.to_folder else {},
            expected=expected,
            starts=starts,
            skipped_tables=simulation.skipped_tables,
            step_states=generated.states,
        )

    def _faults(self, simulation: Simulation) -> FaultSummary:
        if self.job.faults is None:
            return FaultSummary()
        return summarize_faults(self.job, simulation.fault_occurrences)

    def _starts(self, brokers: Brokers) -> Offsets:
        task = TaskContext.get()
        retried = task is not None and task.attemptNumber() > 0
        starts = retried_starts(self.job, brokers) if retried else None
        if starts is None:
            starts = prepare_topics(
                self.job, brokers, append=self.append, resume=self.resume, replace_existing=self.replace
            )
        return starts

    def _deliver(self, simulation: Simulation, target: RunTopics) -> None:
        claims = self.job.encode_plan(skip_refused=True).claim_storage
        messages = {(one.topic, one.partition): one.batches for one in simulation.partitions}
        target.write_partitions(messages, claims)


def _rejected(simulation: Simulation) -> list[dict[str, Any]]:
    """The events that TiCDC's encoder rejects, in the order of their time."""
    found = [
        (tso.physical(error.commit_ts), one.topic, one.partition, rejection(ordinal, error))
        for one in simulation.partitions
        for ordinal, error in one.rejected.items()
    ]
    return [rejected for *_, rejected in sorted(found, key=lambda one: one[:3])]


def _counts(simulation: Simulation, rejected: int) -> Counts:
    counts = Counts(rejected=rejected)
    for one in simulation.partitions:
        stats = DeliveryStats()
        for _ in stats.counted(one.batches):
            pass
        counts.add(one.topic, one.partition, stats)
    return counts


def _messages(simulation: Simulation) -> pa.Table:
    return pa.concat_tables([MESSAGES.empty_table(), *(one.rows() for one in simulation.partitions)])


def _files(simulation: Simulation) -> Iterator[tuple[str, bytes]]:
    job = simulation.job
    if job.schemas:
        yield "schemas.jsonl", json_lines.schema_lines(job.known_schemas)
    if job.encode_plan(skip_refused=True).claim_storage:
        for one in simulation.partitions:
            yield from ((f"claims/{claim.name}", claim.content) for claim in one.claims())
    if job.faults is not None:
        yield "faults.jsonl", json_lines.lines(simulation.fault_occurrences)
