"""The embedded Kafka broker, and finding or providing the Java that it and Spark run on.

Nothing but Python has to be installed: the jars are fetched once from a Maven repository
(:mod:`ticdc_producer.kafka.embedded.jars`), and Java comes from PyPI where the machine has none.
"""

from ticdc_producer.kafka.embedded.broker import EmbeddedKafka
from ticdc_producer.java import JavaHome, find_java, spark_java_home

__all__ = ["EmbeddedKafka", "JavaHome", "find_java", "spark_java_home"]
