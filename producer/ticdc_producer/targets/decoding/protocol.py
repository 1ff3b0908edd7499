"""The protocol of records of which nobody said how they were written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ticdc_producer.errors import RecognitionError
from ticdc_producer.model.record import Record
from ticdc_producer.protocols.detection import EVIDENCE, recognised

_SEARCHED = 100
"""Messages that may come before the first one that tells; they are held meanwhile."""
_HINT = "--protocol says which"


def protocol_of(records: Iterator[Record]) -> tuple[str | None, Iterator[Record]]:
    """What the first message that tells it is of, and all the records again.

    :return: the protocol is None where there are no records at all.
    :raises RecognitionError: if none of the first messages tells.
    """
    seen: list[Record] = []
    for record in records:
        seen.append(record)
        if protocol := recognised(record.key, record.value):
            return protocol, chain(seen, records)
        if len(seen) == _SEARCHED:
            break
    if seen:
        raise _not_recognised(seen)
    return None, iter(())


def check_same(record: Record, protocol: str) -> None:
    """For a record that did not decode: it may be of another protocol than those before.

    :raises RecognitionError: if it is.
    """
    other = recognised(record.key, record.value)
    if other not in (None, protocol):
        what = f"this message is of {other}, what came before of {protocol}; a topic has one protocol"
        raise _placed(what, record, "--protocol reads all messages as of one, and shows the others as errors")


def _not_recognised(seen: list[Record]) -> RecognitionError:
    looked_for = "; ".join(f"{name}: {evidence.words}" for name, evidence in EVIDENCE.items())
    before = f"none of the first {len(seen)} messages is" if len(seen) > 1 else "this message is not"
    return _placed(f"{before} of a protocol that can be recognised ({looked_for})", seen[0], _HINT)


def _placed(what: str, record: Record, hint: str) -> RecognitionError:
    return RecognitionError(
        what, topic=record.topic, partition=record.partition, offset=record.offset, hint=hint
    )
