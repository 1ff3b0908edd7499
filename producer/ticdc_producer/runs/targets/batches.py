"""Topics that a changefeed fills batch by batch, each written once however often it is repeated.

The record of a batch is stored with the committed offsets of a consumer group without members, which is
named after the changefeed (docs/decisions/0031-the-writer-of-spark.md). A batch is recorded before its first
message, and again after its last one is acknowledged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256

from ticdc_producer.errors import ForeignMessageError, ScenarioError, TopicError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.targets.kafka import KafkaTarget
from ticdc_producer.runs.targets.run_topics import RunTopics, sorted_options
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.kafka.resume import StartOffsets
from ticdc_producer.targets.kafka.topics import Offsets, Topics


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

    def load(self, topics: Mapping[str, int]) -> tuple[BatchRecord, Offsets] | None:
        """Return the last batch, and its start offsets, or its end offsets if it is complete.

        None: there is no batch.

        :param topics: numbers of partitions by topic.

        The brokers store all offsets of a request together. If they stored a part nevertheless, the earlier
        record is the one of all partitions.

        :raises BrokerError: if no broker answers.
        """
        stored = self._offsets.with_notes(topics)
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


def changefeed_identity(job: Job, catalog: Catalog) -> str:
    """Return a digest of everything that batches of one changefeed have in common.

    :param job: any of its batches.
    :param catalog: with the DDLs of the changefeed.
    """
    parts = (
        sorted_options(job.changefeed),
        job.changefeed.sink_uri.topic,
        job.scenario.start,
        job.scenario.every,
        [(ddl.commit_seq, ddl.query) for ddl in catalog.ddls],
    )
    return sha256(repr(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class RequestedBatch:
    """A batch that is to be written.

    :param query: the query that writes it; empty for a batch query, whose batches have no numbers.
    :param number: number of the batch in the query.
    :param digest: of its rows.
    :param appends: whether the first batch of a query may follow the batches of another one.
    """

    query: str = ""
    number: int = 0
    digest: int
    appends: bool


@dataclass(frozen=True)
class BatchHistory:
    """The part of a changefeed that the topics have.

    :param last: the last batch, and its start offsets, or its end offsets if it is complete.
    :param topic: the changefeed's topic, for messages.
    """

    last: tuple[BatchRecord, Offsets] | None
    topic: str

    def number_of(self, batch: RequestedBatch) -> int | None:
        """Return the number in the changefeed that a batch gets or has; None if it is complete.

        :raises TopicError: if the topics do not end where the batch begins.
        """
        if self.last is None:
            if batch.number:
                what = f"batch {batch.number} is not the first one, and the topic has none of this query"
                hint = "the topic was created again, or the brokers removed the group's offsets: start over"
                raise TopicError(what, topic=self.topic, hint=hint)
            return 0
        record, _ = self.last
        if record.query != batch.query:
            return self._after_another(record, batch)
        if not batch.query:
            return self._after_batch_query(record, batch)
        if record.query_batch == batch.number:
            self._check_same(record, batch)
            return None if record.complete else record.number
        if record.query_batch != batch.number - 1 or not record.complete:
            what = (
                f"batch {batch.number} does not follow batch {record.query_batch}, the last one of this query"
            )
            hint = "the topic and the checkpoint do not belong together: start over with both"
            raise TopicError(what, topic=self.topic, hint=hint)
        return record.number + 1

    def _after_another(self, record: BatchRecord, batch: RequestedBatch) -> int:
        if not record.complete:
            what = f"batch {record.query_batch} of another query is not complete"
            raise TopicError(what, topic=self.topic, hint="continue that query, or write to another topic")
        if batch.number or not batch.appends:
            what = "another query has written the topic"
            hint = "one query writes a topic; with `append` a new query continues it"
            raise TopicError(what, topic=self.topic, hint=hint)
        return record.number + 1

    def _after_batch_query(self, record: BatchRecord, batch: RequestedBatch) -> int:
        if record.complete:
            return record.number + 1
        self._check_same(record, batch)
        return record.number

    def _check_same(self, record: BatchRecord, batch: RequestedBatch) -> None:
        if record.digest != batch.digest:
            what = f"batch {record.query_batch} was repeated with other rows"
            hint = "the source must give a repeated batch the same rows; start over with another topic"
            raise TopicError(what, topic=self.topic, hint=hint)

    def check_time(self, first_ts: int) -> None:
        """Check that the commit-ts of a new batch are above those that the topic has.

        :raises ScenarioError: if not.
        """
        if self.last is None or not self.last[0].complete or first_ts > self.last[0].last_ts:
            return
        what = f"commit-ts {first_ts} is not above {self.last[0].last_ts}, up to which the topic is resolved"
        raise ScenarioError(what, hint="a batch follows the batches before it in time")


class BatchTopics(KafkaTarget):
    """The topics of a changefeed as the target of one batch.

    :param records: the records of the changefeed's batches.
    :param history: what the topics have before the batch.
    :param record: the record of the batch.
    """

    def __init__(
        self, job: Job, options: RunOptions, records: BatchRecords, history: BatchHistory, record: BatchRecord
    ) -> None:
        super().__init__(job, options)
        self._records, self._history, self._record = records, history, record

    def check(self) -> None:
        """Check that the topics exist or can be created."""
        self.check_claims()
        Topics(self.job.changefeed.brokers).existing()

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        written = super().write(simulation, report)
        ends = {(part.topic, part.partition): part.end for part in self._topics.ranges}
        self._records.save(replace(self._record, complete=True), self._topics.starts, ends)
        return written

    def _prepare(self, what: str) -> None:
        self._register_schemas()
        self._topics = RunTopics(self.job.changefeed, self.brokers, self._starts())
        self.options.on_status(f"writing {what}of batch {self._record.query_batch}")

    def _starts(self) -> Offsets:
        """Return the offset of the batch's first message in each partition; they are recorded once."""
        if self._history.last is not None and self._history.last[0] == self._record:
            return self._history.last[1]
        topics = list(self.job.stream.topic_partitions.topics)
        starts = Topics(self.brokers).prepare(
            self.job.changefeed, topics, append=self._history.last is not None, replace=self.options.replace
        )
        if self._history.last is not None:
            check_ends(self._history.last[1], starts)
        self._records.save(self._record, starts)
        return starts


def check_ends(expected: Offsets, ends: Mapping[tuple[str, int], int]) -> None:
    """Check that nothing follows the last batch.

    :raises ForeignMessageError: for the first partition that another program has written.
    """
    for (topic, partition), end in sorted(ends.items()):
        offset = expected.get((topic, partition), 0)
        if end != offset:
            what = f"the partition ends at {end}, and the last batch at {offset}"
            hint = "another program has written to it, or the topic was created again: start over"
            raise ForeignMessageError(what, topic=topic, partition=partition, offset=offset, hint=hint)
