"""Watching a run from the driver: what the topics hold says how far it got, and nothing grows with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TypeAlias

from ticdc_producer.errors import ProducerError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.runs.kafka_target import KafkaTarget
from ticdc_producer.runs.prepare import codec_options
from ticdc_producer.targets.decoding.event_rows import event_rows
from ticdc_producer.targets.kafka.read import Range, read
from ticdc_producer.targets.kafka.topics import Offsets, Topics

SECONDS = 1.0
"""Between two looks."""


@dataclass(frozen=True)
class Advance:
    """How far a run got.

    :param total: messages of the whole run; where they are not counted before they are written about so many
        as partitions will hold that go on as they began, or None while there is nothing to tell it from.
    :param ts: TSO up to which every partition is written; 0 while one of them is empty, and where the
        protocol does not tell.
    """

    messages: int
    total: int | None
    ts: int = 0


Watcher: TypeAlias = Callable[[Advance], None]
Span: TypeAlias = tuple[int, int]
"""TSO of the first commit of a run, and of its last."""


@contextmanager
def watched(target: KafkaTarget, total: int | Span, watcher: Watcher | None) -> Iterator[None]:
    """Tell somebody how far the writing inside of the block got.

    :param total: how many messages there will be, or between which time stamps.
    :param watcher: called by a thread of its own; None: nobody asks.
    """
    if watcher is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(SECONDS):
            with suppress(ProducerError):  # who only watches does not stop a run
                watcher(advance(target, total))

    thread = threading.Thread(target=look, name="watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def advance(target: KafkaTarget, total: int | Span) -> Advance:
    """One look at the topics.

    :param total: as in ``watched``.
    :raises BrokerError: if the broker does not answer.
    """
    counts = dict.fromkeys((topic for topic, _ in target.starts), target.changefeed.partition_num)
    ends = Topics(target.brokers).ends(counts)
    written = sum(end - target.starts[place] for place, end in ends.items())
    reached = _reached(target, ends)
    return Advance(
        written, total if isinstance(total, int) else _about(written, reached, total), min(reached)
    )


def _reached(target: KafkaTarget, ends: Offsets) -> list[int]:
    """Up to which TSO each partition is written, 0 for nothing."""
    options = codec_options(target.changefeed)
    decoder = registry.decoder(target.changefeed.protocol, options)
    return [
        0
        if end == target.starts[topic, n]
        else _commit_ts(target.brokers, Range(topic=topic, partition=n, start=end - 1, end=end), decoder)
        for (topic, n), end in ends.items()
    ]


def _about(written: int, reached: Sequence[int], span: Span) -> int | None:
    """How many messages there will be, if the rest of the time has as many as what is written."""
    first, last = span
    shares = [min(max(ts - first, 0) / max(last - first, 1), 1.0) for ts in reached]
    share = sum(shares) / len(shares)
    return round(written / share) if share else None


def _commit_ts(brokers: Brokers, message: Range, decoder: Decoder) -> int:
    """Commit-ts of the last event of one message; 0 where it has none."""
    rows = [row for record in read(brokers, message) for row in event_rows(asdict(record), decoder)]
    return int(rows[-1].get("commit_ts") or 0) if rows else 0
