"""The embedded Kafka broker: a real Kafka that needs nothing installed but Python.

The jars are fetched once from a Maven repository (:mod:`ticdc_producer.kafka.embedded.jars`), and Java comes
from PyPI where the machine has none (:mod:`ticdc_producer.java`).
"""

from ticdc_producer.kafka.embedded.broker import EmbeddedKafka

__all__ = ["EmbeddedKafka"]
