"""Transcodes messages: records them into a temporary folder, and runs the recording into a target."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ticdc_producer.config import Changefeed, ConfigSource, SinkKind, changefeed_content
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.config.sink_uri import parse_sink_uri
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.errors import ArgumentError, ChangefeedError
from ticdc_producer.local_path import local_path
from ticdc_producer.runs.options.commands import FaultsOption
from ticdc_producer.runs.options.rule import BROKER, EMBEDDED, STORAGE
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.recordings.record import record
from ticdc_producer.runs.recordings.recording_report import Recording
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import OnStatus, RunOptions, ignore_status
from ticdc_producer.runs.run_report import OnProgress, RunReport
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import TimeStamp, prepare
from ticdc_producer.targets.kafka.topics import Topics

_NAME = "recording"
"""The name of the scenario."""
_OF_RUN = ("out", "append", "replace")


@dataclass(frozen=True, kw_only=True)
class Transcoding:
    """The result of a transcoding.

    :param recording: what was read; its folder was temporary.
    :param report: of what was written.
    """

    recording: Recording
    report: RunReport

    @property
    def ok(self) -> bool:
        """Whether what was written has no violation."""
        return self.report.ok

    def to_json(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        recording = self.recording.to_json()
        del recording["folder"]
        return {"ok": self.ok, "recording": recording, "run": self.report.to_json()}

    def lines(self) -> Iterator[str]:
        """Yield what was read, as text."""
        yield f"read {self.recording.size}"
        yield from self.recording.details()


@translate_worker_errors()
def transcode(
    *,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    messages: str | Path | None = None,
    config: ConfigSource | None = None,
    table: Sequence[str] = (),
    key: Sequence[str] = (),
    since: TimeStamp | None = None,
    until: TimeStamp | None = None,
    schema: str | Path | None = None,
    skip_damaged: bool = False,
    mask: str | Path | None = None,
    kafka_properties: Sequence[str] = (),
    to_sink_uri: str | None = None,
    to_config: ConfigSource | None = None,
    out: str | Path | None = None,
    append: bool = False,
    replace: bool = False,
    faults: FaultsOption = "recorded",
    verify_output: bool = True,
    engine: EngineOption = "auto",
    to_kafka_properties: Sequence[str] = (),
    on_status: OnStatus = ignore_status,
    on_progress: OnProgress | None = None,
) -> Transcoding:
    """Write a topic, a golden folder or a file of messages in another protocol or topology.

    The bytes are those of ``record``, and ``run`` with its result. Nothing is written before all messages
    were recorded and every event was encoded once.

    :param sink_uri: as for ``record``, as are all parameters up to ``kafka_properties``.
    :param to_sink_uri: TiCDC's sink URI of what is written, with its protocol; None: the source's, without
        brokers.
    :param to_config: a changefeed TOML, or its content as a mapping; its keys replace those of the source.
    :param out: the golden folder to write; must not exist, or be empty.
    :param append: as for ``run``, as are ``replace``, ``faults``, ``verify_output`` and ``engine``.
    :param to_kafka_properties: ``name=value`` each: properties of the Kafka clients that write.
    :param on_status: called with a line of text for each step of the work.
    :param on_progress: called every second with the progress of writing, and at its end.
    :raises ProducerError: for a source that cannot be recorded and a target that must not be written; then
        nothing was written; or if the environment fails.
    """
    given: dict[str, object] = {"sink_uri": sink_uri, "folder": folder, "messages": messages}
    given |= {"config": config, "table": table, "key": key, "to_sink_uri": to_sink_uri, "out": out}
    given |= {"append": append, "replace": replace}
    options = RunOptions(
        out=None if out is None else local_path(out),
        append=append,
        replace=replace,
        verify_output=verify_output,
        engine=engine,
        on_status=on_status,
        on_progress=on_progress,
    )
    check_options("transcode", given)
    with errors_of_target():
        sink = _check_target(given, to_sink_uri, to_config)
    source = None if sink_uri is None or messages is not None else changefeed_of(sink_uri, config)
    if source is not None and sink == BROKER:
        target = changefeed_of(to_sink_uri, to_config, kafka_properties=to_kafka_properties)
        check_apart(source, target, (target.sink_uri.topic,))
    with TemporaryDirectory(prefix="ticdc-producer-transcode-") as temporary:
        recording = record(
            out=Path(temporary) / _NAME,
            sink_uri=sink_uri,
            folder=folder,
            messages=messages,
            config=config,
            table=table,
            key=key,
            since=since,
            until=until,
            schema=schema,
            skip_damaged=skip_damaged,
            mask=mask,
            kafka_properties=kafka_properties,
            on_status=on_status,
        )
        with errors_of_target():
            job = recording_job(
                recording.folder, to_sink_uri, to_config, to_kafka_properties, recorded=faults == "recorded"
            )
        if source is not None and sink == BROKER:
            check_apart(source, job.changefeed, job.stream.topic_partitions.topics)
        return Transcoding(recording=recording, report=run_job(job, options))


@contextmanager
def errors_of_target() -> Iterator[None]:
    """Say of errors in a changefeed that it is that of the target."""
    try:
        yield
    except ChangefeedError as error:
        raise error.at("the target") from None


def _check_target(
    given: Mapping[str, object], to_sink_uri: str | None, to_config: ConfigSource | None
) -> str:
    """Check what needs no messages, because reading them may take long; return the kind of sink."""
    sink = EMBEDDED
    if to_sink_uri is not None:
        target = parse_sink_uri(to_sink_uri).target
        if target.kind is SinkKind.STORAGE:
            sink = STORAGE
        elif not target.embedded:
            sink = BROKER
    check_options("transcode", given, sink)
    check_options("run", {name: given[name] for name in _OF_RUN}, sink)
    if to_config is not None:
        changefeed_content(to_config)
    return sink


def recording_job(
    folder: Path,
    sink_uri: str | None,
    config: ConfigSource | None,
    kafka_properties: Sequence[str],
    *,
    recorded: bool,
) -> Job:
    """Prepare a recording; errors do not name its folder, which is temporary."""
    scenario = dataclasses.replace(load_scenario(folder), file="the recording")
    return prepare(
        scenario, sink_uri=sink_uri, config=config, recorded=recorded, kafka_properties=kafka_properties
    )


def check_apart(source: Changefeed, target: Changefeed, topics: Collection[str]) -> None:
    """Refuse to write the topic that is read, of which nothing would be left if writing fails.

    :param topics: those that are written.
    :raises ArgumentError: if the target writes a topic of its name into its cluster.
    :raises BrokerError: if brokers have other names, and those of one of the two do not answer.
    """
    topic = source.sink_uri.topic
    if topic not in topics:
        return
    same_names = set(source.sink_uri.hosts) & set(target.sink_uri.hosts)
    clusters = [None] if same_names else [Topics(of.brokers).cluster_id() for of in (source, target)]
    if same_names or (clusters[0] is not None and clusters[0] == clusters[1]):
        what = f"`to_sink_uri` would write {topic}, which is the topic that is read"
        error = ArgumentError(what, argument="to_sink_uri", hint="name another topic")
        raise error.about("to_sink_uri")
