"""Where a run began in each partition, kept by Kafka itself: so that a new driver finds it, wherever it runs.

The offsets are those of a consumer group that nobody joins, named after the run (docs/decisions/0007).
"""

from __future__ import annotations

from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, TopicPartition

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.client import CONNECT_SECONDS, Brokers, connection
from ticdc_producer.kafka.client_errors import failure
from ticdc_producer.targets.kafka.topics import Offsets

_ATTEMPTS = 20


@dataclass(frozen=True)
class StartOffsets:
    """The start offsets of one run.

    :param brokers: where Kafka is.
    :param run: identity of the run, the same whenever it is begun anew.
    """

    brokers: Brokers
    run: str

    def keep(self, starts: Offsets) -> None:
        """Note them, all at once.

        :raises BrokerError: if the brokers do not take them.
        """
        places = [TopicPartition(*place, offset) for place, offset in starts.items()]
        client = self._client()
        try:
            for _ in range(_ATTEMPTS):
                places = [place for place in client.commit(offsets=places, asynchronous=False) if place.error]
                if not places:
                    return
                # A topic that was made a moment ago may be unknown to the broker that keeps the offsets.
                client.poll(CONNECT_SECONDS / _ATTEMPTS)
            raise BrokerError(f"takes no offset of {places[0].topic}", address=str(self.brokers))
        except KafkaException as error:
            raise failure(self.brokers, error) from None
        finally:
            client.close()

    def kept(self, topics: list[str], partitions: int) -> Offsets | None:
        """What was noted; None if that was never done for all of these partitions.

        :raises BrokerError: if no broker answers.
        """
        places = [TopicPartition(topic, number) for topic in topics for number in range(partitions)]
        client = self._client()
        try:
            found = client.committed(places, timeout=CONNECT_SECONDS)
            for place in found:
                if place.error:
                    raise KafkaException(place.error)
        except KafkaException as error:
            raise failure(self.brokers, error) from None
        finally:
            client.close()
        offsets = {(place.topic, place.partition): place.offset for place in found}
        return None if any(offset < 0 for offset in offsets.values()) else offsets

    def _client(self) -> Consumer:
        group = f"ticdc-producer.{self.run}"
        return Consumer({**connection(self.brokers), "group.id": group, "enable.auto.commit": False})
