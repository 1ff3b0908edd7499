"""Writing an event stream to Kafka and reading back what was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row, SparkSession

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import DeliveryError, ForeignMessageError, SparkError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.runs.counts import Counts
from ticdc_producer.runs.offset_ranges import ranges
from ticdc_producer.targets.decoding.dataframes import kafka_messages
from ticdc_producer.targets.encoding.arrow_batches import limited_by_rows
from ticdc_producer.targets.encoding.encode import EncodePlan
from ticdc_producer.targets.kafka.topics import Offsets, Topics
from ticdc_producer.targets.kafka.write import deliver


@dataclass(frozen=True)
class KafkaTarget:
    """Topics of one cluster that a run writes.

    :param starts: end offset of each partition before the run.
    """

    changefeed: Changefeed
    brokers: Brokers
    starts: Offsets

    def write(self, events: DataFrame, plan: EncodePlan) -> Counts:
        """Encode, write, wait for every acknowledgement.

        :return: what the workers say they wrote.
        :raises DeliveryError: with an exact account by partition, for messages that were not taken.
        :raises ForeignMessageError: for a partition that holds what the run did not write.
        :raises SparkError: if Spark may run a task twice at once.
        """
        check_speculation(events.sparkSession)
        properties = self.changefeed.producer_properties(self.brokers)
        counts = Counts()
        failure: Row | None = None
        work = deliver(events, plan, self.brokers, properties, self.starts)
        with limited_by_rows(events.sparkSession, plan.catalog):
            reported = work.collect()  # a line per partition and kind
        for row in reported:
            place = (row["topic"], row["partition"], row["type"])
            if row["failure"] is not None:
                failure = row
                continue
            counts.messages[place] = row["messages"]
            counts.events[place] = row["events"]
            counts.size[place] = row["bytes"]
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
        delivered = {place: end - self.starts[place] for place, end in self._ends().items()}
        shown = ", ".join(f"{topic}/{partition}: {n}" for (topic, partition), n in sorted(delivered.items()))
        return DeliveryError(
            f"{failure['failure']}; messages delivered: {shown}",
            topic=topic,
            partition=partition,
            delivered=delivered,
            hint=failure["hint"],
        )

    def _ends(self) -> Mapping[tuple[str, int], int]:
        topics = dict.fromkeys((topic for topic, _ in self.starts), self.changefeed.partition_num)
        return Topics(self.brokers).ends(topics)

    def read(self, spark: SparkSession) -> DataFrame:
        """The messages that stand behind ``starts`` now."""
        return kafka_messages(spark, self.brokers, ranges(self.starts, self._ends()))


def check_speculation(spark: SparkSession) -> None:
    """Two tasks that write one partition at the same time would mix their messages.

    :raises SparkError: if Spark may start them.
    """
    if str(spark.conf.get("spark.speculation", "false")).lower() == "true":
        hint = "a partition is written by one task at a time; set spark.speculation=false"
        raise SparkError("speculative execution is on", hint=hint)
