"""Follows a topic that grows: findings as they happen, lags, a checkpoint, the verdict so far at the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import monotonic, time_ns
from typing import Any

import pyarrow as pa

from ticdc_producer.config import Changefeed, ConfigSource, SinkKind
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.errors import ArgumentError, ChangefeedError
from ticdc_producer.local_path import local_path
from ticdc_producer.protocols import registry
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
from ticdc_producer.runs.verification import verdict
from ticdc_producer.runs.verify import for_topics
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.targets.kafka.follow import growing_topics
from ticdc_producer.targets.kafka.schema_registry import schemas_of_registry
from ticdc_producer.targets.record_batches import TableDescriptions, described_rows
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import event_counts
from ticdc_producer.verifier.follow.checkpoint import SourceState, checkpoint_bytes, restore
from ticdc_producer.verifier.follow.followed_stream import DEFAULT_WINDOW, FollowedStream
from ticdc_producer.verifier.options import Strictness
from ticdc_producer.verifier.verdict import Verdict

CHECKPOINT_SECONDS = 5.0
METRICS_HOST = "127.0.0.1"


@dataclass
class Follower:
    """A topic that is followed.

    Files that cannot be read or written, and those of another run, raise ``ArgumentError``.

    :param offsets: by topic and partition the offset that is read next.
    :param checkpoint: the file with the state; None: there is none.
    :param findings: a file that gets the findings as JSON lines; None: there is none.
    """

    changefeed: Changefeed
    stream: FollowedStream
    offsets: dict[tuple[str, int], int]
    on_finding: Callable[[Finding], None]
    checkpoint: Path | None = None
    findings: Path | None = None
    _written: int = 0
    _is_whole: bool = True
    _descriptions: TableDescriptions = field(init=False)

    def __post_init__(self) -> None:
        self._descriptions = TableDescriptions(self.changefeed.spec)
        source = SourceState(stream={}, offsets={})
        if self.checkpoint is not None and self.checkpoint.exists():
            with _usable(self.checkpoint, "checkpoint"):
                content = self.checkpoint.read_bytes()
            source = restore(self.stream, content, str(self.checkpoint))
            self._compare(self.checkpoint, source.stream)
            self.offsets |= source.offsets
            self._written = source.findings
            self._descriptions.add(source.descriptions)
        if self.findings is not None:
            self._cut(self.findings, source)
        self._decode = self._decoder()
        self.save()  # a file that cannot be written is refused now; and it names that of the findings

    def _compare(self, path: Path, saved: Mapping[str, object]) -> None:
        """Refuse the checkpoint of another stream, or of one that was read in another way."""
        differing = [name for name, value in self._identity().items() if saved.get(name) != value]
        if differing:
            what = f"the checkpoint is of a stream with other {' and '.join(differing)}"
            hint = "name another file, or remove it to begin anew"
            raise ArgumentError(what, argument="checkpoint", where=str(path), hint=hint).about("checkpoint")

    def _identity(self) -> dict[str, object]:
        """Return what two runs that continue each other share.

        The URI of the claim-check storage is not part of it: it may have secrets, and moves.
        """
        changefeed, options = self.changefeed, self.stream.options
        settings = (
            {**changefeed.codec_options(), "claim_check_storage_uri": ""},
            [rule.model_dump(mode="json") for rule in changefeed.dispatchers],
            (options.strict_table_order, options.from_beginning, options.resolved_gap_ms),
        )
        text = json.dumps(settings, sort_keys=True, default=repr)
        return {
            "topics or numbers of partitions": dict(options.partitions),
            "protocol": changefeed.protocol,
            "options": sha256(text.encode()).hexdigest(),
        }

    def _cut(self, path: Path, source: SourceState) -> None:
        """Remove what was written after the checkpoint: it is found again.

        :param source: of the checkpoint. A file that it does not name is not of this run, and stays as it is.
        """
        with _usable(path, "findings"), path.open("ab") as file:
            if file.tell() and source.findings_file != str(path.resolve()):
                what = "the file is not empty, and no checkpoint says that it continues"
                hint = "name a new file; or the checkpoint of the run that wrote it, as `checkpoint`"
                raise ArgumentError(what, argument="findings", where=str(path), hint=hint).about(
                    "findings", "checkpoint"
                )
            if file.tell() < self._written:
                what = "the file has less than the checkpoint says"
                hint = "name the file of the run that wrote the checkpoint"
                raise ArgumentError(what, argument="findings", where=str(path), hint=hint).about("findings")
            file.truncate(self._written)

    def add(self, messages: pa.RecordBatch) -> None:
        """Verify the next messages, and report what they violate.

        :param messages: shape ``MESSAGES``; those of a partition in the order of their offsets.
        """
        if not messages.num_rows:
            return
        self._is_whole = False
        described = len(self._descriptions.values)
        if self.changefeed.spec.described_versions is not None:
            rows = described_rows(self.changefeed.spec, messages)
            self._descriptions.add(filter(None, rows.column("value").to_pylist()))
        if len(self._descriptions.values) > described:
            self._decode = self._decoder()
        for batch in self._decode(iter([messages])):
            for finding in self.stream.add(batch):
                self._report(finding)
        names = ("topic", "partition", "offset")
        for topic, partition, offset in zip(
            *(messages.column(name).to_pylist() for name in names), strict=True
        ):
            self.offsets[topic, partition] = max(offset + 1, self.offsets.get((topic, partition), 0))
        self._is_whole = True

    def _report(self, finding: Finding) -> None:
        if self.findings is not None:
            line = f"{json.dumps(finding.to_json(), ensure_ascii=False)}\n".encode()
            with _usable(self.findings, "findings"), self.findings.open("ab") as file:
                file.write(line)
            self._written += len(line)
        self.on_finding(finding)

    def save(self) -> None:
        """Write the checkpoint; the file is always a whole one.

        After an interruption inside of a batch the last checkpoint stays: the batch is verified again.
        """
        if self.checkpoint is None or not self._is_whole:
            return
        source = SourceState(
            stream=self._identity(),
            offsets=self.offsets,
            findings=self._written,
            findings_file="" if self.findings is None else str(self.findings.resolve()),
            descriptions=self._descriptions.values,
        )
        partial = self.checkpoint.with_name(f"{self.checkpoint.name}.partial")
        with _usable(self.checkpoint, "checkpoint"):
            partial.write_bytes(checkpoint_bytes(self.stream, source))
            partial.replace(self.checkpoint)

    def verdict(self) -> Verdict:
        """Return the verdict so far."""
        counts = event_counts(self.stream.stats)
        return verdict(self.stream.options, self.stream.verdict_findings(), counts, None, {})

    def _decoder(self) -> Callable[[Any], Any]:
        options = self.changefeed.codec_options()
        if self.changefeed.spec.schemas is not None:
            options["schema_of"] = schemas_of_registry(self.changefeed)
        if self._descriptions.values:
            options["table_descriptions"] = tuple(self._descriptions.values)
        return event_decoder(self.changefeed.protocol, options, self.changefeed.claim_check_storage_uri)


@contextmanager
def _usable(path: Path, argument: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = f"the file cannot be used: {error.strerror or error}"
        hint = "name a file in a folder that exists and can be written"
        raise ArgumentError(what, argument=argument, where=str(path), hint=hint) from error


def follow(
    *,
    sink_uri: str,
    config: ConfigSource | None = None,
    checkpoint: str | Path | None = None,
    findings: str | Path | None = None,
    idle: float | None = None,
    metrics_port: int | None = None,
    metrics_host: str = METRICS_HOST,
    window: int = DEFAULT_WINDOW,
    strict_table_order: bool = False,
    from_beginning: bool = False,
    resolved_gap_ms: int | None = None,
    examples: int = 3,
    kafka_properties: Iterable[str] = (),
    on_finding: Callable[[Finding], None] = lambda _finding: None,
    on_status: OnStatus = ignore_status,
) -> Verdict:
    """Verify a topic while it grows, until Ctrl-C or silence, and return the verdict so far.

    :param sink_uri: TiCDC's sink URI of the topic.
    :param config: a changefeed TOML, or its content as a mapping.
    :param checkpoint: a file from which an interrupted verification continues; None: it begins anew.
    :param findings: a file that gets each finding once, as a JSON line, also after an interruption.
    :param idle: end after this number of seconds without a message; None: never.
    :param metrics_port: port on which Prometheus reads lags and counts; None: none.
    :param metrics_host: address of the interface with this port.
    :param window: most events that later ones are compared with.
    :param strict_table_order, from_beginning, resolved_gap_ms, examples: as for ``verify``.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients.
    :param on_finding: called with each finding.
    :param on_status: called with a line of text for each step, and every few seconds with the lags.
    """
    changefeed = changefeed_of(sink_uri, config, kafka_properties=tuple(kafka_properties))
    if changefeed.sink_uri.kind is SinkKind.STORAGE or changefeed.sink_uri.embedded:
        what = "only a topic of a broker can be followed"
        raise ChangefeedError(what, parameter="sink-uri", hint="kafka://HOST:PORT/TOPIC?protocol=…")
    brokers, topic = brokers_of(changefeed), changefeed.sink_uri.topic
    on_status(f"connecting to {brokers}")
    ranges = whole_topics(brokers, [topic])
    changefeed = for_topics(changefeed, ranges)
    strictness = Strictness(
        strict_table_order=strict_table_order,
        from_beginning=from_beginning,
        resolved_gap_ms=resolved_gap_ms,
        examples=examples,
    )
    fidelity = registry.fidelity(changefeed.protocol, changefeed.codec_options())
    follower = Follower(
        changefeed,
        FollowedStream(verify_options(changefeed, fidelity, [topic], strictness), window),
        {(part.topic, part.partition): part.start for part in ranges},
        on_finding,
        None if checkpoint is None else local_path(checkpoint),
        None if findings is None else local_path(findings),
    )
    metrics = None if metrics_port is None else metrics_server(metrics_port, metrics_host)
    on_status(f"following {topic}")
    batches = growing_topics(brokers, follower.offsets)
    try:
        _follow(follower, batches, idle, metrics, on_status)
    except KeyboardInterrupt:
        on_status("interrupted: the verdict so far")
    finally:
        with suppress(KeyboardInterrupt):
            follower.save()
    return follower.verdict()


def _follow(
    follower: Follower,
    batches: Iterable[pa.RecordBatch],
    idle: float | None,
    metrics: Metrics | None,
    on_status: OnStatus,
) -> None:
    saved = active = monotonic()
    for batch in batches:
        follower.add(batch)
        now = monotonic()
        active = now if batch.num_rows else active
        if now - saved >= CHECKPOINT_SECONDS:
            follower.save()
            saved = now
            on_status(lag_text(follower.stream.lags(time_ns() // 1_000_000)))
        if metrics is not None:
            metrics(follower)
        if idle is not None and now - active >= idle:
            return


def lag_text(lags: Mapping[tuple[str, int], int | None]) -> str:
    """Return the lags of partitions as text."""
    parts = (
        f"{topic}/{partition} {'no resolved-ts' if lag is None else f'{lag / 1000:.1f} s'}"
        for (topic, partition), lag in lags.items()
    )
    return f"lag of the resolved-ts: {', '.join(parts)}"


Metrics = Callable[[Follower], None]


def metrics_server(port: int, host: str = METRICS_HOST) -> Metrics:
    """Serve metrics to Prometheus on a port, and return the function that updates them.

    :raises ArgumentError: if the port cannot be used.
    """
    from prometheus_client import CollectorRegistry, Gauge, start_http_server

    own = CollectorRegistry()
    where = ("topic", "partition")
    lag = Gauge("ticdc_resolved_ts_lag_seconds", "Age of the newest resolved-ts.", where, registry=own)
    read = Gauge("ticdc_next_offset", "The offset that is read next.", where, registry=own)
    events = Gauge("ticdc_events", "Events by kind.", ("kind",), registry=own)
    violations = Gauge(
        "ticdc_violations", "Violations by invariant.", ("invariant", "severity"), registry=own
    )
    held = Gauge("ticdc_window_events", "Events that are held for later comparisons.", registry=own)
    try:
        start_http_server(port, addr=host, registry=own)
    except (OSError, OverflowError) as error:
        what = f"`metrics_port` cannot be used: {getattr(error, 'strerror', None) or error}"
        hint = "give a free port, and an address of this machine"
        raise ArgumentError(what, argument="metrics_port", where=f"{host}:{port}", hint=hint).about(
            "metrics_port"
        ) from error

    def update(follower: Follower) -> None:
        stream = follower.stream
        for (topic, partition), age in stream.lags(time_ns() // 1_000_000).items():
            if age is not None:
                lag.labels(topic, str(partition)).set(age / 1000)
        for (topic, partition), offset in follower.offsets.items():
            read.labels(topic, str(partition)).set(offset)
        for kind, count in event_counts(stream.stats).items():
            events.labels(kind).set(count)
        for (invariant, severity), count in stream.counts.items():
            violations.labels(invariant, severity).set(count)
        held.set(0 if stream.events is None else len(stream.events))

    return update
