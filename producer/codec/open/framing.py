"""The frame of an Open Protocol message, and how rows share one.

``key := version { length key-json }``, ``value := { length value-json }``; lengths and version are 8
bytes, big-endian. Source: tiflow ``open_protocol_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

from producer.codec.base import EncodedRow
from producer.codec.large_message import RECORD_OVERHEAD
from producer.codec.open.options import OpenOptions
from producer.model.event import ClaimObject, Kind, Message

LENGTH = Struct(">Q")
VERSION = LENGTH.pack(1)

_PAIR_OF_LENGTHS = 2 * LENGTH.size


def framed(key: bytes, value: bytes, kind: Kind, commit_ts: int) -> Message:
    """A message of one event."""
    return Message(VERSION + _block(key), _block(value), kind.word, commit_ts)


def _block(json: bytes) -> bytes:
    return LENGTH.pack(len(json)) + json


def batched(rows: Iterable[EncodedRow], options: OpenOptions) -> Iterator[Message]:
    """Messages of consecutive rows: as many of one group as the two limits allow.

    :raises EncodeError: the refusal of a row that has one.
    """
    by_partition = options.batch_by == "partition"
    keys: list[bytes] = []
    values: list[bytes] = []
    claims: list[ClaimObject] = []
    group: object = None
    commit_ts = length = 0
    for row in rows:
        if row.refusal is not None:
            raise row.refusal
        size = _PAIR_OF_LENGTHS + len(row.key) + len(row.value)
        joins = by_partition or row.group == group
        full = len(keys) >= options.max_batch_size or length + size > options.max_message_bytes
        if keys and (full or not joins):
            yield _message(keys, values, claims, commit_ts)
            keys, values, claims = [], [], []
        if not keys:
            group, commit_ts, length = row.group, row.commit_ts, len(VERSION) + RECORD_OVERHEAD
        keys.append(_block(row.key))
        values.append(_block(row.value))
        length += size
        if row.claim is not None:
            claims.append(row.claim)
    if keys:
        yield _message(keys, values, claims, commit_ts)


def _message(keys: list[bytes], values: list[bytes], claims: list[ClaimObject], commit_ts: int) -> Message:
    key, value = VERSION + b"".join(keys), b"".join(values)
    return Message(key, value, Kind.ROW.word, commit_ts, len(keys), claims=tuple(claims))


def single_length(key: bytes, value: bytes) -> int:
    """Size of a message of this one event, as TiCDC counts it against ``max-message-bytes``."""
    return len(VERSION) + RECORD_OVERHEAD + _PAIR_OF_LENGTHS + len(key) + len(value)
