"""``-X name=value``: properties that are passed to the Kafka clients unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ticdc_producer.config.environment import with_environment
from ticdc_producer.errors import ChangefeedError

_ORDER = "the order of messages and the absence of duplicates depend on it"
_OPTION = "set by an option of the changefeed"
_READING = "the tool decides which offsets are read"
_REJECTED = {
    **dict.fromkeys(
        (
            "enable.idempotence", "acks", "request.required.acks", "retries", "message.send.max.retries",
            "max.in.flight", "max.in.flight.requests.per.connection", "partitioner", "transactional.id",
            "sticky.partitioning.linger.ms", "delivery.report.only.error", "produce.offset.report",
            "batch.num.messages.per.partition", "enable.gapless.guarantee", "queuing.strategy",
        ),
        _ORDER,
    ),
    "bootstrap.servers": "the sink URI names the brokers",
    "metadata.broker.list": "the sink URI names the brokers",
    "compression.type": f"{_OPTION}: compression",
    "compression.codec": f"{_OPTION}: compression",
    "message.max.bytes": f"{_OPTION}: max-message-bytes",
    **dict.fromkeys(
        (
            "group.id", "group.instance.id", "group.protocol", "auto.offset.reset", "enable.auto.commit",
            "enable.auto.offset.store", "enable.partition.eof", "isolation.level",
        ),
        _READING,
    ),
}  # fmt: skip
_FORM = re.compile(r"([A-Za-z0-9_.-]+)=(.*)", re.DOTALL)


def parse_kafka_properties(texts: Iterable[str]) -> dict[str, str]:
    """Properties by name, as librdkafka spells them. ``${NAME}`` in a value is an environment variable.

    :param texts: ``name=value`` each.
    :raises ChangefeedError: for a text of another form, a duplicate name, and properties that our delivery
        guarantees depend on. No error repeats a value, since it may be a password.
    """
    found: dict[str, str] = {}
    for text in texts:
        form = _FORM.fullmatch(text)
        if form is None:
            raise _error("it is not of the form name=value", "", "for example -X client.id=test")
        name, value = form.groups()
        if name in found:
            raise _error(f"duplicate property {name!r}", name)
        if name in _REJECTED:
            raise _error(f"property {name!r} cannot be set by users", name, _REJECTED[name])
        found[name] = with_environment(value, "-X")
    return found


def _error(what: str, parameter: str, hint: str = "") -> ChangefeedError:
    return ChangefeedError(what, parameter=parameter, where="-X", hint=hint)
