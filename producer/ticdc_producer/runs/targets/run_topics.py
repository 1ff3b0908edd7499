"""The topics of a run: prepared, with their start offsets; written; and read again by offset ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256

from ticdc_producer.config import Changefeed, SinkKind
from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.errors import BrokerError, DeliveryError, ScenarioError, TopicError
from ticdc_producer.installation import own_version
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.oracle.scenario import rows_of_table
from ticdc_producer.rows.origin import Origin, known_tables, messages_of_topics
from ticdc_producer.runs.targets.existing_topics import offset_ranges
from ticdc_producer.scenario.content_digest import content_sha256
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.encode import encode_events
from ticdc_producer.simulate.job import Job
from ticdc_producer.targets.encode import Described
from ticdc_producer.targets.encode_partition import PartitionSummary
from ticdc_producer.targets.kafka.read import OffsetRange, rows_at_offsets, slices, topic_rows
from ticdc_producer.targets.kafka.resume import StartOffsets
from ticdc_producer.targets.kafka.topics import Offsets, Topics
from ticdc_producer.targets.kafka.write import Delivery
from ticdc_producer.targets.record_batches import SENT_COLUMNS
from ticdc_producer.verifier.messages import Messages


def for_existing_topics(job: Job, on_status: Callable[[str], None] | None = None) -> Job:
    """Return the job for the partitions of the topics that it is to write, if they exist.

    :param on_status: called before brokers are asked, because one that is away is waited for.
    :raises BrokerError: if no broker answers.
    """
    uri = job.changefeed.sink_uri
    if uri.kind is not SinkKind.KAFKA or uri.embedded:
        return job
    if on_status is not None:
        on_status(f"looking for topics at {','.join(uri.hosts)}")
    existing = Topics(job.changefeed.brokers).existing()
    topics = (topic for topic in job.stream.topic_partitions.topics if topic in existing)
    return replace(job, changefeed=job.changefeed.with_topics({topic: existing[topic] for topic in topics}))


def topic_messages(engine: Engine, brokers: Brokers, ranges: Sequence[OffsetRange]) -> Messages:
    """Return messages of topics, read by the parts that need them."""
    return Messages(topic_rows(engine, brokers, ranges).reused(), partial(rows_at_offsets, engine, brokers))


def check_beginning(ranges: Sequence[OffsetRange]) -> None:
    """Check that the topics still have their first messages.

    :raises TopicError: if retention has removed some of them.
    """
    for part in ranges:
        if part.start > 0:
            what = f"partition {part.partition} begins at offset {part.start}: earlier messages were removed"
            hint = "leave out `from_beginning`, or raise retention.ms of the topic and write it again"
            raise TopicError(what, topic=part.topic, hint=hint).about("from_beginning")


def prepare_topics(
    job: Job, brokers: Brokers, *, append: bool, resume: bool, replace_existing: bool = False
) -> Offsets:
    """Create or check the topics of a run.

    :param append: accept topics that hold messages.
    :param resume: continue an earlier run of the same scenario and changefeed whose driver has ended.
    :param replace_existing: delete the topics if they exist.
    :return: offset of the run's first message in each partition.
    :raises TopicError: for topics that this run must not write.
    """
    topics = list(job.stream.topic_partitions.topics)
    start_offsets = StartOffsets(brokers, identity(job))
    if resume:
        return _resumed(job, Topics(brokers), start_offsets)
    starts = Topics(brokers).prepare(job.changefeed, topics, append=append, replace=replace_existing)
    if not job.changefeed.sink_uri.embedded:  # an embedded broker ends with the run, which cannot be resumed
        start_offsets.save(starts)
    return starts


def _resumed(job: Job, cluster: Topics, start_offsets: StartOffsets) -> Offsets:
    topics, existing = job.stream.topic_partitions.topics, cluster.existing()
    starts = None
    counts = {topic: job.changefeed.partitions_of(topic) for topic in topics}
    if all(existing.get(topic, 0) >= count for topic, count in counts.items()):
        starts = start_offsets.load(counts)
    if starts is None:
        what = "no run of this scenario, seed and changefeed began in this topic"
        raise TopicError(what, topic=topics[0], hint="run it without `resume`").about("resume")
    return starts


def check_resumable(job: Job) -> None:
    """Reject jobs that cannot be resumed.

    :raises ScenarioError: if its messages depend on the current time.
    """
    if job.scenario.build_time == "now":
        hint = "messages contain their build time; set a fixed time"
        what = "`resume` cannot be combined with clock.build-time: now"
        raise ScenarioError(what, file=job.scenario.file, hint=hint).about("resume")


def sorted_options(changefeed: Changefeed) -> list[tuple[str, object]]:
    """Return the options of a changefeed but for its sink URI, whose brokers may have other names later."""
    return sorted(item for item in changefeed.as_manifest().items() if item[0] != "sink-uri")


def identity(job: Job) -> str:
    """Return a digest of everything that determines the messages, independent of target and time."""
    # `changefeed` below has the resolved options
    content = content_sha256(job.scenario)
    scenario = replace(job.scenario, file="", changefeed={}, sha256=content)
    parts = (
        own_version(),
        scenario,
        sorted_options(job.changefeed),
        job.changefeed.sink_uri.topic,
        job.history.commits,
        [(ddl.commit_seq, ddl.query) for ddl in job.history.catalog.ddls],
    )
    return sha256(repr(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class RunTopics:
    """The topics of one cluster that a run writes.

    :param starts: end offset of each partition before the run.
    :param described: the last descriptions of tables before the events of a slice; None: a run has no slices.
    """

    changefeed: Changefeed
    brokers: Brokers
    starts: Offsets
    described: Described | None = None

    @property
    def partitions(self) -> dict[str, int]:
        """Number of written partitions by topic."""
        return {topic: self.changefeed.partitions_of(topic) for topic, _ in self.starts}

    @property
    def name(self) -> str:
        """The target for reports."""
        return f"kafka://{self.brokers}/{self.changefeed.sink_uri.topic}"

    def write(self, messages: Dataset, claims: str) -> None:
        """Write messages, and wait for every acknowledgement.

        :param messages: ``message_rows.STORED_MESSAGES``, divided by partition and in order.
        :param claims: URI of the storage for claim-check objects, empty if there is none.
        :raises DeliveryError: if messages were not acknowledged; with the delivered messages by partition.
        :raises ForeignMessageError: for a partition with a message that the run did not write.
        :raises SparkError: if Spark may run two attempts of a task at the same time.
        """
        with self._failures():
            messages.select(*SENT_COLUMNS).execute(self._delivery(claims).write)

    def encode_and_write(
        self, job: Job, events: Dataset, *, skip_rejected: bool = True
    ) -> list[PartitionSummary]:
        """Encode events and write their messages in one pass, with the errors of ``write``.

        :param skip_rejected: skip events that TiCDC's encoder rejects; otherwise the first one is an
            error.
        """
        claims = job.encode_plan(skip_rejected=True).claim_storage
        with self._failures():
            return encode_events(
                job,
                events,
                self._delivery(claims).write,
                skip_rejected=skip_rejected,
                described=self.described,
            )

    def after(self, summaries: Sequence[PartitionSummary]) -> RunTopics:
        """Return the topics as the next slice continues them.

        :param summaries: of the partitions in which a slice was written.
        """
        described = {(summary.topic, summary.partition): summary.described for summary in summaries}
        return replace(
            self,
            starts=Counts.of_partitions(summaries).offsets_after(self.starts),
            described={**(self.described or {}), **described},
        )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Add the number of delivered messages to an error of the block."""
        try:
            yield
        except DeliveryError as error:
            raise self._delivery_error(error.topic, error.partition, error.what, error.hint) from None

    def _delivery(self, claims: str) -> Delivery:
        properties = self.changefeed.producer_properties(self.brokers)
        return Delivery(brokers=self.brokers, properties=properties, starts=self.starts, claims=claims)

    def _delivery_error(self, topic: str, partition: int, what: str, hint: str) -> DeliveryError:
        try:
            delivered = {key: end - self.starts[key] for key, end in self._ends().items()}
        except BrokerError as error:
            what = f"{what}; it is unknown how many messages were delivered: {error.what}"
            hint = hint or "start the broker, and continue the run with `resume`"
            return DeliveryError(what, topic=topic, partition=partition, hint=hint).about("resume")
        counts_text = ", ".join(
            f"{topic}/{partition}: {n}" for (topic, partition), n in sorted(delivered.items())
        )
        return DeliveryError(
            f"{what}; messages delivered: {counts_text}",
            topic=topic,
            partition=partition,
            delivered=delivered,
            hint=hint,
        )

    def _ends(self) -> Mapping[tuple[str, int], int]:
        return Topics(self.brokers).ends(self.partitions)

    def read(self, engine: Engine) -> Messages:
        """Return the messages at and after the offsets ``starts``."""
        return topic_messages(engine, self.brokers, self.ranges)

    def origin(self, job: Job) -> Callable[[], Origin]:
        """Return what reads the messages that the topics have now, at and after the offsets ``starts``.

        :param job: with the schema ids of the registry, if there is one.
        """
        return partial(
            messages_of_topics,
            self.changefeed,
            self.brokers,
            slices(self.ranges),
            schemas=job.known_schemas,
            tables=known_tables(job.catalog),
            expected=partial(rows_of_table, job),
        )

    @cached_property
    def ranges(self) -> list[OffsetRange]:
        """The ranges of the messages at and after the offsets ``starts``, when they are needed first."""
        return offset_ranges(self.starts, self._ends())
