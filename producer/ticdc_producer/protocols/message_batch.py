"""Messages as columns, before they have a partition and an offset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import ClaimObject, Kind, Message
from ticdc_producer.protocols.encoded_rows import EncodedRows

Headers: TypeAlias = tuple[tuple[str, bytes], ...]

_T = TypeVar("_T")
_ROW = Kind.ROW.label
_PART_SIZE = 256
"""Messages converted to Python objects at once. Small parts reuse memory that is still in the CPU cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBatch:
    """Messages in delivery order.

    :param key: binary; null if the protocol has no keys.
    :param value: binary; null for a tombstone.
    :param commit_ts: commit-ts of each message's first event (int64, TSO).
    :param events: number of events in each message (int64); 0 for a message that describes a table.
    :param claims: message index to the objects to store before the message is sent.
    :param types: labels of ``Kind``; None if all are row messages.
    :param headers: message index to headers; no TiCDC encoder sets headers.
    """

    key: pa.Array
    value: pa.Array
    commit_ts: pa.Array
    events: pa.Array
    claims: Mapping[int, tuple[ClaimObject, ...]] = field(default_factory=dict)
    types: pa.Array | None = None
    headers: Mapping[int, Headers] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.value)

    def slice(self, start: int, length: int | None = None) -> MessageBatch:
        """Return at most ``length`` messages from ``start`` on; None: all of them."""
        end = len(self) if length is None else min(start + length, len(self))
        if start == 0 and end == len(self):
            return self

        def part(column: pa.Array) -> pa.Array:
            return column.slice(start, end - start)

        return MessageBatch(
            key=part(self.key),
            value=part(self.value),
            commit_ts=part(self.commit_ts),
            events=part(self.events),
            claims=_between(self.claims, start, end),
            types=None if self.types is None else part(self.types),
            headers=_between(self.headers, start, end),
        )

    def parts(self) -> Iterator[MessageBatch]:
        """Yield the messages in parts of the size that is converted to Python objects at once."""
        for start in range(0, len(self), _PART_SIZE):
            yield self.slice(start, _PART_SIZE)

    def keys(self) -> Iterable[bytes | None]:
        """Return the keys as Python objects."""
        rows = len(self)
        return repeat(None, rows) if self.key.null_count == rows else self.key.to_pylist()

    def messages(self) -> Iterator[Message]:
        """Yield the messages as Python objects."""
        for part in self.parts():
            yield from part._messages()

    def _messages(self) -> Iterator[Message]:
        types = repeat(_ROW) if self.types is None else self.types.to_pylist()
        values, times, events = (column.to_pylist() for column in (self.value, self.commit_ts, self.events))
        columns = (self.keys(), values, types, times, events)
        if not self.claims and not self.headers:
            return map(Message, *columns)
        indices = range(len(self))
        headers = (self.headers.get(index, ()) for index in indices)
        return map(Message, *columns, headers, (self.claims.get(index, ()) for index in indices))


def _between(by_index: Mapping[int, _T], start: int, end: int) -> dict[int, _T]:
    return {index - start: item for index, item in by_index.items() if start <= index < end}


def one_message_per_row(rows: EncodedRows, *, keyed: bool) -> MessageBatch:
    """Put each row into its own message.

    :param keyed: whether messages have keys.
    :raises EncodeError: for the first row that TiCDC rejects.
    """
    rows.check()
    claims = {row: (status.claim,) for row, status in rows.statuses.items() if status.claim is not None}
    key = rows.column("key") if keyed else pa.nulls(len(rows), pa.binary())
    return MessageBatch(
        key=key,
        value=rows.column("value"),
        commit_ts=rows.column("commit_ts"),
        events=pa.repeat(1, len(rows)),
        claims=claims,
    )


def from_messages(messages: Sequence[Message]) -> MessageBatch:
    """Convert Python message objects to columns."""
    return MessageBatch(
        key=pa.array([message.key for message in messages], pa.binary()),
        value=pa.array([message.value for message in messages], pa.binary()),
        commit_ts=pa.array([message.commit_ts for message in messages], pa.int64()),
        events=pa.array([message.events for message in messages], pa.int64()),
        types=pa.array([message.type for message in messages], pa.string()),
        claims={index: message.claims for index, message in enumerate(messages) if message.claims},
        headers={index: message.headers for index, message in enumerate(messages) if message.headers},
    )


def interleave(batch: MessageBatch, others: Sequence[Message], positions: Numbers) -> MessageBatch:
    """Insert messages into a batch.

    >>> batch = from_messages([Message(None, b"a", "row", 1), Message(None, b"c", "row", 3)])
    >>> interleave(batch, [Message(None, b"b", "ddl", 2)], np.array([1])).value.to_pylist()
    [b'a', b'b', b'c']

    :param positions: for each inserted message, the index of the batch's message that it precedes; ascending.
    """
    rows, added = len(batch), from_messages(others)
    order = pa.array(np.insert(np.arange(rows), positions, np.arange(rows, rows + len(added))))

    def merged(column: pa.Array, more: pa.Array) -> pa.Array:
        return pa.concat_arrays([column, more.cast(column.type)]).take(order)

    moved = np.arange(rows) + np.searchsorted(positions, np.arange(rows), side="right")
    return MessageBatch(
        key=merged(batch.key, added.key),
        value=merged(batch.value, added.value),
        commit_ts=merged(batch.commit_ts, added.commit_ts),
        events=merged(batch.events, added.events),
        claims={int(moved[index]): claims for index, claims in batch.claims.items()},
        headers={
            **{int(moved[index]): headers for index, headers in batch.headers.items()},
            **{int(positions[index]) + index: headers for index, headers in added.headers.items()},
        },
        types=merged(pa.repeat(_ROW, rows) if batch.types is None else batch.types, added.types),
    )
