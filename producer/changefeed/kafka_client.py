"""How every Kafka client of this package connects: one place for sink, source and admin."""

from __future__ import annotations

from typing import TypeAlias

from producer.changefeed.changefeed import Changefeed

Properties: TypeAlias = dict[str, str | int | float | bool]
"""Client properties as librdkafka spells them."""

CONNECT_SECONDS = 10
"""After this long without an answer a broker counts as unreachable."""

# librdkafka's own log lines would stand between the lines of a report; errors come through callbacks.
_QUIET = 0


def connection(bootstrap: str) -> Properties:
    """Properties that any client needs to reach the brokers at ``host:port[,host:port]``."""
    return {"bootstrap.servers": bootstrap, "log_level": _QUIET, "broker.address.family": "v4"}


def producer_properties(changefeed: Changefeed, bootstrap: str) -> Properties:
    """Properties of the worker's producer: all replicas, no duplicates by retry, bounded memory."""
    return {
        **connection(bootstrap),
        "acks": "all",
        "enable.idempotence": True,
        "compression.type": changefeed.compression,
        "linger.ms": 20,
        "queue.buffering.max.kbytes": 64 << 10,
        "queue.buffering.max.messages": 100_000,
        "message.max.bytes": max(1_000_000, changefeed.max_message_bytes + 1024),
        "message.timeout.ms": 60_000,
        "delivery.report.only.error": True,
    }
