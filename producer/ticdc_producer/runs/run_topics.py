"""The topics of a run: prepared, with their start offsets; written; and read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version

from pyspark.sql import DataFrame, Row, SparkSession

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import (
    ChangefeedError,
    DeliveryError,
    ForeignMessageError,
    ScenarioError,
    SparkError,
    TopicError,
)
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.runs.counts import Counts
from ticdc_producer.runs.offset_ranges import offset_ranges
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.topic_ranges import TopicMessages
from ticdc_producer.targets.encoding.encode import EncodePlan
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents, row_limited_batches
from ticdc_producer.targets.kafka.delivery_stats import KindCount
from ticdc_producer.targets.kafka.read import OffsetRange
from ticdc_producer.targets.kafka.resume import StartOffsets
from ticdc_producer.targets.kafka.topics import Offsets, Topics
from ticdc_producer.targets.kafka.write import Delivery, deliver, deliver_stored
from ticdc_producer.targets.kafka.write_partitions import write_partitions


def prepare_topics(
    job: Job, brokers: Brokers, *, append: bool, resume: bool, replace_existing: bool = False
) -> Offsets:
    """Create or check the topics of a run.

    :param append: accept topics that hold messages.
    :param resume: continue an earlier run of the same scenario and changefeed whose driver has ended.
    :param replace_existing: delete the topics if they exist.
    :return: offset of the run's first message in each partition.
    :raises TopicError: for topics that this run must not write.
    """
    topics = list(job.stream.topic_partitions.topics)
    start_offsets = StartOffsets(brokers, identity(job))
    if resume:
        return _resumed(job, Topics(brokers), start_offsets)
    starts = Topics(brokers).prepare(job.changefeed, topics, append=append, replace=replace_existing)
    if not job.changefeed.sink_uri.embedded:  # an embedded broker ends with the run, which cannot be resumed
        start_offsets.save(starts)
    return starts


def retried_starts(job: Job, brokers: Brokers) -> Offsets | None:
    """The start offsets that an earlier attempt of the task stored; None if it did not get that far."""
    topics = list(job.stream.topic_partitions.topics)
    return StartOffsets(brokers, identity(job)).load(topics, job.changefeed.partition_num)


def _resumed(job: Job, cluster: Topics, start_offsets: StartOffsets) -> Offsets:
    topics, existing = job.stream.topic_partitions.topics, cluster.existing()
    starts = None
    if all(existing.get(topic) == job.changefeed.partition_num for topic in topics):
        starts = start_offsets.load(list(topics), job.changefeed.partition_num)
    if starts is None:
        what = "no run of this scenario, seed and changefeed began in this topic"
        raise TopicError(what, topic=topics[0], hint="run it without `resume`").about("resume")
    return starts


def check_resumable(job: Job) -> None:
    """Reject jobs that cannot be resumed.

    :raises ChangefeedError: if the run had an embedded broker, which ended with it.
    :raises ScenarioError: if its messages depend on the current time.
    """
    if job.changefeed.sink_uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC; embedded brokers and folders always start empty"
        what = "`resume` requires a sink URI with a broker"
        raise ChangefeedError(what, parameter="sink-uri", hint=hint).about("resume")
    if job.scenario.build_time == "now":
        hint = "messages contain their build time; set a fixed time"
        what = "`resume` cannot be combined with clock.build-time: now"
        raise ScenarioError(what, file=job.scenario.file, hint=hint).about("resume")


def identity(job: Job) -> str:
    """A digest of everything that determines the messages, independent of target and time."""
    changefeed = {key: value for key, value in job.changefeed.as_manifest().items() if key != "sink-uri"}
    scenario = replace(job.scenario, file="", changefeed={})  # `changefeed` below has the resolved options
    parts = (
        version("ticdc-producer"),
        scenario,
        sorted(changefeed.items()),
        job.changefeed.sink_uri.topic,
        job.history.commits,
        [(ddl.commit_seq, ddl.query) for ddl in job.history.catalog.ddls],
    )
    return sha256(repr(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class RunTopics:
    """The topics of one cluster that a run writes.

    :param starts: end offset of each partition before the run.
    """

    changefeed: Changefeed
    brokers: Brokers
    starts: Offsets

    @property
    def name(self) -> str:
        """The target for reports."""
        return f"kafka://{self.brokers}/{self.changefeed.sink_uri.topic}"

    def write_partitions(
        self, partitions: Mapping[tuple[str, int], Iterable[MessageBatch]], claims: str
    ) -> None:
        """Write the messages of partitions in this process; those that they already have are skipped.

        Partitions are written side by side: most of the time goes to waiting for the broker.

        :param partitions: the messages by topic and partition.
        :param claims: URI of the storage for claim-check objects, empty if there is none.
        :raises DeliveryError: if messages were not acknowledged; with the delivered messages by partition.
        :raises ForeignMessageError: for a partition with a message that the run did not write.
        """
        properties = self.changefeed.producer_properties(self.brokers)
        try:
            write_partitions(self.brokers, properties, partitions, self.starts, claims)
        except DeliveryError as error:
            raise self._delivery_error(error.topic, error.partition, error.what, error.hint) from None

    def write(self, events: OrderedEvents, plan: EncodePlan) -> Counts:
        """Encode, write, wait for every acknowledgement.

        :return: what the workers reported as written.
        :raises DeliveryError: if messages were not acknowledged; with the delivered messages by partition.
        :raises ForeignMessageError: for a partition with a message that the run did not write.
        :raises SparkError: if Spark may run two attempts of a task at the same time.
        """
        check_speculation(events.spark)
        with row_limited_batches(events.spark, plan.catalog):
            return self._written(deliver(events, plan, self._delivery(plan.claim_storage)))

    def write_stored(self, entries: DataFrame, claims: str) -> Counts:
        """Write the messages of an encoded stream, wait for every acknowledgement.

        :param entries: shape ``ENCODED``.
        :param claims: URI of the storage for claim-check objects, empty if there is none.
        :return: as ``write``, with its errors.
        """
        check_speculation(entries.sparkSession)
        return self._written(deliver_stored(entries, self._delivery(claims)))

    def _delivery(self, claims: str) -> Delivery:
        properties = self.changefeed.producer_properties(self.brokers)
        return Delivery(brokers=self.brokers, properties=properties, starts=self.starts, claims=claims)

    def _written(self, deliveries: DataFrame) -> Counts:
        counts = Counts()
        failure: Row | None = None
        for row in deliveries.collect():  # one row per partition and kind
            if row["failure"] is not None:
                failure = row
                continue
            written = KindCount(row["messages"], row["events"], row["bytes"])
            counts.set(row["topic"], row["partition"], row["type"], written)
        if failure is not None:
            raise self._error(failure)
        return counts

    def _error(self, failure: Row) -> ForeignMessageError | DeliveryError:
        topic, partition = failure["topic"], failure["partition"]
        if failure["foreign"] is not None:
            return ForeignMessageError(
                failure["failure"],
                topic=topic,
                partition=partition,
                offset=failure["foreign"],
                hint=failure["hint"],
            )
        return self._delivery_error(topic, partition, failure["failure"], failure["hint"])

    def _delivery_error(self, topic: str, partition: int, what: str, hint: str) -> DeliveryError:
        delivered = {key: end - self.starts[key] for key, end in self._ends().items()}
        counts_text = ", ".join(
            f"{topic}/{partition}: {n}" for (topic, partition), n in sorted(delivered.items())
        )
        return DeliveryError(
            f"{what}; messages delivered: {counts_text}",
            topic=topic,
            partition=partition,
            delivered=delivered,
            hint=hint,
        )

    def _ends(self) -> Mapping[tuple[str, int], int]:
        topics = dict.fromkeys((topic for topic, _ in self.starts), self.changefeed.partition_num)
        return Topics(self.brokers).ends(topics)

    def read(self, spark: SparkSession) -> TopicMessages:
        """The messages at and after the offsets ``starts``."""
        return TopicMessages(spark=spark, brokers=self.brokers, ranges=self.ranges)

    @property
    def ranges(self) -> list[OffsetRange]:
        """Where the messages at and after the offsets ``starts`` are now."""
        return offset_ranges(self.starts, self._ends())


def check_speculation(spark: SparkSession) -> None:
    """Check that Spark does not run two attempts of a task at the same time: their messages would mix.

    :raises SparkError: if speculative execution is enabled.
    """
    if str(spark.conf.get("spark.speculation", "false")).lower() == "true":
        hint = "only one task may write a partition; set spark.speculation=false"
        raise SparkError("speculative execution is enabled", hint=hint)
