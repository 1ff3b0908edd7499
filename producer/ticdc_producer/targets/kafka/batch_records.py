"""What the topics of a changefeed have of its batches: a record that the brokers keep.

It is stored with the committed offsets of a consumer group without members, which is named after the
changefeed (docs/decisions/0031-the-writer-of-spark.md). A batch is recorded before its first message, and
again after its last one is acknowledged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.targets.kafka.resume import StartOffsets
from ticdc_producer.targets.kafka.topics import Offsets


@dataclass(frozen=True, kw_only=True)
class BatchRecord:
    """One batch.

    :param number: number of the batch in the changefeed, from 0.
    :param query: the query that writes it; empty for a batch query.
    :param query_batch: number of the batch in the query.
    :param digest: of the rows of the batch.
    :param last_ts: the highest commit-ts of the batch, up to which its partitions are resolved.
    :param complete: whether all messages are acknowledged.
    """

    number: int
    query: str
    query_batch: int
    digest: int
    last_ts: int
    complete: bool = False


@dataclass(frozen=True)
class BatchRecords:
    """The record of the last batch of a changefeed.

    :param brokers: the Kafka cluster.
    :param changefeed: identity of the changefeed.
    """

    brokers: Brokers
    changefeed: str

    @property
    def _offsets(self) -> StartOffsets:
        return StartOffsets(self.brokers, f"batches.{self.changefeed}")

    def save(self, record: BatchRecord, starts: Offsets, ends: Offsets | None = None) -> None:
        """Store the record of a batch.

        :param starts: offset of its first message in each partition.
        :param ends: offset after its last message, if it is complete.
        :raises BrokerError: if the brokers reject it.
        """
        notes = {
            partition: json.dumps({**asdict(record), "start": start}) for partition, start in starts.items()
        }
        self._offsets.save(starts if ends is None else ends, notes)

    def save_empty(self, record: BatchRecord, offsets: Offsets) -> None:
        """Store the record of a batch without messages.

        :param offsets: where it begins and ends.
        :raises BrokerError: if the brokers reject it.
        """
        self.save(replace(record, complete=True), offsets, offsets)

    def load(self, topics: Sequence[str], partitions: int) -> tuple[BatchRecord, Offsets] | None:
        """Return the last batch, and its start offsets, or its end offsets if it is complete.

        None: there is no batch.

        The brokers store all offsets of a request together. If they stored a part nevertheless, the earlier
        record is the one of all partitions.

        :raises BrokerError: if no broker answers.
        """
        stored = self._offsets.with_notes(topics, partitions)
        if stored is None or not all(note for _, note in stored.values()):
            return None
        fields = {partition: json.loads(note) for partition, (_, note) in stored.items()}
        starts = {partition: values.pop("start") for partition, values in fields.items()}
        records = {partition: BatchRecord(**values) for partition, values in fields.items()}
        earliest = min(records.values(), key=lambda record: (record.number, record.complete))
        same = {partition for partition, record in records.items() if record == earliest}
        return earliest, {
            partition: offset if partition in same else starts[partition]
            for partition, (offset, _) in stored.items()
        }
