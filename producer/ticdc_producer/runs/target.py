"""Where a run writes: topics, a golden folder, or the files of a storage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.runs.attach_verdict import attach_verdict
from ticdc_producer.runs.change_log import RunChangeLog
from ticdc_producer.runs.counts import Counts
from ticdc_producer.runs.encoded import Encoded
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.small_task import Outcome
from ticdc_producer.runs.step_rows import StepRows
from ticdc_producer.runs.topic_ranges import TopicRanges
from ticdc_producer.runs.verification import Expected
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents
from ticdc_producer.verifier.messages import Messages


class Target(ABC):
    """One target of a run.

    A run checks and starts its targets before Spark, encodes all events, and then opens, writes and verifies
    one target after the other.

    :ivar job: the job; with the schema ids of a registry once they are known.
    """

    holds_expected_events = False
    """Whether the expected events are written beside the messages."""
    broker_pid = 0
    """Process id of an embedded broker that keeps running after the run, else 0."""

    def __init__(self, job: Job, options: RunOptions) -> None:
        self.job, self.options = job, options

    @property
    @abstractmethod
    def name(self) -> str:
        """The target in reports; known when it is written."""

    @abstractmethod
    def check(self) -> None:
        """Check, without Spark, that the run may write the target.

        :raises ProducerError: if not.
        """

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a report warns of."""
        return (*self.job.changefeed.warnings, *self.job.stream.router.warnings)

    @property
    def is_complete(self) -> bool:
        """Whether an earlier run, which this run resumes, has finished the target."""
        return False

    def events(self, committed: RunChangeLog) -> OrderedEvents:
        """The events in the order of the target, including those that faults removed."""
        return committed.events(self.job.stream, self.job.event_faults())

    @property
    def encodes_again(self) -> bool:
        """Whether the messages are not those that were stored, because they depend on the open target."""
        return False

    @abstractmethod
    def check_encoded(self, encoded: Encoded) -> None:
        """Check, before anything is written, that the target can hold the encoded events.

        :raises ProducerError: if not.
        """

    @contextmanager
    def started(self) -> Iterator[None]:
        """Start, in the background, what the target needs besides Spark. ``opened`` waits for it."""
        yield

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open the target for writing and reading, in a block of ``started``."""
        yield

    @abstractmethod
    def write(self, encoded: Encoded, steps: StepRows, report: RunReport, /) -> RunReport:
        """Write the messages.

        :param steps: the rows of the scenario's steps.
        :return: the report, with counts if the target counts what it has written.
        """

    @abstractmethod
    def verified(self, expected: Expected, report: RunReport) -> RunReport:
        """The report with the verdict on what is read from the target."""


class MessageTarget(Target):
    """A target of messages: topics or a golden folder."""

    takes_files = False
    """Whether the task of a small run must return the files of a golden folder."""

    @property
    def brokers(self) -> Brokers | None:
        """The brokers of the open target, to which the task of a small run writes; None if it has none."""
        return None

    def register_schemas(self) -> None:
        """Replace the schema ids of ``job`` by those of the registry, if there is one.

        :raises RegistryError: for a registry that does not answer or rejects a schema.
        """

    def check_encoded(self, encoded: Encoded) -> None:
        """Topics and folders hold every event that was encoded."""

    @abstractmethod
    def take(self, outcome: Outcome, report: RunReport, /) -> None:
        """Finish what the task of a small run has done; the counterpart of ``write``."""

    @abstractmethod
    def write_in_one_pass(self, events: OrderedEvents) -> tuple[Counts, list[dict[str, Any]]]:
        """Encode and write the messages of an event stream, without storing them in between.

        :return: counts of the written messages, and the skipped events.
        :raises EncodeError: for an event that TiCDC's encoder rejects, with ``on-error: stop``.
        """

    @abstractmethod
    def read(self, spark: SparkSession) -> Messages:
        """The messages that are in the target."""

    @abstractmethod
    def few_messages(self) -> pa.Table | TopicRanges:
        """The messages of a small run (shape ``MESSAGES``), or where a task can read them."""

    @property
    @abstractmethod
    def claims(self) -> str:
        """Location of the claim-check objects, as URI or path; empty if there are none."""

    def verified(self, expected: Expected, report: RunReport) -> RunReport:
        messages = self.read(expected.steps.spark)
        return attach_verdict(expected, messages, report, self.options, claims=self.claims)
