"""The topics that a run writes: write an event stream, and read the written messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row, SparkSession

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import DeliveryError, ForeignMessageError, SparkError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.runs.counts import Counts
from ticdc_producer.runs.offset_ranges import offset_ranges
from ticdc_producer.targets.decoding.dataframes import kafka_messages
from ticdc_producer.targets.encoding.arrow_batches import row_limited_batches
from ticdc_producer.targets.encoding.encode import EncodePlan
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents
from ticdc_producer.targets.kafka.delivery_stats import KindCount
from ticdc_producer.targets.kafka.read import OffsetRange
from ticdc_producer.targets.kafka.topics import Offsets, Topics
from ticdc_producer.targets.kafka.write import Delivery, deliver, deliver_stored
from ticdc_producer.targets.kafka.write_partitions import write_partitions


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

    def read(self, spark: SparkSession) -> DataFrame:
        """The messages at and after the offsets ``starts``."""
        return kafka_messages(spark, self.brokers, self.ranges)

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
