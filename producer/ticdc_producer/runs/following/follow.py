"""Follows a topic that grows: findings as they happen, lags, a checkpoint, the verdict so far at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, time_ns

from ticdc_producer.config import ConfigSource
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.errors import ArgumentError
from ticdc_producer.local_path import local_path
from ticdc_producer.protocols import registry
from ticdc_producer.runs.following.follower import Follower
from ticdc_producer.runs.following.growing_messages import check_followable, engine_choice, growing_messages
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
from ticdc_producer.runs.verify import for_topics
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import event_counts
from ticdc_producer.verifier.follow.followed_stream import FollowedStream
from ticdc_producer.verifier.options import Strictness
from ticdc_producer.verifier.verdict import Verdict

CHECKPOINT_SECONDS = 5.0
_WINDOWS = 10
"""A micro-batch of Spark has at most as many messages as this number of windows has events."""
METRICS_HOST = "127.0.0.1"


def follow(
    *,
    sink_uri: str,
    config: ConfigSource | None = None,
    checkpoint: str | Path | None = None,
    findings: str | Path | None = None,
    idle: float | None = None,
    metrics_port: int | None = None,
    metrics_host: str = METRICS_HOST,
    window: int = 20_000,
    strict_table_order: bool = False,
    from_beginning: bool = False,
    resolved_gap_ms: int | None = None,
    examples: int = 3,
    kafka_properties: Sequence[str] = (),
    engine: EngineOption = "auto",
    on_finding: Callable[[Finding], None] = lambda _finding: None,
    on_status: OnStatus = ignore_status,
) -> Verdict:
    """Verify a topic while it grows, until Ctrl-C or silence, and return the verdict so far.

    :param sink_uri: TiCDC's sink URI of the topic.
    :param config: a changefeed TOML, or its content as a mapping.
    :param checkpoint: a file from which an interrupted verification continues; None: it starts over.
    :param findings: a file that gets each finding once, as a JSON line, also after an interruption.
    :param idle: end after this number of seconds without a message; None: never.
    :param metrics_port: port on which Prometheus reads lags and counts; None: none.
    :param metrics_host: address of the interface with this port.
    :param window: most events that later ones are compared with.
    :param strict_table_order, from_beginning, resolved_gap_ms, examples: as for ``verify``.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients.
    :param engine: ``spark``: messages are read and decoded in the tasks of a streaming query; ``local`` and
        ``auto``: in this process.
    :param on_finding: called with each finding.
    :param on_status: called with a line of text for each step, and every few seconds with the lags.
    """
    given: dict[str, object] = {"follow": True, "sink_uri": sink_uri, "config": config, "engine": engine}
    given |= {"checkpoint": checkpoint, "findings": findings, "idle": idle}
    given |= {"metrics_port": metrics_port, "metrics_host": metrics_host}
    given |= {"strict_table_order": strict_table_order, "from_beginning": from_beginning}
    given |= {"resolved_gap_ms": resolved_gap_ms, "examples": examples}
    check_options("verify", {**given, "kafka_properties": kafka_properties})
    properties = tuple(kafka_properties)
    choice = engine_choice(engine)
    changefeed = changefeed_of(sink_uri, config, kafka_properties=properties)
    check_followable(changefeed)
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
    batches = growing_messages(
        choice.name, changefeed, sink_uri, properties, follower.offsets, _WINDOWS * window
    )
    try:
        with closing(batches), translate_worker_errors():
            _follow(follower, batches, idle, metrics, on_status)
    except KeyboardInterrupt:
        on_status("interrupted: the verdict so far")
    finally:
        with suppress(KeyboardInterrupt):
            follower.save()
    return replace(follower.verdict(), engine=choice)


def _follow(
    follower: Follower,
    batches: Iterable[Dataset | None],
    idle: float | None,
    metrics: Metrics | None,
    on_status: OnStatus,
) -> None:
    saved = active = monotonic()
    for messages in batches:
        if messages is not None:
            follower.add(messages)
        now = monotonic()
        active = active if messages is None else now
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
        for (invariant, severity), count in stream.violations.counts.items():
            violations.labels(invariant, severity).set(count)
        held.set(0 if stream.events is None else len(stream.events))

    return update
