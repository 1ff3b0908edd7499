"""``run``, interrupted when some messages of a partition have arrived.

The first argument says how: ``task`` fails each writing task once, ``driver`` kills this process.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from unittest.mock import patch

import pyarrow as pa
from pyspark import TaskContext

from ticdc_producer.cli import main
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages
from ticdc_producer.spark.session import spark_session
from ticdc_producer.targets.kafka import write
from ticdc_producer.targets.record_batches import stored_messages

FAILS_AT = 300
HOW, DRIVER = sys.argv.pop(1), os.getpid()
URI = sys.argv[sys.argv.index("--sink-uri") + 1]


def interrupted(entries: Iterable[pa.RecordBatch]) -> Iterator[MessageBatch]:
    """The messages, interrupted in the middle of the first attempt, when part of them is in the topic."""
    retried = TaskContext.get().attemptNumber() > 0
    messages = (message for batch in stored_messages(entries) for message in batch.messages())
    for number, message in enumerate(messages):
        if number == FAILS_AT and not retried:
            _wait(TaskContext.get().partitionId())
            if HOW == "driver":
                os.kill(DRIVER, signal.SIGKILL)
                signal.pause()  # Spark takes its workers with it
            raise RuntimeError("the task fails, as this test wants it")
        yield from_messages([message])


def _wait(partition: int) -> None:
    # Here, since classes of C code do not go to the workers.
    from confluent_kafka import Consumer, TopicPartition

    address, topic = URI.removeprefix("kafka://").split("?")[0].split("/")
    reader = Consumer({"bootstrap.servers": address, "group.id": "any"})
    while reader.get_watermark_offsets(TopicPartition(topic, partition), timeout=60)[1] == 0:
        pass
    reader.close()


# The writer's code takes it to the workers.
with patch.object(write, "stored_messages", interrupted):
    spark_session("local[2,4]")
    sys.exit(main(["run", *sys.argv[1:]]))
