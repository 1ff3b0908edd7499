"""The frame of an Open Protocol message, and how rows share one.

``key := version { length key-json }``, ``value := { length value-json }``; lengths and version are 8
bytes, big-endian. Source: tiflow ``open_protocol_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from ticdc_producer.model.event import Kind, Message
from ticdc_producer.protocols.arrow_text import Numbers, concat, fixed_width, lengths, merge_runs
from ticdc_producer.protocols.batching import Limits, batched
from ticdc_producer.protocols.encoded_rows import EncodedRows
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.open_protocol.layout import LENGTH, VERSION
from ticdc_producer.protocols.open_protocol.options import OpenOptions

_PAIR_OF_LENGTHS = 2 * LENGTH.size
_HEAD = len(VERSION) + RECORD_OVERHEAD


def framed(key: bytes, value: bytes, kind: Kind, commit_ts: int) -> Message:
    """A message of one event."""
    return Message(VERSION + _block(key), _block(value), kind.label, commit_ts)


def _block(json: bytes) -> bytes:
    return LENGTH.pack(len(json)) + json


def messages(rows: Iterable[EncodedRows], options: OpenOptions) -> Iterator[MessageBatch]:
    """Messages of consecutive rows: as many rows of one batch key as the two limits allow.

    :raises EncodeError: for the first row that TiCDC rejects.
    """
    limits = Limits(rows=options.max_batch_size, size=options.max_message_bytes - _HEAD)
    for batch in batched(rows, _sizes, limits, by_batch_key=options.batch_by != "partition"):
        keys, values = (_blocks(batch.rows.column(name)) for name in ("key", "value"))
        starts = batch.starts
        yield MessageBatch(
            key=concat((VERSION, merge_runs(keys, starts)), len(starts)),
            value=merge_runs(values, starts),
            commit_ts=batch.first("commit_ts"),
            events=pa.array(batch.counts),
            claims=batch.claims,
        )


def _blocks(texts: pa.Array) -> pa.Array:
    prefixes = fixed_width(lengths(texts).astype(">u8").tobytes(), LENGTH.size)
    return concat((prefixes, texts), len(texts))


def _sizes(rows: EncodedRows) -> Numbers:
    """Bytes that each row adds to a message."""
    return lengths(rows.column("key")) + lengths(rows.column("value")) + _PAIR_OF_LENGTHS


def single_lengths(rows: EncodedRows) -> Numbers:
    """Bytes of messages of one event each, as TiCDC counts them against ``max-message-bytes``."""
    return _sizes(rows) + _HEAD
