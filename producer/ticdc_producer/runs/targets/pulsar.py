"""The topics of a Pulsar as the target of a run. They are written, and not read again."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from ticdc_producer.config.storage import check_claim_storage
from ticdc_producer.errors import ArgumentError
from ticdc_producer.oracle import Oracle
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.targets.target import Target
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.encode import encode_events, merged_counts
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.encode import Rejection
from ticdc_producer.targets.pulsar.client import PulsarCluster, check_client
from ticdc_producer.targets.pulsar.resume import stores_messages, topic_ends
from ticdc_producer.targets.pulsar.write import PulsarDelivery
from ticdc_producer.targets.record_batches import SENT_COLUMNS

_NOT_READ = "the topics of Pulsar are not read again: no message was verified"


class PulsarTarget(Target):
    """The topics of the sink URI's Pulsar. Messages are added to those that they hold."""

    @property
    def name(self) -> str:
        return str(self.job.changefeed.sink_uri)

    @property
    def warnings(self) -> tuple[str, ...]:
        return super().warnings if self.options.dry_run else (*super().warnings, _NOT_READ)

    def check(self) -> None:
        """Check the engine and the client, and that the Pulsar answers for each topic.

        :raises ArgumentError: for the engine ``spark``, if a topic does not store its messages.
        :raises MissingPartError: if the client is not installed.
        :raises BrokerError: if the Pulsar does not answer, or refuses a topic.
        :raises ChangefeedError: for a claim-check storage whose client library is not installed.
        :raises StorageError: for a claim-check storage that cannot be reached.
        """
        if self.only_local and self.options.engine == "spark":
            what = "Spark does not write a non-persistent topic: a task that runs again would repeat messages"
            raise ArgumentError(what, argument="engine", hint="choose `local`").about("engine")
        if self.options.dry_run:
            return
        check_client()
        if self._claims:
            check_claim_storage(self._claims)
        with self._cluster.client() as client:
            for topic in self._topics:
                with self._cluster.producer(client, topic):
                    pass

    @property
    def only_local(self) -> bool:
        return not all(map(stores_messages, self._topics))

    @property
    def _topics(self) -> Sequence[str]:
        return self.job.stream.topic_partitions.topics

    @property
    def _cluster(self) -> PulsarCluster:
        return PulsarCluster.of(self.job.changefeed)

    @property
    def _claims(self) -> str:
        return self.job.encode_plan(skip_rejected=True).claim_storage

    def _delivery(self) -> PulsarDelivery:
        """Return what the tasks need. The messages of the run begin where the topics end now."""
        cluster = self._cluster.for_tasks()
        ends = topic_ends(cluster, self._topics)
        name = f"ticdc-producer-{uuid4().hex}"
        return PulsarDelivery(cluster=cluster, ends=ends, name=name, claims=self._claims)

    def check_encoded(self, _simulation: Simulation, /) -> None:
        """Accept the encoded stream: topics hold every event that was encoded."""

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        self.options.on_status(f"writing {report.counts.total:,} messages to {self.name}")
        simulation.encoded.messages.select(*SENT_COLUMNS).execute(self._delivery().write)
        return report

    def write_in_one_pass(self, simulation: Simulation, /) -> tuple[Counts, list[Rejection]]:
        """Write the messages. A rejected row ends the run, unless such rows are skipped."""
        self.options.on_status(f"writing to {self.name}")
        skips = self.job.scenario.on_error == "skip"
        events, write = simulation.events, self._delivery().write
        return merged_counts(self.job, encode_events(self.job, events, write, skip_rejected=skips))

    def verified(self, _simulation: Simulation, _oracle: Oracle, report: RunReport) -> RunReport:
        """Return the report as it is: the messages cannot be read in the order of the topic."""
        return report
