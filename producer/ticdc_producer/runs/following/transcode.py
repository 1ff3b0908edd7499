"""Writes a topic that grows in another protocol or topology, each message once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from ticdc_producer.config import Changefeed, ConfigSource, SinkKind
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineStart, translate_worker_errors
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.local_path import local_path
from ticdc_producer.protocols.registry import fidelity
from ticdc_producer.recording.topic_history import is_exact
from ticdc_producer.runs.following import transcoding_state
from ticdc_producer.runs.following.growing_messages import check_followable, engine_choice, growing_messages
from ticdc_producer.runs.following.transcoder import STEP_MESSAGES, GrowingTranscoding, Transcoder
from ticdc_producer.runs.following.transcoding_state import TranscodingState
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.recordings.record import definitions_dump
from ticdc_producer.runs.recordings.record_source import selection_of
from ticdc_producer.runs.recordings.transcode import check_apart, errors_of_target, recording_job
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
from ticdc_producer.runs.targets.run_topics import sorted_options


@translate_worker_errors()
def transcode_growing(
    *,
    sink_uri: str,
    to_sink_uri: str,
    checkpoint: str | Path,
    config: ConfigSource | None = None,
    table: Sequence[str] = (),
    schema: str | Path | None = None,
    to_config: ConfigSource | None = None,
    append: bool = False,
    idle: float | None = None,
    engine: EngineOption = "auto",
    kafka_properties: Sequence[str] = (),
    to_kafka_properties: Sequence[str] = (),
    on_status: OnStatus = ignore_status,
) -> GrowingTranscoding:
    """Write a topic in another protocol or topology while it grows, until Ctrl-C or silence.

    A step has the commits up to a resolved-ts that all partitions have. A call that was interrupted anywhere
    is continued with the same arguments: each message is written once.

    :param sink_uri: TiCDC's sink URI of the topic; its protocol has exact time stamps and resolved events.
    :param to_sink_uri: TiCDC's sink URI of the topics that are written; no other program may write them.
    :param checkpoint: a file with what was written; a second process with the same file is refused.
    :param config: a changefeed TOML, or its content as a mapping.
    :param table: filter rules of TiCDC for the tables that are written; all by default.
    :param schema: as for ``record``.
    :param to_config: a changefeed TOML of what is written; its keys replace those of the source.
    :param append: accept topics that have messages when the checkpoint is new.
    :param idle: end after this number of seconds without a message; None: never.
    :param engine: ``spark``: the messages are those of a streaming query, and its tasks write; ``local`` and
        ``auto``: in this process.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients that read.
    :param to_kafka_properties: ``name=value`` each: properties of the Kafka clients that write.
    :param on_status: called with a line of text for each step.
    :raises ProducerError: for messages that cannot be recorded, a row that the target's encoder rejects and a
        message of another program; what complete steps have written stays.
    """
    given: dict[str, object] = {"follow": True, "sink_uri": sink_uri, "to_sink_uri": to_sink_uri}
    given |= {"checkpoint": checkpoint, "table": table, "append": append, "engine": engine}
    given |= {"kafka_properties": kafka_properties, "to_kafka_properties": to_kafka_properties}
    check_options("transcode", given)
    choice, properties = engine_choice(engine), tuple(kafka_properties)
    source = changefeed_of(sink_uri, config, kafka_properties=properties)
    _check_source(source)
    with errors_of_target():
        target = changefeed_of(to_sink_uri, to_config, kafka_properties=to_kafka_properties)
        if target.sink_uri.kind is SinkKind.STORAGE or target.sink_uri.embedded:
            what = "a topic that grows is written to topics of a broker"
            raise ChangefeedError(what, parameter="sink-uri", hint="kafka://HOST:PORT/TOPIC?protocol=…")
    check_apart(source, target, (target.sink_uri.topic,))
    path, selection = local_path(checkpoint), selection_of(table, (), None, None)
    with transcoding_state.locked(path):
        on_status(f"connecting to {brokers_of(source)}")
        begins = {
            part.partition: part.start for part in whole_topics(brokers_of(source), [source.sink_uri.topic])
        }
        identity = _identity(source, target, sorted(begins), table)
        state = transcoding_state.load(path, TranscodingState(identity=identity, offsets=begins))
        transcoding = Transcoder(
            source=source,
            job_of=partial(
                recording_job,
                sink_uri=to_sink_uri,
                config=to_config,
                kafka_properties=to_kafka_properties,
                recorded=False,
            ),
            growing=lambda offsets: growing_messages(
                choice.name, source, sink_uri, properties, offsets, STEP_MESSAGES
            ),
            engine=EngineStart(choice, on_status=on_status),
            checkpoint=path,
            selection=selection,
            dump=None if schema is None or state.ddls else definitions_dump(schema, selection.accepts),
            append=append,
            on_status=on_status,
            state=state,
        )
        return transcoding.run(idle)


def _check_source(changefeed: Changefeed) -> None:
    """Refuse a source whose history does not follow step by step.

    :raises ChangefeedError: for another sink than a topic, and for a protocol that lacks what steps need.
    """
    check_followable(changefeed)
    form = fidelity(changefeed.protocol, changefeed.codec_options())
    lacks = {
        "exact time stamps": not is_exact(form) or form.commit_ts != "exact",
        "resolved events": not form.resolved,
        "whole old rows": form.old_values != "all" or form.deletes != "all",
    }
    missing = [name for name, lacking in lacks.items() if lacking]
    if missing:
        what = f"{changefeed.protocol} with these options has no {' and no '.join(missing)}"
        hint = "follow a topic of a changefeed that sends them, or transcode the topic when it is complete"
        raise ChangefeedError(what, parameter="protocol", hint=hint)


def _identity(source: Changefeed, target: Changefeed, partitions: Sequence[int], table: Sequence[str]) -> str:
    """Return a digest of what two calls that continue each other share; brokers may have other names."""
    topics = source.sink_uri.topic, target.sink_uri.topic
    parts = sorted_options(source), sorted_options(target), topics, partitions, tuple(table)
    return sha256(repr(parts).encode()).hexdigest()
