"""Where a run begins in Kafka: in new or empty topics, behind what they hold, or where it began before."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version

from ticdc_producer.errors import ChangefeedError, ScenarioError, TopicError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.kafka.start_offsets import StartOffsets
from ticdc_producer.targets.kafka.topics import Offsets, Topics


def begin(job: Job, brokers: Brokers, *, append: bool, resume: bool) -> Offsets:
    """Prepare the topics of a run.

    :param append: accept topics that hold messages.
    :param resume: go on with a run of the same scenario and changefeed, whose driver is gone.
    :return: offset of the run's first message in each partition.
    :raises TopicError: for topics that the run cannot write.
    """
    topics = list(job.stream.slots.topics)
    noted = StartOffsets(brokers, identity(job))
    if resume:
        return _resumed(job, Topics(brokers), noted)
    starts = Topics(brokers).prepare(job.changefeed, topics, append=append)
    if not job.changefeed.sink_uri.embedded:  # an embedded broker ends with the run
        noted.keep(starts)
    return starts


def _resumed(job: Job, cluster: Topics, noted: StartOffsets) -> Offsets:
    topics, there = job.stream.slots.topics, cluster.existing()
    starts = None
    if all(there.get(topic) == job.changefeed.partition_num for topic in topics):
        starts = noted.kept(list(topics), job.changefeed.partition_num)
    if starts is None:
        what = "no run of this scenario, seed and changefeed began in this topic"
        raise TopicError(what, topic=topics[0], hint="run it without --resume")
    return starts


def check_resumable(job: Job) -> None:
    """Refuse what cannot go on where it was.

    :raises ChangefeedError: if the broker of the run is gone.
    :raises ScenarioError: if its messages would be others now.
    """
    if job.changefeed.sink_uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC; embedded brokers and folders begin anew"
        raise ChangefeedError("--resume needs the broker of the run", parameter="sink-uri", hint=hint)
    if job.scenario.build_time == "now":
        hint = "messages tell when they were built; name a time"
        what = "a run with clock.build-time: now cannot be resumed"
        raise ScenarioError(what, file=job.scenario.file, hint=hint)


def identity(job: Job) -> str:
    """A name for all that decides the messages, wherever and whenever they are written."""
    feed = {key: value for key, value in job.changefeed.as_manifest().items() if key != "sink-uri"}
    read = replace(job.scenario, file="", changefeed={})  # which is there as resolved
    made = (
        version("ticdc-producer"),
        read,
        sorted(feed.items()),
        job.changefeed.sink_uri.topic,
        job.history.commits,
        [(ddl.commit_seq, ddl.query) for ddl in job.history.catalog.ddls],
    )
    return sha256(repr(made).encode()).hexdigest()[:32]
