"""Stores the start offsets of a run in Kafka, so that a new driver finds them on any machine.

They are the committed offsets of a consumer group that has no members and is named after the run
(docs/decisions/0007-runs-that-last.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, TopicPartition

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.client import CONNECT_SECONDS, Brokers, connection
from ticdc_producer.kafka.client_errors import broker_error
from ticdc_producer.targets.kafka.topics import Offsets

_ATTEMPTS = 25
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5


@dataclass(frozen=True)
class StartOffsets:
    """The start offsets of one run.

    :param brokers: the Kafka cluster.
    :param run: identity of the run; the same if the run is started again.
    """

    brokers: Brokers
    run: str

    def save(self, starts: Offsets) -> None:
        """Store all start offsets.

        :raises BrokerError: if the brokers reject them.
        """
        pending = [TopicPartition(*partition, offset) for partition, offset in starts.items()]
        client, pause = self._client(), _FIRST_PAUSE_S
        try:
            for _ in range(_ATTEMPTS):
                results = client.commit(offsets=pending, asynchronous=False)
                pending = [result for result in results if result.error]
                if not pending:
                    return
                # A topic that was just created may still be unknown to the group coordinator.
                client.poll(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_S)
            raise BrokerError(f"cannot store offsets of {pending[0].topic}", address=str(self.brokers))
        except KafkaException as error:
            raise broker_error(self.brokers, error) from None
        finally:
            client.close()

    def load(self, topics: list[str], partitions: int) -> Offsets | None:
        """Read the stored offsets; None unless all of these partitions have one.

        :raises BrokerError: if no broker answers.
        """
        wanted = [TopicPartition(topic, number) for topic in topics for number in range(partitions)]
        client = self._client()
        try:
            found = client.committed(wanted, timeout=CONNECT_SECONDS)
            for one in found:
                if one.error:
                    raise KafkaException(one.error)
        except KafkaException as error:
            raise broker_error(self.brokers, error) from None
        finally:
            client.close()
        offsets = {(one.topic, one.partition): one.offset for one in found}
        return None if any(offset < 0 for offset in offsets.values()) else offsets

    def _client(self) -> Consumer:
        group = f"ticdc-producer.{self.run}"
        return Consumer({**connection(self.brokers), "group.id": group, "enable.auto.commit": False})
