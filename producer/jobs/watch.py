"""Watching a run from the driver: what the topics hold says how far it got, and nothing grows with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TypeAlias

from producer.changefeed.kafka_client import Brokers
from producer.codec import registry
from producer.codec.base import Decoder
from producer.errors import ProducerError
from producer.jobs.kafka_job import KafkaTarget
from producer.jobs.prepare import codec_options
from producer.sink.topics import Offsets, Topics
from producer.source.event_rows import event_rows
from producer.source.kafka import Range, read

SECONDS = 1.0
"""Between two looks."""


@dataclass(frozen=True)
class Advance:
    """How far a run got.

    :param total: messages of the whole run; None where it is not counted before it is written.
    :param ts: TSO up to which every partition is written; 0 while one of them is empty, and where the
        protocol does not tell.
    """

    messages: int
    total: int | None
    ts: int = 0


Watcher: TypeAlias = Callable[[Advance], None]


@contextmanager
def watched(target: KafkaTarget, total: int | None, watcher: Watcher | None) -> Iterator[None]:
    """Tell somebody how far the writing inside of the block got.

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


def advance(target: KafkaTarget, total: int | None) -> Advance:
    """One look at the topics.

    :raises BrokerError: if the broker does not answer.
    """
    counts = dict.fromkeys((topic for topic, _ in target.starts), target.changefeed.partition_num)
    ends = Topics(target.brokers).ends(counts)
    written = sum(end - target.starts[place] for place, end in ends.items())
    return Advance(written, total, _written_up_to(target, ends))


def _written_up_to(target: KafkaTarget, ends: Offsets) -> int:
    if any(end == target.starts[place] for place, end in ends.items()):
        return 0
    options = codec_options(target.changefeed)
    decoder = registry.decoder(target.changefeed.protocol, options)
    return min(
        _commit_ts(target.brokers, Range(topic=topic, partition=n, start=end - 1, end=end), decoder)
        for (topic, n), end in ends.items()
    )


def _commit_ts(brokers: Brokers, message: Range, decoder: Decoder) -> int:
    """Commit-ts of the last event of one message; 0 where it has none."""
    rows = [row for record in read(brokers, message) for row in event_rows(asdict(record), decoder)]
    return int(rows[-1].get("commit_ts") or 0) if rows else 0
