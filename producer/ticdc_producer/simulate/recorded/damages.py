"""The damaged messages of a recorded topic, as events of a stream of its topology."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.errors import MessageError
from ticdc_producer.faults.traps.messages import Poison
from ticdc_producer.model.event import DAMAGE
from ticdc_producer.pipeline.delivery import TopicPartitions, event_batch
from ticdc_producer.simulate.recorded.copies import KIND_ORDER, order_keys
from ticdc_producer.simulate.recorded.event_keys import has_content


@dataclass(frozen=True)
class FaultMessages:
    """The damaged messages of a recorded topic as events of a stream of its topology.

    :param start: TSO before all events, the place of messages that no event of their partition precedes.
    """

    topic_partitions: TopicPartitions
    start: int

    def __call__(self, batches: Batches) -> Batches:
        """Yield the damaged messages (shape ``EVENT_STREAM``).

        >>> from ticdc_producer.model.shapes import RECORDED_FAULTS
        >>> fault = {"kind": "damage", "topic": "old", "partition": 1, "offset": 3, "value": b"?"}
        >>> fault |= {"delivered_ts": 5, "delivered_count": 0}
        >>> batches = iter([pa.RecordBatch.from_pylist([fault], RECORDED_FAULTS)])
        >>> messages = FaultMessages(TopicPartitions(("new",), (2,)), start=9)
        >>> columns = ["topic", "partition_index", "deliver_after_ts", "before", "after"]
        >>> next(messages(batches)).select(columns).to_pylist()
        [{'topic': 'new', 'partition_index': 1, 'deliver_after_ts': 9, 'before': [None], 'after': [b'?']}]

        :param batches: shape ``RECORDED_FAULTS``.
        """
        for batch in batches:
            damages = batch.filter(pc.and_(pc.equal(batch.column("kind"), "damage"), has_content(batch)))
            times = np.maximum(damages.column("delivered_ts").to_numpy(), self.start)
            topics = [self._topic(topic) for topic in damages.column("topic").to_pylist()]
            indexes = [*map(self._index, topics, *(damages.column(name).to_pylist() for name in _POSITION))]
            columns = {
                "topic": pa.array(topics, pa.string()),
                "partition": damages.column("partition"),
                "partition_index": pa.array(indexes, pa.int32()),
                "commit_ts": times,
                "deliver_after_ts": times,
                "kind": np.full(len(times), DAMAGE),
                "kind_order": np.full(len(times), KIND_ORDER),
                "table_id": np.zeros(len(times), np.int64),
                "before": _single(damages.column("key")),
                "after": _single(damages.column("value")),
                "restart_epoch": np.zeros(len(times), np.int64),
                "delivery_no": np.ones(len(times), np.int64),
                "txn_order_key": order_keys(damages, np.zeros(len(times), np.int64)),
                "fault": pa.repeat(Poison.id, len(times)),
            }
            yield event_batch(columns, len(times))

    def _topic(self, recorded: str) -> str:
        """Return the topic that has the messages of a recorded one; the first, if none has its name."""
        return recorded if recorded in self.topic_partitions.topics else self.topic_partitions.topics[0]

    def _index(self, topic: str, partition: int, offset: int) -> int:
        indexes = self.topic_partitions.of(topic)
        if partition >= len(indexes):
            what = "the recording has a damaged message, and the topic does not have its partition"
            hint = "set partition-num as it was recorded; `faults` none leaves such messages out"
            error = MessageError(what, topic=topic, partition=partition, offset=offset, hint=hint)
            raise error.about("faults")
        return indexes[partition]


_POSITION = ("partition", "offset")


def _single(values: pa.Array) -> pa.Array:
    """Return lists of one value each."""
    return pa.ListArray.from_arrays(pa.array(np.arange(len(values) + 1, dtype=np.int32)), values)
