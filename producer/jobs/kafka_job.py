"""Writing an event stream to Kafka and reading back what was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from producer.changefeed import Changefeed
from producer.changefeed.kafka_client import producer_properties
from producer.errors import DeliveryError
from producer.jobs.frames import Counts
from producer.jobs.ranges import ranges
from producer.sink.encode import EncodePlan
from producer.sink.kafka import deliver
from producer.sink.topics import Offsets, Topics
from producer.source.frame import kafka_messages


@dataclass(frozen=True)
class KafkaTarget:
    """Topics of one cluster that a run writes.

    :param starts: end offset of each partition before the run.
    """

    changefeed: Changefeed
    bootstrap: str
    starts: Offsets

    def write(self, events: DataFrame, plan: EncodePlan) -> Counts:
        """Encode, write, wait for every acknowledgement.

        :return: what the workers say they wrote.
        :raises DeliveryError: with an exact account by partition, for messages that were not taken.
        """
        properties = producer_properties(self.changefeed, self.bootstrap)
        counts = Counts()
        failure: DeliveryError | None = None
        for row in deliver(
            events, plan, properties, self.starts
        ).collect():  # one line per partition and kind
            place = (row["topic"], row["partition"], row["type"])
            if row["failure"] is not None:
                failure = DeliveryError(row["failure"], topic=row["topic"], partition=row["partition"])
                continue
            counts.messages[place] = row["messages"]
            counts.events[place] = row["events"]
            counts.size[place] = row["bytes"]
        if failure is not None:
            raise self._accounted(failure)
        return counts

    def _accounted(self, failure: DeliveryError) -> DeliveryError:
        delivered = {place: end - self.starts[place] for place, end in self._ends().items()}
        shown = ", ".join(f"{topic}/{partition}: {n}" for (topic, partition), n in sorted(delivered.items()))
        return DeliveryError(
            f"{failure.what}; messages delivered: {shown}",
            topic=failure.topic,
            partition=failure.partition,
            delivered=delivered,
        )

    def _ends(self) -> Mapping[tuple[str, int], int]:
        topics = dict.fromkeys((topic for topic, _ in self.starts), self.changefeed.partition_num)
        return Topics(self.bootstrap).ends(topics)

    def read(self, spark: SparkSession) -> DataFrame:
        """The messages that stand behind ``starts`` now."""
        return kafka_messages(spark, self.bootstrap, ranges(self.starts, self._ends()))
