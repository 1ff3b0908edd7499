"""The targets of a run: topics, a golden folder, or the files of a storage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.errors import ArgumentError
from ticdc_producer.oracle import Oracle
from ticdc_producer.rows.origin import Origin
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.targets.first_messages import FirstMessages, first_messages
from ticdc_producer.runs.verification import verify_messages
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.encode import Rejection
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import Strictness


class Target(ABC):
    """One target of a run.

    A run checks and starts its targets, encodes all events, and then opens, writes and verifies one target
    after the other.

    :ivar job: the job; with the schema ids of a registry once they are known.
    """

    holds_expected_events = False
    """Whether the expected events are written with the messages."""
    measures_progress = False
    """Whether the progress of writing is reported while it is written."""
    broker_pid = 0
    """Process id of an embedded broker that keeps running after the run, else 0."""
    embedded = False
    """Whether the target is an embedded broker."""

    def __init__(self, job: Job, options: RunOptions) -> None:
        self.job, self.options = job, options

    @property
    @abstractmethod
    def name(self) -> str:
        """The target in reports; known when it is written."""

    @abstractmethod
    def check(self) -> None:
        """Check that the run may write the target.

        :raises ProducerError: if not.
        """

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of a report."""
        job = self.job
        return (*job.changefeed.warnings, *job.stream.router.warnings, *job.history.warnings)

    @property
    def only_local(self) -> bool:
        """Whether only the engine ``local`` can write the target."""
        return False

    @property
    def is_complete(self) -> bool:
        """Whether an earlier run, which this run resumes, has finished the target."""
        return False

    def events(self, simulation: Simulation, stack: ExitStack) -> Dataset:
        """Return the events in the order of the target, including those that faults removed."""
        return simulation.ordered_events(stack)

    @property
    def encodes_again(self) -> bool:
        """Whether the messages are encoded again, because they depend on the open target."""
        return False

    @abstractmethod
    def check_encoded(self, simulation: Simulation, /) -> None:
        """Check, before anything is written, that the target can hold the encoded events.

        :raises ProducerError: if not.
        """

    @contextmanager
    def started(self) -> Iterator[None]:
        """Start the services of the target in the background, such as a broker. ``opened`` waits for them."""
        yield

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open the target for writing and reading, in a block of ``started``."""
        yield

    @abstractmethod
    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        """Write the messages.

        :return: the report, with counts if the target counts what it has written.
        """

    def write_in_one_pass(self, _simulation: Simulation, /) -> tuple[Counts, list[Rejection]]:
        """Encode and write the messages, without storing them in between.

        :return: counts of the written messages, and the skipped events.
        :raises EncodeError: for an event that TiCDC's encoder rejects, with ``on-error: stop``.
        :raises ArgumentError: if the target needs the stored messages.
        """
        what = f"{type(self).__name__} is not written in one pass"
        raise ArgumentError(what, argument="messages_only", hint="leave it out")

    def origin(self) -> Callable[[], Origin] | None:
        """Return what reads the written messages after the run; None if they cannot be read then."""
        return None

    @abstractmethod
    def verified(self, simulation: Simulation, oracle: Oracle, report: RunReport) -> RunReport:
        """Return the report with the verdict on the messages read from the target."""


class MessageTarget(Target):
    """A target of messages: topics or a golden folder."""

    def check_encoded(self, _simulation: Simulation, /) -> None:
        """Accept the encoded stream: topics and folders hold every event that was encoded."""

    @abstractmethod
    def read(self, simulation: Simulation) -> Messages:
        """Return the messages that are in the target."""

    @property
    @abstractmethod
    def claims(self) -> str:
        """Location of the claim-check objects, as URI or path; empty if there are none."""

    @property
    def schemas(self) -> Mapping[int, str]:
        """The Avro schemas that the target stores, by the ids in its messages."""
        return {}

    def verified(self, simulation: Simulation, oracle: Oracle, report: RunReport) -> RunReport:
        return attach_verdict(
            simulation,
            oracle,
            self.read(simulation),
            report,
            self.options,
            claims=self.claims,
            schemas=self.schemas,
        )


def attach_verdict(
    simulation: Simulation,
    oracle: Oracle,
    messages: Messages,
    report: RunReport,
    options: RunOptions,
    *,
    claims: str,
    schemas: Mapping[int, str] | None = None,
) -> RunReport:
    """Return the report with the verdict on the messages that were read, and the first of them.

    :param oracle: the requirements of the run's scenario.
    :param claims: location of the claim-check objects, as URI or path.
    :param schemas: the Avro schemas that the target stores, by the ids in its messages.
    """
    options.on_status(f"reading {report.counts.total:,} messages of {report.target} again and verifying them")
    changefeed = simulation.job.changefeed
    # Whether these messages are all that was ever sent for the tables.
    whole = options.from_beginning and not options.append
    verified = verify_messages(
        simulation.engine,
        changefeed,
        messages,
        oracle,
        strictness=Strictness(from_beginning=whole),
        claims=claims,
        schemas=schemas,
    )
    heads = FirstMessages.of(first_messages(messages), verified.decode)
    options.on_verdict(verified)
    return replace(
        report,
        verdict=verified.verdict,
        preview=heads.log_lines(changefeed),
        first_events=heads.first_events(),
    )
