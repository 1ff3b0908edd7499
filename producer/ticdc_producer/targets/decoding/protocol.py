"""Detects the protocol of records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ticdc_producer.errors import RecognitionError
from ticdc_producer.model.event import Record
from ticdc_producer.protocols.registry import detect_protocol, signatures

_SEARCHED = 100
"""Messages to search for the first one with a detectable protocol; they are buffered."""
_HINT = "set --protocol"


def protocol_of(records: Iterator[Record]) -> tuple[str | None, Iterator[Record]]:
    """Detect the protocol of records.

    :return: the protocol, None if there are no records, and all the records.
    :raises RecognitionError: if it cannot be detected from the first messages.
    """
    seen: list[Record] = []
    for record in records:
        seen.append(record)
        if protocol := detect_protocol(record.key, record.value):
            return protocol, chain(seen, records)
        if len(seen) == _SEARCHED:
            break
    if seen:
        raise _not_recognised(seen)
    return None, iter(())


def check_same(record: Record, protocol: str) -> None:
    """Check a record that did not decode.

    :raises RecognitionError: if it belongs to another protocol than the records before.
    """
    other = detect_protocol(record.key, record.value)
    if other not in (None, protocol):
        what = f"this message is of {other}, the messages before are of {protocol}; a topic has one protocol"
        raise _error(
            what,
            record,
            "with --protocol, all messages are decoded with one protocol, and the others are errors",
        )


def _not_recognised(seen: list[Record]) -> RecognitionError:
    looked_for = "; ".join(f"{name}: {signature.description}" for name, signature in signatures())
    before = f"none of the first {len(seen)} messages is" if len(seen) > 1 else "this message is not"
    return _error(f"{before} of a detectable protocol ({looked_for})", seen[0], _HINT)


def _error(what: str, record: Record, hint: str) -> RecognitionError:
    return RecognitionError(
        what, topic=record.topic, partition=record.partition, offset=record.offset, hint=hint
    )
