"""Prepare a run's topics and determine its start offsets: new topics, append, or resume."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version

from ticdc_producer.errors import ChangefeedError, ScenarioError, TopicError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.kafka.start_offsets import StartOffsets
from ticdc_producer.targets.kafka.topics import Offsets, Topics


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


def retried_starts(job: Job, brokers: Brokers) -> Offsets | None:
    """The start offsets that an earlier attempt of the task stored; None if it did not get that far."""
    topics = list(job.stream.topic_partitions.topics)
    return StartOffsets(brokers, identity(job)).load(topics, job.changefeed.partition_num)


def _resumed(job: Job, cluster: Topics, start_offsets: StartOffsets) -> Offsets:
    topics, existing = job.stream.topic_partitions.topics, cluster.existing()
    starts = None
    if all(existing.get(topic) == job.changefeed.partition_num for topic in topics):
        starts = start_offsets.load(list(topics), job.changefeed.partition_num)
    if starts is None:
        what = "no run of this scenario, seed and changefeed began in this topic"
        raise TopicError(what, topic=topics[0], hint="run it without `resume`").about("resume")
    return starts


def check_resumable(job: Job) -> None:
    """Reject jobs that cannot be resumed.

    :raises ChangefeedError: if the run had an embedded broker, which ended with it.
    :raises ScenarioError: if its messages depend on the current time.
    """
    if job.changefeed.sink_uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC; embedded brokers and folders always start empty"
        what = "`resume` requires a sink URI with a broker"
        raise ChangefeedError(what, parameter="sink-uri", hint=hint).about("resume")
    if job.scenario.build_time == "now":
        hint = "messages contain their build time; set a fixed time"
        what = "`resume` cannot be combined with clock.build-time: now"
        raise ScenarioError(what, file=job.scenario.file, hint=hint).about("resume")


def identity(job: Job) -> str:
    """A digest of everything that determines the messages, independent of target and time."""
    changefeed = {key: value for key, value in job.changefeed.as_manifest().items() if key != "sink-uri"}
    scenario = replace(job.scenario, file="", changefeed={})  # `changefeed` below has the resolved options
    parts = (
        version("ticdc-producer"),
        scenario,
        sorted(changefeed.items()),
        job.changefeed.sink_uri.topic,
        job.history.commits,
        [(ddl.commit_seq, ddl.query) for ddl in job.history.catalog.ddls],
    )
    return sha256(repr(parts).encode()).hexdigest()[:32]
