"""Progress of a run, measured by the driver from the end offsets of the topics; memory use is constant."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TypeAlias

from ticdc_producer.errors import ProducerError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.runs.progress import OnProgress, Progress
from ticdc_producer.runs.run_topics import RunTopics
from ticdc_producer.targets.decoding.event_rows import event_rows
from ticdc_producer.targets.kafka.read import OffsetRange, read
from ticdc_producer.targets.kafka.topics import Offsets, Topics

INTERVAL_S = 1.0
"""Seconds between two measurements."""

Span: TypeAlias = tuple[int, int]
"""TSOs of the first and the last commit of a run."""


@contextmanager
def report_progress(target: RunTopics, total: int | Span, on_progress: OnProgress | None) -> Iterator[None]:
    """Report the progress of writing while the block runs, and at its end.

    :param total: number of messages of the run, or the time stamps between which they are.
    :param on_progress: called from a separate thread, the last time from this one; None: no reports.
    """
    if on_progress is None:
        yield
        return
    done = threading.Event()

    def report() -> None:
        with suppress(ProducerError):  # a failed measurement does not stop the run
            on_progress(current_progress(target, total))

    def poll() -> None:
        while not done.wait(INTERVAL_S):
            report()

    thread = threading.Thread(target=poll, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    report()


def current_progress(target: RunTopics, total: int | Span) -> Progress:
    """Measure the progress once.

    :param total: as for ``report_progress``.
    :raises BrokerError: if the broker does not answer.
    """
    counts = dict.fromkeys((topic for topic, _ in target.starts), target.changefeed.partition_num)
    ends = Topics(target.brokers).ends(counts)
    written = sum(end - target.starts[partition] for partition, end in ends.items())
    written_ts = _written_ts(target, ends)
    return Progress(
        written,
        total if isinstance(total, int) else _extrapolate(written, written_ts, total),
        min(written_ts),
    )


def _written_ts(target: RunTopics, ends: Offsets) -> list[int]:
    """TSO up to which each partition is written, 0 for an empty one."""
    options = target.changefeed.codec_options()
    decoder = registry.decoder(target.changefeed.protocol, options)
    return [
        0
        if end == target.starts[topic, n]
        else _commit_ts(
            target.brokers, OffsetRange(topic=topic, partition=n, start=end - 1, end=end), decoder
        )
        for (topic, n), end in ends.items()
    ]


def _extrapolate(written: int, written_ts: Sequence[int], span: Span) -> int | None:
    """Total number of messages, extrapolated from the written share of the time span; None at its start."""
    first_ts, last_ts = span
    fractions = [min(max(ts - first_ts, 0) / max(last_ts - first_ts, 1), 1.0) for ts in written_ts]
    fraction = sum(fractions) / len(fractions)
    return round(written / fraction) if fraction else None


def _commit_ts(brokers: Brokers, message: OffsetRange, decoder: Decoder) -> int:
    """Commit-ts of the last event of one message; 0 if it has none."""
    rows = [row for record in read(brokers, message) for row in event_rows(asdict(record), decoder)]
    return int(rows[-1].get("commit_ts") or 0) if rows else 0
