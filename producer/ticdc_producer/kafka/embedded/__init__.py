"""The embedded Kafka broker: a real Kafka that requires only Python to be installed.

The jars are downloaded once from a Maven repository (:mod:`ticdc_producer.kafka.embedded.jars`), and Java
comes from PyPI if the machine has none (:mod:`ticdc_producer.java`).
"""

from ticdc_producer.kafka.embedded.broker import EmbeddedKafka

__all__ = ["EmbeddedKafka"]
