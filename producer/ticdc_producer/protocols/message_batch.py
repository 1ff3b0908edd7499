"""Kafka records before they have a place, column by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from ticdc_producer.model.event import ClaimObject, Kind, Message
from ticdc_producer.protocols.arrow_text import Numbers
from ticdc_producer.protocols.encoded_rows import EncodedRows

Headers: TypeAlias = tuple[tuple[str, bytes], ...]

_T = TypeVar("_T")
_ROW = Kind.ROW.word
_AT_ONCE = 256
"""Messages made Python objects in one go: memory of large ones is used again before it leaves the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageBatch:
    """Messages in delivery order.

    :param key: null where the protocol has none.
    :param commit_ts: of the first event of each.
    :param events: how many each carries; none, where it describes the table of those to come.
    :param claims: what has to be stored before a message is sent, by its place.
    :param types: words of ``Kind``; None where all are row messages.
    :param headers: of the messages that have any, by their place; no TiCDC encoder gives them.
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

    def slice(self, start: int, most: int | None = None) -> MessageBatch:
        """The messages from a place on; no more than so many."""
        end = len(self) if most is None else min(start + most, len(self))
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
        """The same, so many at a time as Python objects may be made of in one go."""
        for start in range(0, len(self), _AT_ONCE):
            yield self.slice(start, _AT_ONCE)

    def keys(self) -> Iterable[bytes | None]:
        """As Python objects."""
        rows = len(self)
        return repeat(None, rows) if self.key.null_count == rows else self.key.to_pylist()

    def messages(self) -> Iterator[Message]:
        """One by one."""
        for part in self.parts():
            yield from part._messages()

    def _messages(self) -> Iterator[Message]:
        types = repeat(_ROW) if self.types is None else self.types.to_pylist()
        values, times, events = (column.to_pylist() for column in (self.value, self.commit_ts, self.events))
        columns = (self.keys(), values, types, times, events)
        if not self.claims and not self.headers:
            return map(Message, *columns)
        places = range(len(self))
        headers = (self.headers.get(place, ()) for place in places)
        return map(Message, *columns, headers, (self.claims.get(place, ()) for place in places))


def _between(by_place: Mapping[int, _T], start: int, end: int) -> dict[int, _T]:
    return {place - start: one for place, one in by_place.items() if start <= place < end}


def row_by_row(rows: EncodedRows, *, keyed: bool) -> MessageBatch:
    """Each row in a message of its own.

    :param keyed: whether messages have keys.
    :raises EncodeError: the refusal of a row that has one.
    """
    rows.check()
    claims = {place: (note.claim,) for place, note in rows.notes.items() if note.claim is not None}
    key = rows.column("key") if keyed else pa.nulls(len(rows), pa.binary())
    return MessageBatch(
        key=key,
        value=rows.column("value"),
        commit_ts=rows.column("commit_ts"),
        events=pa.repeat(1, len(rows)),
        claims=claims,
    )


def of_messages(messages: Sequence[Message]) -> MessageBatch:
    """Messages that were made one by one."""
    return MessageBatch(
        key=pa.array([message.key for message in messages], pa.binary()),
        value=pa.array([message.value for message in messages], pa.binary()),
        commit_ts=pa.array([message.commit_ts for message in messages], pa.int64()),
        events=pa.array([message.events for message in messages], pa.int64()),
        types=pa.array([message.type for message in messages], pa.string()),
        claims={place: message.claims for place, message in enumerate(messages) if message.claims},
        headers={place: message.headers for place, message in enumerate(messages) if message.headers},
    )


def woven(batch: MessageBatch, others: Sequence[Message], places: Numbers) -> MessageBatch:
    """Messages with others between them.

    :param places: before which message of the batch each of the others comes, ascending.
    """
    rows, added = len(batch), of_messages(others)
    order = pa.array(np.insert(np.arange(rows), places, np.arange(rows, rows + len(added))))

    def merged(column: pa.Array, more: pa.Array) -> pa.Array:
        return pa.concat_arrays([column, more.cast(column.type)]).take(order)

    moved = np.arange(rows) + np.searchsorted(places, np.arange(rows), side="right")
    return MessageBatch(
        key=merged(batch.key, added.key),
        value=merged(batch.value, added.value),
        commit_ts=merged(batch.commit_ts, added.commit_ts),
        events=merged(batch.events, added.events),
        claims={int(moved[place]): claims for place, claims in batch.claims.items()},
        types=merged(pa.repeat(_ROW, rows) if batch.types is None else batch.types, added.types),
    )
